import pytest

from spacy_angel.vocabulary.kinds import is_foreign


@pytest.mark.parametrize(
    ("label", "types", "foreign"),
    [
        ("CHEMICAL", ["Disease"], True),
        ("Chemical", ["C", "C14"], True),
        ("DISEASE", ["disease_ontology"], False),
        ("Disease", ["D02", "Chemical"], True),
        ("DISEASE", ["C04", "D12"], False),
        ("DISEASE", [], False),
        ("DISEASE", ["my own type"], False),
        ("DISEASE", ["my own type", "Chemical"], False),
        ("MENTION", ["Chemical"], False),
        ("SpecificDisease", ["T121"], True),
        ("DiseaseOrPhenotypicFeature", ["T047"], False),
        ("GENE", ["T116"], False),
        ("GENE_OR_GENE_PRODUCT", ["T007"], True),
        ("SPECIES", ["T007"], False),
    ],
)
def test_a_mention_and_a_concept_of_different_kinds(label, types, foreign):
    assert is_foreign(label, types) is foreign
