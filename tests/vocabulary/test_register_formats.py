"""Readers of genes, species, cell lines, drugs, rare diseases and diagnoses, on files in the true
format; whole files where they are at hand."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.helpers import ROOT, shared_data

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
ICTV = fixture("ictv.txt")
CELLOSAURUS = fixture("cellosaurus.txt")
HGNC = fixture("hgnc.txt")
DRUGBANK = fixture("drugbank.csv")
ORDER = fixture("icd10cm_order.txt")
RXNCONSO = fixture("RXNCONSO.RRF")
ORPHADATA = fixture("orphadata.xml")


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


def test_genes_without_the_other_names_of_their_products(tmp_path):
    path = write(tmp_path / "g", GENE_INFO)
    whole, short = (next(read_vocabulary(path, designations=own)) for own in (True, False))
    assert short.names == ("A2M", "alpha-2-macroglobulin", "A2MD", "CPAMD5")
    assert whole.names == (*short.names, "alpha-2-M")


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
        "NCBITaxon:9606", "Homo sapiens", ("human",), ("species",), None, ("NCBITaxon:12",)
    )
    concepts = list(read_vocabulary(tmp_path, report=report))
    assert concepts == [Concept("NCBITaxon:1", "root", ("all",), ("no rank",)), human]
    assert report.skipped == {"retired identifiers whose successor is not here": 1}
    assert list(read_vocabulary(tmp_path / "names.dmp", ranks="species")) == [human]


def test_species_need_a_scientific_name_and_ranks_their_file(tmp_path):
    write(tmp_path / "names.dmp", NAMES.replace("scientific name", "synonym"))
    with pytest.raises(AngelError, match="line 1: expected a scientific name of taxon 1"):
        list(read_vocabulary(tmp_path))
    with pytest.raises(AngelError, match=r"nodes\.dmp"):
        list(read_vocabulary(tmp_path, ranks="species"))


def test_viruses_have_the_names_of_all_releases(tmp_path):
    concepts, report = read(tmp_path / "taxonomy_node_export.utf8.txt", ICTV)
    assert concepts == [
        Concept("ICTV:19990001", "Carrollviridae", types=("family",)),
        Concept(
            *("ICTV:19990003", "Snarkvirus lucké", ("Snark virus", "Snark fever virus")),
            types=("species",),
        ),
        Concept(
            *("ICTV:20040005", "Snarkvirus jubjub", ("Jubjub bird pox virus",)),
            types=("species",),
        ),
        Concept("ICTV:20220002", "Snarkvirus", types=("genus",)),
        Concept("ICTV:20250006", "Snarkvirus carrolli", types=("species",)),
    ]
    assert report.skipped == {"taxa that are not in the newest release": 1}
    genera, report = read(tmp_path / "i", ICTV, ranks="genus")
    assert [c.canonical_name for c in genera] == ["Snarkvirus"]
    assert report.skipped["taxa of other ranks"] == 4


def test_viruses_as_older_exports_have_them(tmp_path):
    """Without quotes, and with NULL in the place of nothing."""
    head, *lines = ICTV.splitlines(keepends=True)
    kept = "".join(line for line in lines if "hunting" not in line and "eight fits" not in line)
    plain = kept.replace('"', "").replace("\\N", "NULL")
    assert read(tmp_path / "a", head + plain)[0] == read(tmp_path / "b", head + kept)[0]


@pytest.mark.parametrize(
    ("line", "place", "put", "message"),
    [
        (1, "ictv_id", "taxon", "line 1: expected a line with the columns ictv_id"),
        (3, "19990001", "one", "line 3: expected a whole number as ictv_id, found 'one'"),
        (15, "\t41\t", "\tnew\t", "line 15: expected a whole number as msl_release_num"),
        (11, "\t500\t", "\t510\t", "line 11: expected a level_id of 120, 130"),
        (8, '\t""', "", "line 8: expected 34 columns"),
    ],
)
def test_a_table_of_viruses_names_the_wrong_line(tmp_path, line, place, put, message):
    lines = ICTV.split("\n")
    assert place in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(place, put)
    with pytest.raises(AngelError, match=message):
        read(tmp_path / "i", "\n".join(lines), format="ictv")


def test_cell_lines(tmp_path):
    concepts, _ = read(tmp_path / "cellosaurus.txt", CELLOSAURUS)
    assert concepts == [
        Concept(
            "CVCL_0030",
            "HeLa",
            ("HELA", "Hela", "Henrietta Lacks cells"),
            ("Cancer cell line", "NCBITaxon:9606"),
            alternate_ids=("CVCL_9999",),
        ),
        Concept(
            "CVCL_0462",
            "L929",
            types=("Spontaneously immortalized cell line", "NCBITaxon:10090"),
        ),
    ]
    mouse, report = read(tmp_path / "c.txt", CELLOSAURUS, taxa="10090")
    assert [c.canonical_name for c in mouse] == ["L929"]
    assert report.skipped == {"cell lines of other species": 1}


def test_a_cut_file_of_cell_lines_is_an_error(tmp_path):
    with pytest.raises(AngelError, match="`//` after the last entry"):
        read(tmp_path / "c.txt", CELLOSAURUS.removesuffix("//\n"))
    with pytest.raises(AngelError, match="line 15: expected `//` before the next entry"):
        read(tmp_path / "c.txt", CELLOSAURUS.replace("//\nID   L929", "SY   x\nID   L929"))


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
    with pytest.raises(AngelError, match="closed quotes"):
        read(tmp_path / "d.csv", DRUGBANK.replace('Hirudin"', "Hirudin"))


def test_diagnoses(tmp_path):
    concepts, _ = read(tmp_path / "icd10cm_order_2026.txt", ORDER)
    assert concepts == [
        Concept("ICD10CM:A00", "Cholera", types=("header",)),
        Concept(
            "ICD10CM:A00.0",
            "Cholera due to Vibrio cholerae 01, biovar cholerae",
            types=("code",),
        ),
        Concept(
            "ICD10CM:S72.001A",
            "Fracture of unspecified part of neck of right femur, initial encounter for closed "
            "fracture",
            ("Fracture of unsp part of neck of right femur, init",),
            ("code",),
        ),
    ]
    assert len(read(tmp_path / "o.txt", ORDER, headers="no")[0]) == 2
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
    brands = read_vocabulary(tmp_path, term_types="BN")
    assert [c.concept_id for c in brands] == ["RXNORM:215770"]


def test_rare_diseases(tmp_path):
    concepts, report = read(tmp_path / "en_product1.xml", ORPHADATA)
    gazali = Concept(
        "ORPHA:166024",
        "Multiple epiphyseal dysplasia, Al-Gazali type",
        ("MED & macrocephaly",),
        ("Disease",),
        "A rare bone disease.",
        ("OMIM:607131",),
    )
    assert concepts == [gazali]
    assert report.skipped == {"entries that are obsolete or not rare": 1}
    everything, _ = read(tmp_path / "all.xml", ORPHADATA, inactive="yes")
    assert everything == [gazali, Concept("ORPHA:7", "Gout", types=("Disease",))]
    with pytest.raises(AngelError, match="the XML is broken or cut"):
        read(tmp_path / "cut.xml", ORPHADATA[:900])


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


TAXA = st.lists(
    st.tuples(
        st.integers(1, 10**7),
        st.text(st.characters(categories=["L", "N", "P"], exclude_characters="|"), min_size=1),
    ),
    min_size=1,
    unique_by=lambda taxon: taxon[0],
)


@settings(max_examples=50)
@given(TAXA)
def test_any_scientific_names_come_back(tmp_path_factory, taxa):
    lines = "".join(f"{n}\t|\t{name}\t|\t\t|\tscientific name\t|\n" for n, name in taxa)
    path = write(tmp_path_factory.mktemp("taxa") / "names.dmp", lines)
    found = [(c.concept_id, c.canonical_name) for c in read_vocabulary(path, "ncbi_taxonomy")]
    assert found == [(f"NCBITaxon:{n}", name) for n, name in taxa]


def test_whole_files_are_read():
    drugs = list(read_vocabulary(shared_data("vocab/chemical/drugbank_vocabulary_CC0.csv.gz")))
    assert len(drugs) == 16_581
    fish = shared_data("vocab/gene/Danio_rerio.gene_info.gz")
    report = VocabularyReport()
    assert sum(1 for _ in read_vocabulary(fish, report=report)) == 43_751
    assert report.names == 186_767
