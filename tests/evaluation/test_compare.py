import json

import pytest
from evaluation.conftest import CORPUS, PLAIN, lines

from spacy_angel.corpora.preprocessing import Preprocessing
from spacy_angel.errors import AngelError
from spacy_angel.evaluation.compare import compare, compare_hits
from spacy_angel.evaluation.run import evaluate
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept


def test_compare_two_systems(kb, tmp_path):
    for system in ("exact", "tfidf"):
        evaluate(system, CORPUS, "pubtator", kb, tmp_path / system, preprocessing=PLAIN)
    comparison = compare(tmp_path / "exact", tmp_path / "tfidf", tmp_path / "both")
    assert comparison["systems"] == ["exact", "tfidf"]
    assert comparison["mentions"] == 8
    strict = comparison["strict"]
    assert strict["a"] == pytest.approx(100 * 6 / 8)
    assert sum(strict["counts"].values()) == 8
    assert strict["test"]["difference"] == pytest.approx(strict["b"] - strict["a"])
    assert comparison["lenient"]["mentions"] == 6
    assert (comparison["kb_id"]["mentions"], comparison["kb_id"]["a"]) == (8, 62.5)
    report = (tmp_path / "both" / "report.md").read_text()
    assert report.startswith("# A: exact, B: tfidf\n")
    assert json.loads((tmp_path / "both" / "comparison.json").read_text()) == comparison
    evaluate("exact", CORPUS, "pubtator", kb, tmp_path / "again", preprocessing=PLAIN)
    compare(tmp_path / "exact", tmp_path / "again", tmp_path / "both")
    assert "# A: exact, B: again" in (tmp_path / "both" / "report.md").read_text()
    same = compare(tmp_path / "exact", tmp_path / "exact", tmp_path / "both")
    assert "# A: A, B: B" in (tmp_path / "both" / "report.md").read_text()
    assert same["strict"]["test"] == {"difference": 0, "low": 0, "high": 0, "p": 1}


def test_the_test_written_out():
    """B wins 10 mentions of 200 and loses none: 2 * 0.5**10 by the sign test."""
    pairs = [(True, True)] * 100 + [(False, True)] * 10 + [(False, False)] * 90
    test = compare_hits(pairs)
    assert test["difference"] == 5
    assert 1.5 < test["low"] < 5 < test["high"] < 8.5
    assert test["p"] == pytest.approx(2 * 0.5**10)
    reversed_test = compare_hits([(b, a) for a, b in pairs])
    assert (reversed_test["difference"], reversed_test["p"]) == (-5, test["p"])
    assert compare_hits(pairs) == test  # the random numbers are seeded
    better = compare_hits([(False, True)] * 20)
    assert better["low"] == better["high"] == 100
    with pytest.raises(AngelError, match="no mentions"):
        compare_hits([])


def test_compare_a_baseline_with_expanded_abbreviations(tmp_path):
    """A pipeline resolves abbreviations itself; the baseline's texts and offsets differ then."""
    text = (
        "1|t|Metachromatic leukodystrophy (MLD) and gout\n1|a|No MLD.\n"
        "1\t47\t50\tMLD\tDisease\tD007966\n"
    )
    (tmp_path / "corpus.txt").write_text(text)
    kb = ConceptKB.build([Concept("MESH:D007966", "Metachromatic leukodystrophy")])
    for abbreviations in ("keep", "scispacy"):
        steps = Preprocessing(abbreviations=abbreviations)
        arguments = (tmp_path / "corpus.txt", None, kb, tmp_path / abbreviations)
        evaluate("exact", *arguments, preprocessing=steps)
    first, second = tmp_path / "keep", tmp_path / "scispacy"
    assert lines(first)[0]["mention"] != lines(second)[0]["mention"]
    comparison = compare(first, second)
    assert comparison["strict"]["counts"]["only_b"] == comparison["mentions"] == 1


def test_compare_refuses_other_mentions(kb, tmp_path):
    evaluate("exact", CORPUS, "pubtator", kb, tmp_path / "all", preprocessing=PLAIN)
    evaluate("exact", CORPUS, "pubtator", kb, tmp_path / "some", labels=["Chemical"])
    with pytest.raises(AngelError, match="line 1"):
        compare(tmp_path / "all", tmp_path / "some")
    with pytest.raises(AngelError, match=r"predictions\.jsonl|metrics\.json"):
        compare(tmp_path / "all", tmp_path / "none")
