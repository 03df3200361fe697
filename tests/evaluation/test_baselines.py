import pytest

from spacy_angel.errors import AngelError
from spacy_angel.evaluation.baselines import (
    BASELINES,
    ExactMatch,
    NearestName,
    ScispacyCandidates,
    rank_names,
)
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept

CONCEPTS = [
    Concept("MESH:D009203", "Myocardial Infarction", ("heart attack", "cold")),
    Concept("MESH:D003139", "Common Cold", ("cold",)),
    Concept("MESH:D003920", "Diabetes Mellitus", ("diabetes",)),
]


@pytest.fixture(scope="module")
def kb():
    return ConceptKB.build(CONCEPTS)


def test_exact_match_in_normal_form(kb):
    found, missing, shared = ExactMatch(kb).link(["Heart-Attack", "heart attacks", "COLD"], k=5)
    assert found.concepts == (("MESH:D009203", 1.0),)
    assert found.names == ("heart attack",)
    assert missing.names == missing.concepts == ()
    assert shared.concepts == (("MESH:D003139", 1.0), ("MESH:D009203", 1.0))
    assert shared.name_ids == (("MESH:D009203", "MESH:D003139"),)


def test_nearest_name_ranks_names_and_concepts(kb):
    (ranking,) = NearestName(kb).link(["diabetes mellitis"], k=2)
    assert ranking.names[0] == "Diabetes Mellitus"
    assert ranking.concepts[0][0] == "MESH:D003920"
    assert list(ranking.scores) == sorted(ranking.scores, reverse=True)
    assert ranking.concepts[0][1] == ranking.scores[0]


def test_nearest_name_has_no_answer_without_a_common_3_gram(kb):
    (ranking,) = NearestName(kb).link(["zzz"], k=2)
    assert ranking.names == ranking.concepts == ()


def test_removed_names_are_no_answer():
    kb = ConceptKB.build(CONCEPTS)
    kb.remove("MESH:D003920")
    for baseline in (ExactMatch(kb), NearestName(kb)):
        (ranking,) = baseline.link(["diabetes"], k=5)
        assert "MESH:D003920" not in dict(ranking.concepts)
        assert all(ids and "MESH:D003920" not in ids for ids in ranking.name_ids)


def test_rank_names_keeps_ties_with_the_last():
    names = [("a", ["D2", "D1"], 0.9), ("b", ["D1"], 0.8), ("c", ["D3"], 0.7)]
    ranking = rank_names(names, k=1)
    assert ranking.names == ("a",)
    assert ranking.concepts == (("D1", 0.9), ("D2", 0.9))
    assert rank_names(names, k=3).concepts == (("D1", 0.9), ("D2", 0.9), ("D3", 0.7))
    assert rank_names([], k=3).concepts == ()


ORGANS, KINDS = ("heart", "lung", "skin", "bone"), ("tumor", "pain", "lesion")
NAMES = [f"{organ} {kind} {n}" for organ in ORGANS for kind in KINDS for n in range(100, 112)]


@pytest.mark.parametrize("name", ["scispacy", "scispacy-hnsw"])
def test_scispacys_generator_over_the_same_vocabulary(name):
    kb = ConceptKB.build(Concept(f"X:{text}", text, ("tumour of lung",)) for text in NAMES)
    exact, nothing = BASELINES[name](kb).link(["Skin lesion 111", "zzz"], k=3)
    assert exact.names[0] == "skin lesion 111"
    assert exact.name_ids[0] == ("X:skin lesion 111",)
    assert exact.concepts[0][0] == "X:skin lesion 111"
    assert exact.scores[0] == pytest.approx(1, abs=1e-5)
    assert len(exact.names) == 3
    assert nothing.names == nothing.concepts == ()


def test_scispacys_generator_refuses_a_vocabulary_below_its_cut(kb):
    with pytest.raises(AngelError, match="finds nothing to index"):
        ScispacyCandidates(kb)
