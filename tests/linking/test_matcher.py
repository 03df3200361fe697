"""Names of the vocabulary as mentions."""

import pytest
import spacy
from spacy.tokens import Span
from support.tiny_linker import blocks

from spacy_angel.linking.matcher import MatcherSettings
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept

TEXT = "Snark fever after a heart attack was treated with aspirin."


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory):
    path = tmp_path_factory.mktemp("vocabulary") / "kb"
    ConceptKB.build(
        [
            Concept("A:1", "Heart Attack", ("myocardial infarction",), ("T047",)),
            Concept("A:2", "Aspirin", (), ("T121",)),
            Concept(
                "A:3",
                "Fever",
                ("drug fever", "drug fever in children", "fever formation"),
                ("T184",),
            ),
            Concept("A:4", "Fever type 2", ("fever B", "fever 3"), ("T184",)),
        ],
        path,
    )
    return str(path)


@pytest.fixture
def make(vocabulary):
    """RETURNS (Callable): recogniser of fever, matcher, and a linker that does not run; settings of
    the matcher, and `linker` for the linker's."""

    def made(linker=None, **settings):
        nlp = spacy.blank("en")
        ruler = nlp.add_pipe("entity_ruler")
        ruler.add_patterns([{"label": "DISEASE", "pattern": [{"LOWER": "fever"}]}])
        nlp.add_pipe("angel_linker", config=blocks(vocabulary=vocabulary, **(linker or {})))
        nlp.add_pipe("angel_matcher", before="angel_linker", config=settings)
        nlp.disable_pipe("angel_linker")
        return nlp

    return made


def mentions(doc):
    return [(ent.text, ent.label_) for ent in doc.ents]


def test_own_names_are_found_as_soon_as_they_are_added(make):
    nlp = make()
    assert mentions(nlp(TEXT)) == [("fever", "DISEASE")]
    kb = nlp.get_pipe("angel_linker").kb
    kb.add(Concept("MY:1", "Snark fever", types=("Disease",)))
    assert mentions(nlp(TEXT)) == [("Snark fever", "DISEASE")]
    kb.remove("MY:1")
    assert mentions(nlp(TEXT)) == [("fever", "DISEASE")]


def test_all_names_of_the_vocabulary_if_wished(make):
    assert mentions(make(names="all")(TEXT)) == [
        ("fever", "DISEASE"),
        ("heart attack", "DISEASE"),
        ("aspirin", "CHEMICAL"),
    ]


def test_only_a_longer_name_replaces_a_mention(make):
    nlp = make(names="all", label="X")
    nlp.get_pipe("angel_linker").kb.add(Concept("MY:1", "Snark fever"))
    expected = [("Snark fever", "X"), ("fever", "DISEASE"), ("Fever", "DISEASE")]
    assert mentions(nlp("Snark fever, fever. Fever")) == expected


def test_the_linkers_span_group_gets_the_names(make):
    nlp = make(names="all", linker={"span_key": "found"})
    doc = nlp.make_doc(TEXT)
    doc.spans["found"] = [Span(doc, 1, 2, label="MINE")]
    doc = nlp.get_pipe("angel_matcher")(doc)
    assert [(s.text, s.label_) for s in doc.spans["found"]] == [
        ("fever", "MINE"),
        ("heart attack", "DISEASE"),
        ("aspirin", "CHEMICAL"),
    ]
    assert not doc.ents
    # as from a recogniser that found nothing
    assert list(nlp("Nothing here.").spans["found"]) == []


def test_it_saves_and_streams_as_it_is(make, tmp_path):
    nlp = make(names="all")
    nlp.get_pipe("angel_linker").kb.add(Concept("MY:1", "Boojum"))
    texts = [TEXT, "A boojum.", "Nothing."] * 4
    expected = [mentions(nlp(text)) for text in texts]
    assert ("boojum", "CONCEPT") in expected[1]
    assert [mentions(doc) for doc in nlp.pipe(texts, batch_size=3)] == expected
    assert [mentions(doc) for doc in nlp.pipe(texts, n_process=2, batch_size=3)] == expected
    nlp.to_disk(tmp_path / "pipeline", exclude=["angel_linker"])
    again = spacy.load(tmp_path / "pipeline", exclude=["angel_linker"])
    again.add_pipe("angel_linker")
    again.get_pipe("angel_linker").kb = ConceptKB.from_bytes(
        nlp.get_pipe("angel_linker").kb.to_bytes()
    )
    again.disable_pipe("angel_linker")
    assert again.get_pipe("angel_matcher").settings == MatcherSettings(names="all")
    assert [mentions(doc) for doc in again.pipe(texts)] == expected


def test_misspelled_names_are_mentions(make):
    text = "Bad fever, then fevver and asprin; asprine, Asprin, aspirin-like, heartattack."
    nlp = make(names="none", misspelled=True)
    assert mentions(nlp(text)) == [("fever", "DISEASE"), ("asprin", "CHEMICAL")]
    # Names themselves are not looked for, and what is a mention stays as it is.
    assert mentions(nlp("Aspirin and fever.")) == [("fever", "DISEASE")]
    assert mentions(make(misspelled=True, label="X")("He took aspirn.")) == [("aspirn", "X")]
    assert mentions(make()(text)) == [("fever", "DISEASE")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He had drug fever in children.", "drug fever in children"),
        # Not across a bracket, a comma, or markup.
        ("Drug (fever in children)", "fever"),
        ("Drug fever, in children.", "Drug fever"),
        ("He had drug, fever in children.", "fever"),
        ("Drug * fever", "fever"),
        ("Drug\n\nfever in children.", "fever"),
        # Across a line end, a tab, or emphasis.
        ("Drug\nfever\tin children.", "Drug\nfever\tin children"),
        ("Drug **fever** in children.", "Drug **fever** in children"),
        # Inverted names.
        ("It is fever, type 2; see below.", "fever, type 2"),
        ("It is fever, type 2 diabetes.", "fever"),
        # Words behind a name must change the concept.
        ("It is fever type 2.", "fever type 2"),
        ("It is fever rise.", "fever"),
        ("It is fever type IV.", "fever"),
    ],
)
def test_a_mention_grows_to_the_name_around_it(make, text, expected):
    nlp = make(names="none")
    doc = nlp.make_doc(text)
    doc = nlp.get_pipe("entity_ruler")(doc)
    doc.ents[0]._.mention_probability = 0.7
    doc = nlp.get_pipe("angel_matcher")(doc)
    assert mentions(doc) == [(expected, "DISEASE")]
    assert doc.ents[0]._.mention_probability == 0.7


@pytest.mark.parametrize(
    ("text", "possible", "expected"),
    [
        # The name of a disease with two words, and the brand name of a drug.
        ("A heart attack.", (1, 3, "DISEASE", 0.2), [("heart attack", "DISEASE")]),
        ("A heart attack.", (1, 2, "DISEASE", 0.2), []),
        ("He took Boojumib.", (2, 3, "CHEMICAL", 0.2), [("Boojumib", "CHEMICAL")]),
        ("He took boojumib.", (2, 3, "CHEMICAL", 0.2), []),
        ("He took Aspirin.", (2, 3, "CHEMICAL", 0.2), []),
        # A chemical grows within a possible mention, a type is always part of its name.
        ("On boojumib acid.", (1, 3, "CHEMICAL", 0.2), [("boojumib acid", "CHEMICAL")]),
        ("On boojumib acid.", (1, 2, "CHEMICAL", 0.2), [("boojumib", "CHEMICAL")]),
        ("On boojumib II.", (1, 2, "CHEMICAL", 0.2), [("boojumib II", "CHEMICAL")]),
        # Or a word that makes it the name of something else.
        (
            "On boojumib B1 blockers.",
            (1, 2, "CHEMICAL", 0.2),
            [("boojumib B1 blockers", "CHEMICAL")],
        ),
    ],
)
def test_names_that_the_recognizer_finds_possible(make, text, possible, expected):
    nlp = make(names="none")
    kb = nlp.get_pipe("angel_linker").kb
    kb.add(
        Concept(
            "MY:1",
            "Boojumib",
            ("Boojumib acid", "Boojumib II", "Boojumib B1", "Boojumib B1 blockers"),
            types=("T121",),
        )
    )
    doc = nlp.make_doc(text)
    doc._.possible_mentions = [possible]
    if text.startswith("On"):
        doc.ents = [Span(doc, 1, 2, label="CHEMICAL")]
    doc = nlp.get_pipe("angel_matcher")(doc)
    assert mentions(doc) == expected
    probability = None if text.startswith("On") else 0.2
    assert all(ent._.mention_probability == probability for ent in doc.ents)


def test_a_possible_name_replaces_its_parts_with_other_labels(make):
    nlp = make(names="none")
    nlp.get_pipe("angel_linker").kb.add(Concept("MY:2", "Boojumib fever", types=("T047",)))
    doc = nlp.make_doc("Boojumib fever.")
    doc._.possible_mentions = [(0, 2, "DISEASE", 0.2)]
    doc.ents = [Span(doc, 0, 1, label="CHEMICAL")]
    assert mentions(nlp.get_pipe("angel_matcher")(doc)) == [("Boojumib fever", "DISEASE")]
