"""Documents through a pipeline: their mentions, their links, and failures."""

import pytest
from spacy.language import Language

from spacy_angel.annotation.document_linker import DocumentLinker, LinkingSettings
from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.errors import AngelError
from spacy_angel.pipelines.load import open_pipeline


@pytest.fixture(scope="module")
def document_linker(pipeline):
    return DocumentLinker(*open_pipeline(pipeline), LinkingSettings(candidates=True))


def link(linker, *documents):
    return list(linker.link(documents))


def texts(row):
    return [mention["text"] for mention in row["mentions"]]


def test_mentions_are_found_and_linked(document_linker):
    document = CorpusDocument("1", "the patient had heart attack. aspirin")
    (result,) = link(document_linker, document)
    attack, aspirin = result["mentions"]
    assert (attack["start"], attack["end"], attack["text"]) == (16, 28, "heart attack")
    assert (attack["concept_id"], attack["name"]) == ("MESH:D009203", "Myocardial Infarction")
    assert attack["share"] == round(attack["share"], 4)
    best = {"concept_id": "MESH:D009203", "name": "heart attack", "share": attack["share"]}
    assert attack["candidates"][0] == {**best, "probability": None}
    assert aspirin["concept_id"] == "MESH:D001241"


def test_candidates_are_kept_where_the_threshold_leaves_no_link(pipeline, document_linker):
    nlp, linker = open_pipeline(pipeline)
    linker.settings.decision.threshold = 1.0
    document = CorpusDocument("1", "the patient had heart attack.")
    (linked,) = link(document_linker, document)
    (nil,) = link(DocumentLinker(nlp, linker, LinkingSettings(candidates=True)), document)
    [found], [expected] = nil["mentions"], linked["mentions"]
    assert [found[name] for name in ("concept_id", "name", "share")] == [None] * 3
    assert found["candidates"] == expected["candidates"] != []


def test_what_the_linker_drops_is_left_out(pipeline):
    nlp, linker = open_pipeline(pipeline)
    linker.settings.decision.threshold = 1.0
    linker.settings.decision.drop_unlinked_below = 0.5

    @Language.component("doubtful")
    def doubtful(doc):
        for ent in doc.ents:
            ent._.mention_probability = 0.1 if ent.text == "aspirin" else 0.9
        return doc

    nlp.add_pipe("doubtful", before=linker.name)
    given = CorpusDocument("2", "aspirin", (GoldMention(0, 7, "aspirin"),))
    found, kept = link(DocumentLinker(nlp, linker), CorpusDocument("1", "aspirin, migraine"), given)
    assert texts(found) == ["migraine"]
    # A mention of the input stays, linked or not.
    assert texts(kept) == ["aspirin"]


def test_mentions_of_the_input_are_linked_overlapping_ones_too(document_linker):
    mentions = (
        GoldMention(0, 12, "Heart attack", "Disease", "MESH:D000009"),
        GoldMention(0, 24, "Heart attack and aspirin", "Both"),
        GoldMention(17, 24, "aspirin", "Drug"),
    )
    document = CorpusDocument("1", "Heart attack and aspirin and migraine", mentions)
    (result,) = link(document_linker, document)
    found = result["mentions"]
    assert [(m["start"], m["end"], m["label"]) for m in found] == [
        (0, 12, "Disease"),
        (0, 24, "Both"),
        (17, 24, "Drug"),
    ]
    # The linker overwrites identifiers by default.
    assert found[0]["concept_id"] == "MESH:D009203"


@pytest.mark.parametrize(
    ("source", "expected"),
    [("auto", [["aspirin"], ["migraine"]]), ("input", [["aspirin"], []])],
)
def test_where_mentions_come_from(pipeline, source, expected):
    document_linker = DocumentLinker(*open_pipeline(pipeline), LinkingSettings(source))
    given = CorpusDocument("1", "aspirin, migraine", (GoldMention(0, 7, "aspirin"),))
    results = link(document_linker, given, CorpusDocument("2", "migraine"))
    assert [texts(result) for result in results] == expected


def test_identifiers_stay_where_the_pipeline_keeps_them(pipeline):
    nlp, linker = open_pipeline(pipeline)
    linker.settings.decision.overwrite = False
    given = (GoldMention(0, 7, "aspirin", "", "MESH:D008687"), GoldMention(9, 17, "migraine"))
    (result,) = link(DocumentLinker(nlp, linker), CorpusDocument("1", "aspirin, migraine", given))
    assert [(m["concept_id"], m["name"]) for m in result["mentions"]] == [
        ("MESH:D008687", "Metformin"),
        ("MESH:D008881", "Migraine Disorders"),
    ]
    assert result["mentions"][0]["share"] is None


def test_an_identifier_of_the_input_is_no_link(pipeline):
    nlp, linker = open_pipeline(pipeline)
    linker.settings.candidates.labels_discard = ("GENE",)
    given = (GoldMention(0, 7, "aspirin", "GENE", "NCBIGene:3767"),)
    (result,) = link(DocumentLinker(nlp, linker), CorpusDocument("1", "aspirin", given))
    assert [(m["text"], m["concept_id"]) for m in result["mentions"]] == [("aspirin", None)]


def test_a_failing_document_costs_no_other(pipeline):
    nlp, linker = open_pipeline(pipeline)
    nlp.max_length = 40
    documents = [CorpusDocument(str(i), "migraine " * (9 if i == 3 else 1)) for i in range(7)]
    results = link(DocumentLinker(nlp, linker), *documents)
    assert [type(result) for result in results] == [*[dict] * 3, str, *[dict] * 3]
    assert results[3].startswith("ValueError: [E088]")


@pytest.mark.parametrize("batch_size", [64, 1])
def test_whole_batches_that_fail_stop_the_run(pipeline, batch_size):
    nlp, linker = open_pipeline(pipeline)
    nlp.max_length = 8
    settings = LinkingSettings(batch_size=batch_size)
    bad = [CorpusDocument(str(i), "migraine again") for i in range(16)]
    with pytest.raises(AngelError, match="All of the last 16 documents failed"):
        link(DocumentLinker(nlp, linker, settings), *bad)
    document_linker = DocumentLinker(nlp, linker, settings)
    batches = (bad[:15], [CorpusDocument("good", "migraine")], bad[:15])
    results = [result for batch in batches for result in link(document_linker, *batch)]
    assert [type(result) for result in results].count(str) == 30
    # Failures add up across shards.
    with pytest.raises(AngelError, match="All of the last 16 documents failed"):
        link(document_linker, bad[0])
