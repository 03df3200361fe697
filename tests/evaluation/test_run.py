"""The harness, from files to figures: baselines, a tiny pipeline, folds, comparison."""

import json

import pytest
import torch
from evaluation.conftest import CORPUS, PLAIN, lines
from support import tiny_linker

from spacy_angel.corpora.preprocessing import Preprocessing
from spacy_angel.errors import AngelError
from spacy_angel.evaluation.baselines import exact_match, nearest_name
from spacy_angel.evaluation.run import evaluate
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def nlp(model, kb, tmp_path_factory):
    """A pipeline that finds two mentions of the corpus and, wrongly, `man`."""
    folder = tmp_path_factory.mktemp("evaluation")
    kb.to_disk(folder / "kb")
    nlp = tiny_linker.make_pipeline(model, str(folder / "kb"), num_beams=3)
    nlp.get_pipe("entity_ruler").clear()
    found = {"Heart attack": "Disease", "aspirin": "Chemical", "man": "Disease"}
    patterns = [{"label": label, "pattern": name} for name, label in found.items()]
    nlp.get_pipe("entity_ruler").add_patterns(patterns)
    return nlp


# Of the ten mentions one has no identifier; `gout` and `renal failure`, a part of a composite, are
# not in the vocabulary. Exact match finds six: of `Migraine or diabetes` it finds both parts, but
# not the whole, which is a strict hit only.


def test_exact_match_written_out(kb, tmp_path):
    metrics = evaluate("exact", CORPUS, "pubtator", kb, tmp_path, preprocessing=PLAIN)
    assert (metrics["mentions"], metrics["nil"]) == (8, 1)
    assert (metrics["composites"], metrics["composites_split"]) == (2, 2)
    assert metrics["coverage"] == pytest.approx(100 * 6 / 8)
    assert metrics["lenient"]["mentions"] == 6
    assert metrics["lenient"]["acc@1"] == pytest.approx(100 * 5 / 6)
    assert metrics["biosyn"]["acc@1"] == 100  # both parts of `Migraine or diabetes`
    assert metrics["strict"]["mentions"] == 8
    assert metrics["strict"]["acc@1"] == metrics["strict"]["acc@5"] == pytest.approx(100 * 6 / 8)
    assert "confidence" not in metrics  # a baseline has no probabilities
    assert metrics["run"]["corpus_report"]["counts"]["documents"] == 2
    assert metrics == json.loads((tmp_path / "metrics.json").read_text())


def test_predictions_hold_what_is_needed_to_count_again(kb, tmp_path):
    evaluate("exact", CORPUS, "pubtator", kb, tmp_path, preprocessing=PLAIN)
    attack, *_, composite, _, _, gout = lines(tmp_path)
    assert attack["gold"] == [
        {"id": "MESH:D009203", "name": "Myocardial Infarction", "known": True}
    ]
    assert attack["concepts"] == [
        {"id": "MESH:D009203", "name": "Myocardial Infarction", "score": 1.0}
    ]
    assert attack["names"] == [{"name": "heart attack", "ids": ["MESH:D009203"], "score": 1.0}]
    assert (attack["lenient_rank"], attack["strict_rank"]) == (1, 1)
    assert [part["text"] for part in composite["parts"]] == ["Migraine", "diabetes"]
    assert (composite["lenient_rank"], composite["strict_rank"]) == (None, 1)
    assert gout["gold"][0]["known"] is False
    assert (gout["linked"], gout["strict_rank"]) == (False, None)


def test_train_mentions_become_names_of_a_copy(tmp_path):
    kb = ConceptKB.build([Concept("MESH:D009203", "Myocardial Infarction")])
    names = kb.n_names
    metrics = evaluate("exact", CORPUS, "pubtator", kb, tmp_path, train_names=CORPUS)
    assert metrics["run"]["vocabulary"]["steps"][-1]["step"] == "add_mentions"
    assert lines(tmp_path)[0]["strict_rank"] == 1
    assert kb.n_names == names
    assert kb.name_index("heart attack") is None


def test_mentions_outside_the_vocabulary_are_counted_even_if_published_steps_drop_them(
    kb, tmp_path
):
    steps = Preprocessing(unknown="drop", lowercase=True)
    metrics = evaluate("exact", CORPUS, "pubtator", kb, tmp_path, preprocessing=steps)
    assert metrics["mentions"] == 8
    assert metrics["run"]["preprocessing"]["lowercase"]


def test_removed_names_are_no_answer():
    kb = ConceptKB.build(tiny_linker.concepts())
    kb.remove("MESH:D003920")
    for baseline in (exact_match(kb), nearest_name(kb)):
        (ranking,) = baseline(["diabetes"], 5)
        assert "MESH:D003920" not in dict(ranking.concepts)
        assert all(ids and "MESH:D003920" not in ids for ids in ranking.name_ids)


def test_pipeline_on_gold_mentions(nlp, tmp_path):
    linker = nlp.get_pipe("angel_linker")
    settings, own = linker.settings.changed({}), linker.kb
    metrics = evaluate(nlp, CORPUS, "pubtator", None, tmp_path)
    assert metrics["mentions"] == 8
    assert metrics["detection"]["f"] == 100  # gold mentions, whatever the ruler finds
    found = {record["mention"]: record for record in lines(tmp_path)}
    assert found["Heart attack"]["strict_rank"] == found["aspirin"]["strict_rank"] == 1
    assert [c["score"] for c in found["aspirin"]["concepts"]] == sorted(
        (c["score"] for c in found["aspirin"]["concepts"]), reverse=True
    )
    assert len(found["aspirin"]["names"]) == 5  # as many beams as ranks
    assert 0 <= metrics["confidence"]["ece"] <= 100
    assert linker.settings == settings  # left as it was
    assert linker.kb is own


def test_pipelines_own_mentions(nlp, tmp_path):
    metrics = evaluate(nlp, CORPUS, "pubtator", None, tmp_path, predicted=True)
    # There are nine gold mentions, of which eight have identifiers.
    assert metrics["detection"]["precision"] == pytest.approx(100 * 2 / 3)
    assert metrics["detection"]["recall"] == pytest.approx(100 * 2 / 9)
    assert metrics["linking"]["precision"] == pytest.approx(100 * 2 / 3)
    assert metrics["linking"]["recall"] == pytest.approx(100 * 2 / 8)
    assert metrics["strict"]["acc@1"] == pytest.approx(100 * 2 / 8)
    assert [record["found"] for record in lines(tmp_path)].count(True) == 2


def test_types_that_the_corpus_does_not_mark_do_not_count(nlp, tmp_path):
    ruler = nlp.get_pipe("entity_ruler")
    own = list(ruler.patterns)
    more = {"malaise": "SPECIES", "absent": "GENE", "gone": "GENE", "remained": "PART"}
    ruler.add_patterns([{"label": label, "pattern": name} for name, label in more.items()])
    try:
        metrics = evaluate(nlp, CORPUS, "pubtator", None, tmp_path, predicted=True)
    finally:
        ruler.clear()
        ruler.add_patterns(own)
    assert metrics["types"] == {"marked": ["CHEMICAL", "DISEASE"], "left_out": {"GENE": 2}}
    # `Heart attack`, `aspirin`, and `malaise` are right whatever their labels; `man`, a disease,
    # and `remained`, with an unknown label, are wrong.
    assert metrics["detection"]["precision"] == pytest.approx(100 * 3 / 5)
    assert metrics["detection"]["recall"] == pytest.approx(100 * 3 / 9)


GENES = """\
1|t|BRCA2 in a mouse
1|a|Brca2 and HeLa.
1\t0\t5\tBRCA2\tGene\t675
1\t11\t16\tmouse\tSpecies\t10090
1\t17\t22\tBrca2\tGene\t12190
1\t27\t31\tHeLa\tVariant\tc|SUB

"""


def test_identifiers_without_prefix_are_read_by_their_labels(tmp_path):
    corpus = tmp_path / "train.pubtator"
    corpus.write_text(GENES)
    names = {"NCBIGene:675": "BRCA2", "NCBITaxon:10090": "mouse", "X:1": "HeLa"}
    kb = ConceptKB.build(Concept(one, name) for one, name in names.items())
    arguments = ("exact", corpus, "pubtator", kb, tmp_path / "out")
    with pytest.warns(UserWarning, match=r"No identifier of the label 'Variant'.* 1 misses.*'c'"):
        metrics = evaluate(*arguments, train_names=corpus)
    counts = metrics["run"]["corpus_report"]["counts"]
    assert (counts["ids_read_as_NCBIGene"], counts["ids_read_as_NCBITaxon"]) == (2, 1)
    # Of four mentions `BRCA2` and `mouse` are right; `Brca2` is the mouse's, which is not there.
    assert metrics["strict"]["acc@1"] == 50
    assert lines(tmp_path / "out")[2]["gold"][0]["id"] == "NCBIGene:12190"
    assert metrics["run"]["vocabulary"]["steps"][-1]["unknown_mentions"] == 1


def test_protocols_on_gold_mentions(kb, tmp_path):
    protocols = evaluate(
        *("exact", CORPUS, "pubtator", kb, tmp_path),
        preprocessing=PLAIN,
        protocols=["belb", "document"],
    )["protocols"]
    # Of eight mentions five are names; neither composite is, as a whole.
    assert protocols["belb"] == {"mentions": 8, "strict": 62.5, "lenient": 62.5}
    # Four of the first document's six identifiers, one of the second's four, nothing wrong
    averaged = protocols["document"]["averaged"]
    assert averaged["precision"] == 100
    assert averaged["recall"] == pytest.approx(100 * (4 / 6 + 1 / 4) / 2)
    assert protocols["document"]["micro"]["recall"] == 50
    assert protocols["document"]["types"]["CHEMICAL"]["micro"]["f"] == 100
    assert "| all | 8 | 62.5 | 62.5 |" in (tmp_path / "report.md").read_text()


def test_hunflair2_finds_the_mentions_itself(nlp, tmp_path):
    metrics = evaluate(nlp, CORPUS, "pubtator", None, tmp_path, protocols=["hunflair2"])
    figures = metrics["protocols"]["hunflair2"]
    assert (figures["hits"], figures["wrong"], figures["missed"]) == (2, 1, 6)
    assert figures["types"]["CHEMICAL"]["precision"] == 100
    assert metrics["run"]["predicted"] is True
    with pytest.raises(AngelError, match="belb needs gold mentions"):
        evaluate(nlp, CORPUS, "pubtator", None, tmp_path, protocols=["hunflair2", "belb"])
    with pytest.raises(AngelError, match="belb needs gold mentions"):
        evaluate(nlp, CORPUS, "pubtator", None, tmp_path, protocols=["belb"], predicted=True)


def test_the_identifier_that_is_given_has_a_line_of_its_own(nlp, tmp_path):
    linker = nlp.get_pipe("angel_linker")
    metrics = evaluate(nlp, CORPUS, "pubtator", None, tmp_path / "free")
    records = {record["mention"]: record for record in lines(tmp_path / "free")}
    assert records["aspirin"]["kb_ids"] == ["MESH:D001241"]
    assert metrics["kb_id"]["mentions"] == 8
    right = sum(
        bool(set(record["kb_ids"]) & {gold["id"] for gold in record["gold"]})
        for record in records.values()
    )
    assert metrics["kb_id"]["acc@1"] == 100 * right / 8 > 0
    # The one without identifier is included, the two composites that were split are not.
    assert metrics["confidence"]["mentions"] == 7
    with linker.using(decision={"threshold": 1.0}):
        silent = evaluate(nlp, CORPUS, "pubtator", None, tmp_path / "silent")
    assert silent["kb_id"]["acc@1"] == 0
    assert silent["confidence"] == metrics["confidence"]  # the scores, whatever the limits


def test_report(nlp, tmp_path):
    metrics = evaluate(nlp, CORPUS, "pubtator", None, tmp_path)
    report = (tmp_path / "report.md").read_text()
    strict = metrics["strict"]
    low, high = strict["interval"]
    assert f"| strict | 8 | {strict['acc@1']:.1f} |" in report
    assert f"| {low:.1f}–{high:.1f} |" in report
    assert "## Accuracy by entity type" in report
    assert "| CHEMICAL | 2 |" in report
    assert "| malaise |" not in report  # it has no identifier
    assert "| gout | MESH:" in report  # an error: not in the vocabulary
    assert '"pipeline": "en_pipeline"' in report


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"labels": ["Gene"]}, "has a gold identifier"),
        ({"predicted": True}, "cannot find mentions"),
        ({"train_names": CORPUS, "corpus_options": {"pmids": ["101"]}}, "cannot be combined"),
        ({"kb": None}, "needs a vocabulary"),
    ],
)
def test_a_run_that_fails_leaves_the_earlier_one_whole(kb, tmp_path, values, message):
    evaluate("exact", CORPUS, "pubtator", kb, tmp_path, preprocessing=PLAIN)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(AngelError, match=message):
        evaluate("exact", CORPUS, "pubtator", **({"kb": kb, "output": tmp_path} | values))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
