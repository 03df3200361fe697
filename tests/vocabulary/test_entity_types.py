import pytest

from spacy_angel.vocabulary.names.entity_types import is_foreign, is_species, may_need_species


@pytest.mark.parametrize(
    ("label", "types", "foreign"),
    [
        ("CHEMICAL", ["Disease"], True),
        ("DISEASE", ["disease_ontology"], False),
        ("Disease", ["D02", "Chemical"], True),
        ("DISEASE", ["C04", "D12"], False),
        ("DISEASE", [], False),
        ("DISEASE", ["my own type", "Chemical"], False),
        ("MENTION", ["Chemical"], False),
        ("SpecificDisease", ["T121"], True),
        ("DiseaseOrPhenotypicFeature", ["T047"], False),
        ("GENE_OR_GENE_PRODUCT", ["T007"], True),
        ("DISEASE", ["NCBITaxon:9606", "protein-coding"], True),
        ("GENE", ["NCBITaxon:9606", "ncRNA"], False),
        ("CHEMICAL", ["Gene", "NCBITaxon:9606", "other"], True),
        ("GENE", ["other", "NCBITaxon:9606"], False),
        ("CHEMICAL", ["Other"], False),
        ("GENE", ["Cancer cell line", "NCBITaxon:9606"], True),
        ("CellLine", ["Cancer cell line", "NCBITaxon:9606"], False),
        ("DISEASE", ["NCBITaxon:9606"], False),
    ],
)
def test_a_mention_and_a_concept_of_different_kinds(label, types, foreign):
    assert is_foreign(label, types) is foreign


@pytest.mark.parametrize(
    ("label", "needs"),
    [
        *(("GENE", True), ("CellLine", True), ("MENTION", True), ("", True)),
        *(("Disease", False), ("CHEMICAL", False), ("Species", False), ("Phenotype", False)),
    ],
)
def test_the_species_of_a_document_is_for_genes_and_what_may_be_one(label, needs):
    assert may_need_species(label) is needs
    assert is_species(label) is (label == "Species")
