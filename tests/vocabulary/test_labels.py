"""Labels and types: every spelling has its kind, and the user's own entry goes first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.vocabulary.names.entity_types import is_foreign
from spacy_angel.vocabulary.names.labels import (
    ANY,
    ENTITY_TYPES,
    entity_types_of,
    find_entries,
    is_neutral,
)

SIX = ("DISEASE", "CHEMICAL", "GENE", "SPECIES", "CELL_LINE", "PHENOTYPE")
# Of spaCy's general pipelines.
ONTONOTES = "PERSON NORP FAC ORG GPE LOC PRODUCT EVENT WORK_OF_ART LAW LANGUAGE DATE TIME"


@pytest.mark.parametrize(
    ("labels", "kinds"),
    [
        ("GENE_OR_GENE_PRODUCT GeneOrGeneProduct gene-y", {"GENE"}),
        ("CANCER DISO T047", {"DISEASE"}),
        ("AMINO_ACID simple-chemical CHEM", {"CHEMICAL"}),
        ("OrganismTaxon TAXON Strain", {"SPECIES"}),
        ("CL Cell_type", {"CELL_TYPE"}),
        ("CELL", {"CELL_TYPE", "CELL_LINE"}),
        ("T116,T123", {"GENE", "CHEMICAL"}),
        ("ProteinMutation", {"VARIANT"}),
        ("FamilyName", {"GENE_FAMILY"}),
        ("MENTION ENTITY", {ANY}),
        (f"T047,T999 T999 SO ANAPHOR {ONTONOTES}", set()),
    ],
)
def test_kinds(labels, kinds):
    for label in labels.split():
        assert entity_types_of(label) == kinds
        assert is_neutral(label) is (kinds == {ANY})


@pytest.mark.parametrize(
    ("label", "entries", "found"),
    [
        ("CANCER", SIX, ("DISEASE",)),
        ("PERSON", SIX, ()),
        ("CELL", SIX, ("CELL_LINE",)),
        ("CELL", ("CELL_TYPE", "Cell line"), None),
        ("drug", ("Drug", "CHEMICAL"), ("Drug",)),
        ("Medication", ("DRUG", "CHEMICAL"), ("CHEMICAL",)),
        ("Medication", ("DRUG",), None),
        ("Symptom", SIX, ("DISEASE", "PHENOTYPE")),
        ("Symptom", ("SYMPTOM", *SIX), ("SYMPTOM",)),
        # what may be a phenotype only is not for every disease
        ("Disease", ("SYMPTOM", "CHEMICAL"), ()),
        ("Sign", ("SYMPTOM", "CHEMICAL"), ("SYMPTOM",)),
        ("Phenotype", ("DISEASE", "CHEMICAL"), ()),
        ("MENTION", SIX, ()),
    ],
)
def test_entries(label, entries, found):
    assert find_entries(label, entries) == (entries if found is None else found)


def test_a_vocabulary_without_a_kind_may_have_it_within_another():
    assert find_entries("Phenotype", ("DISEASE", "GENE"), wider=True) == ("DISEASE",)
    assert find_entries("Phenotype", SIX, wider=True) == ("PHENOTYPE",)
    assert find_entries("FamilyName", SIX, wider=True) == ("GENE",)
    assert find_entries("Disease", ("PHENOTYPE",), wider=True) == ()


@given(st.sampled_from([*ENTITY_TYPES, "SpecificDisease", "GENE-Y", "T047"]), st.randoms())
def test_case_blanks_and_signs_do_not_matter(label, chance):
    other = "".join(
        chance.choice(("", "", " ", "_", "-", "/")) + chance.choice((c.lower(), c.upper()))
        for c in label
    )
    assert entity_types_of(other) == entity_types_of(label)


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
