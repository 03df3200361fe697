"""`nlp.add_pipe("angel_linker")` links as the shipped pipeline does."""

import pytest
import spacy
from spacy import Language
from spacy.tokens import Doc, Span
from support.helpers import shared_data

import spacy_angel
from spacy_angel.about import shipped_folder
from spacy_angel.corpora.biomedical_tokens import add_biomedical_tokens
from spacy_angel.corpora.docs import GOLD_SPANS, to_doc
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.linking.linker import AngelLinker
from spacy_angel.linking.settings.linker_settings import LinkerSettings
from spacy_angel.linking.settings.presets import PUBLISHED

UNKNOWN = (
    ("He took Snarkolin for boojum fever.", ("Snarkolin", "CHEMICAL"), ("boojum fever", "DISEASE")),
    ("Lockjaw was seen, no snarkitis.", ("Lockjaw", "DISEASE"), ("snarkitis", "DISEASE")),
)


@pytest.fixture(scope="module")
def shipped() -> Language:
    return spacy_angel.load()


@pytest.fixture(scope="module")
def own() -> Language:
    nlp = spacy.blank("en")
    # As the shipped one: a mention has whole tokens.
    add_biomedical_tokens(nlp)
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("angel_abbreviations", config={"make_serializable": True})
    nlp.add_pipe("angel_linker")
    return nlp


def with_mentions(nlp: Language, text: str, *mentions: tuple[str, str]) -> Doc:
    doc = nlp.make_doc(text)
    spans = [
        doc.char_span(text.index(words), text.index(words) + len(words), label=label)
        for words, label in mentions
    ]
    doc.ents = [span for span in spans if span is not None]
    return doc


def test_on_the_same_mentions_the_same_links(own: Language, shipped: Language) -> None:
    n = 20
    corpus = shared_data("bc5cdr/CDR_DevelopmentSet.PubTator.txt")
    documents = [d for d, _ in zip(read_corpus(corpus, strict=False), range(n), strict=False)]
    links = []
    for nlp in (own, shipped):
        kept = ["sentencizer", "angel_abbreviations", "angel_linker"]
        linker = nlp.get_pipe("angel_linker")
        assert isinstance(linker, AngelLinker)
        with nlp.select_pipes(enable=kept), linker.using(candidates={"span_key": GOLD_SPANS}):
            texts = (to_doc(document, nlp) for document in documents)
            # Equal batches: sums in another order have another last place.
            docs = nlp.pipe(texts, batch_size=64)
            links.append([[s._.kb_ents for s in doc.spans[GOLD_SPANS]] for doc in docs])
    assert links[0] == links[1]
    assert sum(map(len, links[0])) > 10 * n


def test_the_shipped_pipelines_have_the_defaults(own: Language, shipped: Language) -> None:
    settings = own.get_pipe("angel_linker").settings
    assert settings == shipped.get_pipe("angel_linker").settings
    plain, bio = settings.to_dict(), shipped_folder("en_angel_bio") / "config.cfg"
    block = spacy.util.load_config(bio)["components"]["angel_linker"]
    plain["decision"]["drop_unlinked_below"] = 0.6
    plain["candidates"]["types_by_label"] = block["candidates"]["types_by_label"]
    assert {name: block[name] for name in plain} == plain


def test_the_method_as_published_is_one_word() -> None:
    linker = spacy_angel.load(preset="published").get_pipe("angel_linker")
    assert linker.settings == LinkerSettings.from_dict(PUBLISHED)
    doc = Doc(linker.vocab, ["He", "took", "Snarkolin", "."])
    doc.ents = [Span(doc, 2, 3, label="CHEMICAL")]
    assert linker(doc).ents[0].kb_id_.startswith("MESH:")


def test_labels_are_limited_to_the_types_of_a_shipped_vocabulary(vocabulary: str) -> None:
    nlp = spacy.blank("en")
    linker = nlp.add_pipe("angel_linker", config={"vocabulary": vocabulary})
    assert linker.settings.candidates.types_by_label == {}
    loaded = spacy_angel.load(kb=vocabulary).get_pipe("angel_linker").settings
    assert loaded == linker.settings
    nlp = spacy.blank("en")
    linker = nlp.add_pipe("angel_linker", config={"vocabulary": "en_angel_bio"})
    assert linker.settings.candidates.types_by_label["GENE"] == ("Gene",)
