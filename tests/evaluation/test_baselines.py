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


def test_removed_names_are_no_answer():
    kb = ConceptKB.build(CONCEPTS)
    kb.remove("MESH:D003920")
    for baseline in (exact_match(kb), nearest_name(kb)):
        (ranking,) = baseline(["diabetes"], 5)
        assert "MESH:D003920" not in dict(ranking.concepts)
        assert all(ids and "MESH:D003920" not in ids for ids in ranking.name_ids)
