"""Entity types by their labels, and identifiers that a label completes."""

import pytest

from spacy_angel.corpora.documents import CorpusDocument, CorpusReport, GoldMention
from spacy_angel.corpora.entity_types import complete_ids, types_left_out


@pytest.mark.parametrize(
    ("labels", "left_out"),
    [
        # The found types of these lines: DISEASE, GENE, CELL_LINE, and DRUG_NAME of no table
        (["SpecificDisease", "Modifier"], {"GENE", "CELL_LINE"}),
        (["Gene", "FamilyName", "CellLine"], {"DISEASE"}),
        (["Disease", ""], set()),  # some mentions may be anything
        (["MENTION"], set()),
        (["Variant"], {"DISEASE", "GENE", "CELL_LINE"}),
        (["Plot"], set()),  # no type that the table knows: it cannot tell
    ],
)
def test_what_a_corpus_does_not_mark_is_left_out(labels, left_out):
    found = ["DISEASE", "GENE", "CELL_LINE", "DRUG_NAME"]
    assert types_left_out(found, labels) == left_out


def completed(label, concept_ids, known=(), report=None):
    mention = GoldMention(0, 1, "x", label, concept_ids)
    resolve = {one: one for one in known}.get
    (document,) = complete_ids([CorpusDocument("1", "x", (mention,))], resolve, report)
    return document.mentions[0].concept_ids


@pytest.mark.parametrize(
    ("label", "raw", "expected"),
    [
        ("Gene", "6331", "NCBIGene:6331"),
        ("GeneOrGeneProduct", "6331|6332", "NCBIGene:6331|NCBIGene:6332"),
        ("Gene", "100155702(Tax:9823)", "NCBIGene:100155702"),  # GNormPlus
        ("Species", "9606", "NCBITaxon:9606"),
        ("CellLine", "9606", "9606"),  # tmVar3 gives the donor's species, no cell line
        ("CellLine", "CVCL_0030", "CVCL_0030"),
        ("Disease", "123456", "123456"),
        ("Gene", "HGNC:1101", "HGNC:1101"),
        ("Gene", "", ""),
    ],
)
def test_numbers_are_completed_by_the_label(label, raw, expected):
    assert completed(label, raw) == expected


def test_a_number_that_the_vocabulary_knows_stays():
    report = CorpusReport()
    assert completed("Gene", "1+2", known=["1"], report=report) == "1+NCBIGene:2"
    assert report.counts == {"ids_read_as_NCBIGene": 1}
