import pytest

from spacy_angel.evaluation.baselines import exact_match, nearest_name
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
    found, missing, shared = exact_match(kb)(["Heart-Attack", "heart attacks", "COLD"], 5)
    assert found.concepts == (("MESH:D009203", 1.0),)
    assert found.names == ("heart attack",)
    assert missing.names == missing.concepts == ()
    assert shared.concepts == (("MESH:D003139", 1.0), ("MESH:D009203", 1.0))
    assert shared.name_ids == (("MESH:D009203", "MESH:D003139"),)


def test_nearest_name_ranks_names_and_concepts(kb):
    (ranking,) = nearest_name(kb)(["diabetes mellitis"], 2)
    assert ranking.names[0] == "Diabetes Mellitus"
    assert ranking.concepts[0][0] == "MESH:D003920"
    assert list(ranking.scores) == sorted(ranking.scores, reverse=True)
    assert ranking.concepts[0][1] == ranking.scores[0]


def test_removed_names_are_no_answer():
    kb = ConceptKB.build(CONCEPTS)
    kb.remove("MESH:D003920")
    for baseline in (exact_match(kb), nearest_name(kb)):
        (ranking,) = baseline(["diabetes"], 5)
        assert "MESH:D003920" not in dict(ranking.concepts)
        assert all(ids and "MESH:D003920" not in ids for ids in ranking.name_ids)
