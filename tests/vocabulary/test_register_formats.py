"""Readers of genes, species, cell lines, drugs, rare diseases and diagnoses, on files in the true
format; whole files where they are at hand."""

from pathlib import Path

import pytest
from support.helpers import ROOT

from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.names.concepts import Concept
from spacy_angel.vocabulary.sources.formats.registry import (
    VocabularyReport,
    read_vocabulary,
)

FIXTURES = ROOT / "tests/fixtures/vocabularies"


def fixture(name: str) -> str:
    return (FIXTURES / name).read_text("utf8")


GENE_INFO = fixture("gene_info.tsv")
NAMES = fixture("taxonomy/names.dmp")
NODES = fixture("taxonomy/nodes.dmp")
MERGED = fixture("taxonomy/merged.dmp")
HGNC = fixture("hgnc.txt")
DRUGBANK = fixture("drugbank.csv")
ORDER = fixture("icd10cm_order.txt")
RXNCONSO = fixture("RXNCONSO.RRF")


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf8")
    return path


def read(path: Path, text: str, **options) -> tuple[list[Concept], VocabularyReport]:
    report = VocabularyReport()
    return list(read_vocabulary(write(path, text), report=report, **options)), report


def test_genes(tmp_path):
    concepts, report = read(tmp_path / "all.gene_info", GENE_INFO)
    assert concepts == [
        Concept(
            "NCBIGene:2",
            "A2M",
            ("alpha-2-macroglobulin", "A2MD", "CPAMD5", "alpha-2-M"),
            ("NCBITaxon:9606", "protein-coding"),
            alternate_ids=("HGNC:7", "ENSEMBL:ENSG00000175899"),
        ),
        Concept(
            "NCBIGene:11287",
            "Pzp",
            ("PZP like", "A1m"),
            ("NCBITaxon:10090", "protein-coding"),
            alternate_ids=("MGI:87854",),
        ),
    ]
    assert report.skipped == {"placeholders of new genes": 1, "genes of other kinds": 1}


def test_genes_of_some_species_and_kinds(tmp_path):
    path = write(tmp_path / "g", GENE_INFO)
    assert [c.concept_id for c in read_vocabulary(path, taxa="10090")] == ["NCBIGene:11287"]
    regions = read_vocabulary(path, kinds="biological-region")
    assert [c.concept_id for c in regions] == ["NCBIGene:110"]
    with pytest.raises(AngelError, match="taxa"):
        read_vocabulary(path, taxa="human")


def test_a_gene_table_names_the_wrong_line(tmp_path):
    cut = GENE_INFO[: GENE_INFO.index("\t6 F1")] + "\n"
    with pytest.raises(AngelError, match="line 5: expected 16 columns"):
        list(read_vocabulary(write(tmp_path / "g", cut)))
    with pytest.raises(AngelError, match="type_of_gene"):
        list(read_vocabulary(write(tmp_path / "h", "#tax_id\tGeneID\tSymbol\n"), "gene_info"))


def test_species(tmp_path):
    write(tmp_path / "names.dmp", NAMES)
    write(tmp_path / "nodes.dmp", NODES)
    write(tmp_path / "merged.dmp", MERGED)
    report = VocabularyReport()
    human = Concept(
        "NCBITaxon:9606",
        "Homo sapiens",
        ("human",),
        ("species",),
        None,
        ("NCBITaxon:12",),
        ("NCBITaxon:9605",),
    )
    concepts = list(read_vocabulary(tmp_path, report=report))
    assert concepts == [Concept("NCBITaxon:1", "root", ("all",), ("no rank",)), human]
    assert report.skipped == {"retired identifiers whose successor is not here": 1}


def test_hgnc(tmp_path):
    concepts, report = read(tmp_path / "hgnc_complete_set.txt", HGNC)
    assert concepts == [
        Concept(
            "HGNC:5",
            "A1BG",
            ("alpha-1-B glycoprotein", "A1B", "GAB"),
            ("protein-coding gene",),
            alternate_ids=("NCBIGene:1", "ENSEMBL:ENSG00000121410"),
        )
    ]
    assert report.skipped == {"withdrawn entries": 1}


def test_drugbank(tmp_path):
    concepts, _ = read(tmp_path / "drugbank vocabulary.csv", DRUGBANK)
    assert concepts == [
        Concept(
            "DRUGBANK:DB00001",
            "Lepirudin",
            ("[Leu1, Thr2]-63-desulfohirudin", "Hirudin"),
            alternate_ids=(
                *("DRUGBANK:BTD00024", "DRUGBANK:BIOD00024"),
                *("CAS:138068-37-8", "UNII:Y43GF64R34"),
            ),
        ),
        Concept("DRUGBANK:DB00002", "Cetuximab"),
    ]
    with pytest.raises(AngelError, match="values are broken"):
        read(tmp_path / "d.csv", DRUGBANK.replace('Hirudin"', "Hirudin"))


def test_diagnoses(tmp_path):
    concepts, _ = read(tmp_path / "icd10cm_order_2026.txt", ORDER)
    assert concepts == [
        Concept("ICD10CM:A00", "Cholera", types=("header",)),
        Concept(
            "ICD10CM:A00.0",
            "Cholera due to Vibrio cholerae 01, biovar cholerae",
            types=("code",),
            parents=("ICD10CM:A00",),
        ),
        Concept(
            "ICD10CM:S72.001A",
            "Fracture of unspecified part of neck of right femur, initial encounter for closed "
            "fracture",
            ("Fracture of unsp part of neck of right femur, init",),
            ("code",),
        ),
    ]
    with pytest.raises(AngelError, match="line 1: expected order number"):
        list(read_vocabulary(write(tmp_path / "x", "A00 Cholera\n"), "icd10cm"))


def test_rxnorm(tmp_path):
    concepts, report = read(tmp_path / "RXNCONSO.RRF", RXNCONSO)
    assert concepts == [
        Concept("RXNORM:1191", "aspirin", ("acetylsalicylic acid",), ("IN",)),
        Concept("RXNORM:215770", "Arthritis Foundation Aspirin", types=("BN",)),
    ]
    assert report.skipped == {
        "concepts without a name of RxNorm's own": 1,
        "suppressed names": 1,
    }


def test_terms_of_other_ontologies_stay_out_and_references_come_in(tmp_path):
    text = """\
format-version: 1.2

[Term]
id: MONDO:0005148
name: type 2 diabetes mellitus
xref: DOID:9352 {source="MONDO:equivalentTo"}
xref: MESH:D003924
xref: http://identifiers.org/x

[Term]
id: HP:0000118
name: Phenotypic abnormality
"""
    path = write(tmp_path / "mondo.obo", text)
    report = VocabularyReport()
    (concept,) = read_vocabulary(path, report=report, prefixes="MONDO", xrefs="MESH,DOID")
    assert concept.alternate_ids == ("DOID:9352", "MESH:D003924")
    assert report.skipped == {"terms of other ontologies": 1}
    assert [c.alternate_ids for c in read_vocabulary(path)] == [(), ()]
    first, _ = read_vocabulary(path, xrefs="all")
    assert first.alternate_ids == ("DOID:9352", "MESH:D003924")
