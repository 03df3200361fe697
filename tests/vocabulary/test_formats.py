"""Readers of vocabularies, on small files in the true formats and on the public ones."""

import gzip
import json
import re
import shutil
import tracemalloc
from contextlib import suppress
from pathlib import Path
from time import process_time

import pytest
from support.helpers import ROOT, shared_data

from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.names.concepts import Concept
from spacy_angel.vocabulary.names.identifiers import bare_prefix, normalize_id
from spacy_angel.vocabulary.sources.formats.records import (
    VocabularyReport,
    merge_concepts,
    successors,
    tree_types,
)
from spacy_angel.vocabulary.sources.formats.registry import FORMATS, infer_format, read_vocabulary
from spacy_angel.vocabulary.sources.formats.umls import ST21PV_SOURCES, ST21PV_TYPES

FIXTURES = ROOT / "tests/fixtures/vocabularies"
# Format → the fixture that it is tried on.
FILES = {
    "cellosaurus.v1": "cellosaurus.txt",
    "columns.v1": "columns.csv",
    "ctd.v1": "ctd_diseases.tsv",
    "drugbank.v1": "drugbank.csv",
    "gene_info.v1": "gene_info.tsv",
    "hgnc.v1": "hgnc.txt",
    "icd10cm.v1": "icd10cm_order.txt",
    "ictv.v1": "ictv.txt",
    "medic.v1": "medic.txt",
    "mesh_xml.v1": "desc.xml",
    "ncbi_taxonomy.v1": "taxonomy",
    "obo.v1": "ontology.obo",
    "orphadata.v1": "orphadata.xml",
    "rxnorm.v1": "RXNCONSO.RRF",
    "scispacy.v1": "scispacy.jsonl",
    "snomed.v1": "snomed",
    "table.v1": "table.tsv",
    "target_kb.v1": "target_kb.json",
    "umls.v1": "umls",
    "umls_st21pv.v1": "umls",
}


def read(name: str, format: str | None = None, **options: object) -> dict[str, Concept]:
    concepts = list(read_vocabulary(FIXTURES / name, format, **options))
    by_id = {concept.concept_id: concept for concept in concepts}
    assert len(by_id) == len(concepts)
    return by_id


def all_ids(concepts: list[Concept]) -> set[str]:
    return {i for concept in concepts for i in (concept.concept_id, *concept.alternate_ids)}


# The rules


def test_bare_prefix() -> None:
    codes = ["C0011849", "C538288", "C000588", "D003920", "C000611234", "D000072556"]
    assert [bare_prefix(code) for code in codes] == ["UMLS"] + ["MESH"] * 5
    assert [bare_prefix(code) for code in ("222100", "E003920", "D03920", "C٠٠١١٨٤٩")] == [""] * 4


def test_tree_types() -> None:
    assert tree_types(["F03.625", "C16.131.260/C538288", "C16.320"]) == ["C", "C16", "F", "F03"]
    assert tree_types(["C"]) == ["C"]
    for wrong in ("16.131", "C1", "C161.2", "MESH:C"):
        with pytest.raises(ValueError, match=re.escape(wrong)):
            tree_types([wrong])


def test_merge_concepts() -> None:
    first = Concept("X:1", "one", ("uno", "uno"), ("A",), None, ("X:2",))
    second = Concept("X:1", "eins", ("one", "uno"), ("B", "A"), "A number.", ("X:3", "X:2"))
    assert merge_concepts(first, second) == Concept(
        "X:1", "one", ("uno", "eins"), ("A", "B"), "A number.", ("X:2", "X:3")
    )


def test_successors() -> None:
    report = VocabularyReport()
    replaced_by = {
        "a": ["b"],
        "b": ["c"],
        "fork": ["c", "d"],
        "two ways to one end": ["b", "c"],
        "circle": ["round"],
        "round": ["circle"],
        "self": ["self"],
    }
    assert successors(replaced_by, report) == {"c": ["a", "b", "two ways to one end"]}
    assert report.skipped == {"retired identifiers without one successor": 4}


def test_a_chain_of_successors_is_followed_so_far_only() -> None:
    n = 20_000
    report = VocabularyReport()
    began = process_time()
    found = successors({str(i): [str(i + 1)] for i in range(n)}, report)
    assert process_time() - began < 5
    assert found == {str(n): [str(i) for i in range(n - 100, n)]}
    assert report.skipped == {"retired identifiers without one successor": n - 100}


# Each format


def test_scispacy() -> None:
    report = VocabularyReport()
    concepts = read("scispacy.jsonl", report=report)
    assert concepts == {
        "UMLS:C0011849": Concept(
            "UMLS:C0011849",
            "Diabetes Mellitus",
            ("Diabetes", "diabetes mellitus (DM)"),
            ("T047",),
            "A disorder of glucose regulation.",
        ),
        "MESH:D003920": Concept("MESH:D003920", "Diabetes Mellitus"),
        "GO:0008150": Concept(
            "GO:0008150",
            "biological_process",
            ("physiological process",),
            ("biological_process",),
        ),
        "UMLS:C0000001": Concept(
            "UMLS:C0000001", "naïve T‐cell 🧬", (), ("T025",), None, ("UMLS:C0000002",)
        ),
    }
    assert report == VocabularyReport(4, 7, 1, 0, {"concepts without a name": 1})
    assert list(read("scispacy.jsonl", prefix="MINE"))[:2] == ["MINE:C0011849", "MINE:D003920"]


def test_medic() -> None:
    assert list(read("medic.txt").values()) == [
        Concept("MESH:C538288", "10p deletion", ("Chromosome 10p deletion",), ("C",)),
        Concept(
            "MESH:C567755",
            "Tooth Agenesis, Selective, 6",
            ("STHAG6",),
            ("C",),
            alternate_ids=("OMIM:613097",),
        ),
        Concept(
            "OMIM:222100",
            "DIABETES MELLITUS, INSULIN-DEPENDENT; IDDM",
            ("IDDM",),
            ("C",),
            alternate_ids=("MESH:D003922", "OMIM:125852"),
        ),
        Concept("MESH:C", "Diseases", (), ("C",)),
        Concept("OMIM:260350", "PANCREATIC CANCER", (), ("C",)),
    ]


def test_ctd_diseases() -> None:
    assert list(read("ctd_diseases.tsv").values()) == [
        Concept("MESH:C", "Diseases", (), ("C",), tree_numbers=("C",)),
        Concept(
            "MESH:D003922",
            "Diabetes Mellitus, Type 1",
            ("IDDM", "Juvenile-Onset Diabetes"),
            ("C", "C18", "C20"),
            "Loss of the cells that make insulin.",
            ("DOID:9744", "OMIM:222100"),
            ("C18.452.394.750.124", "C20.111.327"),
        ),
        Concept(
            "MESH:C537907",
            "Barakat syndrome",
            (),
            ("C", "C12", "F", "F03"),
            None,
            ("OMIM:146255",),
            ("C12.777.419/C537907", "F03.1/C537907"),
        ),
    ]


def test_ctd_chemicals() -> None:
    assert list(read("ctd_chemicals.tsv").values()) == [
        Concept(
            "MESH:D001241",
            "Aspirin",
            ("Acetylsalicylic Acid", "2-(Acetyloxy)benzoic Acid"),
            ("D", "D02"),
            "An analgesic.",
            tree_numbers=("D02.455.426.559.389.657.410.595.176",),
        ),
        Concept("MESH:C513428", "0231A", (), ("D", "D02"), tree_numbers=("D02.241/C513428",)),
    ]


def test_table() -> None:
    tree_numbers = FIXTURES / "tree_numbers.tsv"
    assert list(read("table.tsv", tree_numbers=tree_numbers).values()) == [
        Concept("MESH:D000001", "Calcimycin", (), ("D", "D03"), None, (), ("D03.438.221.173",)),
        Concept(
            "MESH:D003920",
            "Diabetes Mellitus",
            ("Diabetes", "Diabetes"),
            ("C", "C18", "C19"),
            tree_numbers=("C18.452.394.750", "C19.246"),
        ),
        Concept("UMLS:C0011849", "Diabetes"),
        Concept("X-1", "local term", ("näme",)),
    ]
    assert list(read("table.tsv", prefix="ICD"))[3] == "ICD:X-1"


@pytest.mark.parametrize(
    "first",
    [
        "ID",
        "#id",
        "# ID",
        "cui",
        "code",
        "Identifier",
        "mesh_id",
        "Concept ID",
        "ConceptID",
        "CURIE",
    ],
)
def test_table_with_column_names(first: str, tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"
    text = f"\ufeff{first}\tName\tSynonyms\r\nD000001\tCalcimycin\tA|B\r\n"
    path.write_text(text, encoding="utf-8")
    assert list(read_vocabulary(path)) == [Concept("MESH:D000001", "Calcimycin", ("A", "B"))]


@pytest.mark.parametrize("first", ["COVID", "ID-7", "CUIs", "barcode", "code1"])
def test_table_without_column_names(first: str, tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"
    path.write_text(f"{first}\tone\n", encoding="utf-8")
    assert list(read_vocabulary(path)) == [Concept(first, "one")]


@pytest.mark.parametrize("third", ["mesh_tree_number", "Tree Numbers", "TreeNumber"])
def test_tree_numbers_are_no_synonyms(third: str, tmp_path: Path) -> None:
    path = tmp_path / "numbers.tsv"
    path.write_text(f"mesh_id\tmesh_name\t{third}\nD000001\tCalcimycin\tD03.438\n")
    message = rf"numbers\.tsv, line 1: .*'{third}'.*`--option tree_numbers=.*numbers\.tsv`"
    with pytest.raises(AngelError, match=message):
        list(read_vocabulary(path))


def test_mesh_descriptors() -> None:
    assert list(read("desc.xml").values()) == [
        Concept(
            "MESH:D001241",
            "Aspirin",
            ("Acetysal", "Acid, Acetylsalicylic"),
            ("D", "D02", "T109"),
            "An analgesic with several uses.",
            tree_numbers=("D02.455.426.559.389.657.410.595.176",),
            scopes=(
                ("Aspirin", "PREFERRED"),
                ("Acetysal", "NARROW"),
                ("Acid, Acetylsalicylic", "EXACT"),
            ),
        ),
        Concept(
            "MESH:D003920",
            "Diabetes Mellitus",
            (),
            ("C", "C18", "C19"),
            tree_numbers=("C18.452.394.750", "C19.246"),
            scopes=(("Diabetes Mellitus", "PREFERRED"),),
        ),
    ]


@pytest.mark.parametrize("first", ["M0000001", "M0000002"])
@pytest.mark.parametrize(
    ("relation", "scope", "the_other_way"),
    [("NRW", "NARROW", "BROAD"), ("BRD", "BROAD", "NARROW"), ("REL", "RELATED", "RELATED")],
)
def test_mesh_says_how_concepts_of_a_record_are_related(
    tmp_path: Path, first: str, relation: str, scope: str, the_other_way: str
) -> None:
    second = {"M0000001": "M0000002", "M0000002": "M0000001"}[first]
    text = (FIXTURES / "desc.xml").read_text()
    told = f'"{relation}"><Concept1UI>{first}</Concept1UI><Concept2UI>{second}</Concept2UI>'
    text = re.sub(r'(?<=RelationName=)"NRW".*?</Concept2UI>', told, text)
    (tmp_path / "desc.xml").write_text(text)
    aspirin, _ = read_vocabulary(tmp_path / "desc.xml")
    assert aspirin.scope_of("Acetysal") == (scope if first == "M0000001" else the_other_way)


def test_mesh_supplementary_records() -> None:
    assert list(read("supp.xml").values()) == [
        Concept(
            "MESH:C538288",
            "10p Deletion Syndrome (Partial)",
            ("Chromosome 10, 10p- Partial",),
            ("C",),
            "a rare chromosome abnormality & its signs",
            scopes=(
                ("10p Deletion Syndrome (Partial)", "PREFERRED"),
                ("Chromosome 10, 10p- Partial", "EXACT"),
            ),
        ),
        Concept(
            "MESH:C000006",
            "insulin, neutral",
            (),
            ("D",),
            scopes=(("insulin, neutral", "PREFERRED"),),
        ),
        Concept("MESH:C000588", "VAMP regimen", scopes=(("VAMP regimen", "PREFERRED"),)),
    ]


def test_mesh_xml_is_read_in_bounded_memory(tmp_path: Path) -> None:
    head, *records = re.split("(?=<SupplementalRecord[ >])", (FIXTURES / "supp.xml").read_text())
    terms = "".join(f"<Term><String>synonym {i}</String></Term>" for i in range(20))
    # All on one line: neither lines nor records may pile up.
    record = records[0].replace("<TermList>", f"<TermList>{terms}").replace("\n", " ")
    path = tmp_path / "big.xml"
    with path.open("w") as file:
        file.write(head)
        for i in range(2_000):
            file.write(record.replace("C538288", f"C{i:06}"))
        file.write("</SupplementalRecordSet>")
    assert path.stat().st_size > 2_500_000
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_vocabulary(path)) == 2_000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The identifiers that were seen stay, the records do not; as a tree they take 17 MB.
    assert peak < 2_000_000


def test_obo() -> None:
    report = VocabularyReport()
    assert list(read("ontology.obo", report=report).values()) == [
        Concept(
            "DOID:4",
            "disease",
            (),
            ("disease_ontology",),
            'A "disposition" to undergo pathological processes.',
            scopes=(("disease", "PREFERRED"),),
        ),
        Concept(
            "DOID:9351",
            "diabetes mellitus",
            ("diabetes", "sugar sickness", "metabolic syndrome, wide", "DM"),
            ("metabolic",),
            None,
            ("DOID:10", "DOID:100", "DOID:101"),
            scopes=(
                ("diabetes mellitus", "PREFERRED"),
                ("diabetes", "EXACT"),
                ("sugar sickness", "RELATED"),
                ("metabolic syndrome, wide", "BROAD"),
                # OBO's default
                ("DM", "RELATED"),
            ),
        ),
    ]
    assert report.skipped == {
        "obsolete terms": 5,
        "terms without a name": 1,
        "retired identifiers without one successor": 1,
        "retired identifiers whose successor is not here": 1,
    }
    for scopes in ("EXACT,NARROW", "exact, Narrow", ["Exact"]):
        assert read("ontology.obo", scopes=scopes)["DOID:9351"].aliases == ("diabetes",)
    assert read("ontology.obo", scopes="all") == read("ontology.obo")


def test_target_kb() -> None:
    report = VocabularyReport()
    assert list(read("target_kb.json", report=report).values()) == [
        Concept("MESH:D003920", "diabetes mellitus", ("diabetes",)),
        Concept("MESH:D003922", "iddm", ('say "ah" {}, [x]',), alternate_ids=("MESH:D003921",)),
        Concept("OMIM:222100", "näive"),
        Concept("73211009", "dm"),
    ]
    assert report.skipped == {"concepts without a name": 1}
    assert "SNOMEDCT:73211009" in read("target_kb.json", prefix="SNOMEDCT")


def test_target_kb_is_read_in_pieces(tmp_path: Path) -> None:
    """Entries across the pieces in which the file is read, and one longer than a piece."""
    table = {f"D{i:06}": [f"näme {i}", '\\"' * (i % 50)] for i in range(4_000)}
    table["D123456"] = [f"long {i}" for i in range(40_000)]
    path = tmp_path / "target_kb.json"
    for indent, ascii_only in ((None, True), (2, False)):
        path.write_text(json.dumps(table, indent=indent, ensure_ascii=ascii_only), encoding="utf-8")
        read_back = {c.concept_id[5:]: list(c.names) for c in read_vocabulary(path)}
        assert read_back == {key: list(filter(None, names)) for key, names in table.items()}


def test_umls() -> None:
    report = VocabularyReport()
    assert list(read("umls", report=report).values()) == [
        Concept(
            "UMLS:C0011849",
            "Diabetes Mellitus",
            ("Diabetes", "sugar diabetes"),
            ("T047",),
            "A group of disorders.",
            ("UMLS:C0000010", "UMLS:C0000011"),
            scopes=(("Diabetes Mellitus", "PREFERRED"),),
        ),
        Concept(
            "UMLS:C0004057",
            "Aspirin",
            (),
            ("T109", "T121"),
            scopes=(("Aspirin", "PREFERRED"),),
        ),
        Concept(
            "UMLS:C0024487",
            "Magnetic Resonance",
            (),
            ("T070",),
            scopes=(("Magnetic Resonance", "PREFERRED"),),
        ),
    ]
    assert report.skipped == {
        "names in other languages": 2,
        "names of other sources or suppressed": 1,
        "retired identifiers without one successor": 1,
        "retired identifiers whose successor is not here": 1,
    }


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"sources": ["MTH"]}, {"UMLS:C0024487": 1}),
        ({"sources": "MTH,CHV"}, {"UMLS:C0011849": 1, "UMLS:C0024487": 1}),
        ({"languages": "SPA"}, {"UMLS:C0011849": 1, "UMLS:C9999999": 1}),
        ({"types": ["T047"]}, {"UMLS:C0011849": 3}),
        ({"types": ["B2.2"]}, {"UMLS:C0011849": 3, "UMLS:C0024487": 1}),
        ({"types": ["A1.4.1.2.1"]}, {"UMLS:C0004057": 1}),
        (
            {"suppressed": True, "languages": None},
            {"UMLS:C0011849": 5, "UMLS:C0004057": 1, "UMLS:C0024487": 1, "UMLS:C9999999": 1},
        ),
        (
            {"suppressed": "yes", "languages": "all"},
            {"UMLS:C0011849": 5, "UMLS:C0004057": 1, "UMLS:C0024487": 1, "UMLS:C9999999": 1},
        ),
        (
            {"suppressed": "no", "sources": "All", "types": "all"},
            {"UMLS:C0011849": 3, "UMLS:C0004057": 1, "UMLS:C0024487": 1},
        ),
        ({"sources": "MTH, CHV,"}, {"UMLS:C0011849": 1, "UMLS:C0024487": 1}),
    ],
)
def test_umls_filters(options: dict[str, object], expected: dict[str, int]) -> None:
    concepts = read("umls", **options)
    assert {i: len(concept.names) for i, concept in concepts.items()} == expected


def test_umls_tells_what_it_suppresses(tmp_path: Path) -> None:
    row = "C0011849|ENG|S|L9|PF|S9|Y|A{}||||{}|SY|1|{}|0|{}||\n"
    rows = [("DM, old", "CHV", "N"), ("sugar", "CHV", "O"), ("sweet", "CHV", "E"), ("s.", "X", "Y")]
    more = "".join(row.format(i, sab, text, s) for i, (text, sab, s) in enumerate(rows))
    conso = (FIXTURES / "umls/MRCONSO.RRF").read_text().splitlines(keepends=True)
    (tmp_path / "MRCONSO.RRF").write_text("".join([*conso[:6], more, *conso[6:]]))
    concept, *_ = read_vocabulary(tmp_path, "umls", suppressed=True)
    assert dict(concept.scopes) == {
        "Diabetes Mellitus": "PREFERRED",
        # and not `DM, old`, which another source has as well
        "sugar": "OBSOLETE",
        "sweet": "SUPPRESSED",
        "s.": "SUPPRESSED",
    }


def test_umls_definition_follows_the_filters() -> None:
    assert read("umls", languages="SPA")["UMLS:C0011849"].definition == "Trastorno."
    assert read("umls", sources="CHV")["UMLS:C0011849"].definition is None
    assert read("umls", sources="SNOMEDCT_US", suppressed=True)["UMLS:C0011849"].definition == (
        "Suppressed."
    )


def test_umls_st21pv() -> None:
    assert len(ST21PV_TYPES) == 21
    assert len(ST21PV_SOURCES) == 18
    concepts = read("umls", "umls_st21pv")
    # Magnetic Resonance is a natural phenomenon, above Biologic Function. CHV is none of the 18,
    # but others of them have the concept.
    assert {i: concept.names for i, concept in concepts.items()} == {
        "UMLS:C0011849": ("Diabetes Mellitus", "Diabetes", "sugar diabetes"),
        "UMLS:C0004057": ("Aspirin",),
    }
    of_chv = read("umls", "umls", sources=frozenset({"CHV"}), all_names=True)
    assert list(of_chv) == ["UMLS:C0011849"]


def test_umls_files_may_be_few_or_gzipped(tmp_path: Path) -> None:
    meta = tmp_path / "META"
    meta.mkdir()
    conso = meta / "MRCONSO.RRF.gz"
    conso.write_bytes(gzip.compress((FIXTURES / "umls/MRCONSO.RRF").read_bytes()))
    for path in (tmp_path, meta, conso):
        assert infer_format(path) == "umls.v1"
        concepts = list(read_vocabulary(path))
        assert [c.concept_id[5:] for c in concepts] == ["C0011849", "C0004057", "C0024487"]
        assert all(not c.types and not c.alternate_ids for c in concepts)
    with pytest.raises(AngelError, match=r"typo: expected a folder with MRCONSO"):
        list(read_vocabulary(meta / "typo", "umls"))
    with pytest.raises(AngelError, match=r"expected a folder with MRSTY\.RRF"):
        list(read_vocabulary(tmp_path, types=["T047"]))


def test_snomed() -> None:
    report = VocabularyReport()
    assert list(read("snomed", report=report).values()) == [
        Concept(
            "SNOMEDCT:73211009",
            "Diabetes mellitus",
            ("DM - Diabetes mellitus",),
            ("disorder",),
            None,
            ("SNOMEDCT:11111111", "SNOMEDCT:22222222"),
        ),
        Concept(
            "SNOMEDCT:22298006",
            "Infarct (of heart)",
            (),
            ("disorder",),
            "Death of heart muscle.",
        ),
    ]
    assert report.skipped == {"inactive concepts": 2, "concepts without a name": 1}
    both = read("snomed", languages=["en", "es"])
    assert "diabetes sacarina" in both["SNOMEDCT:73211009"].aliases


def test_snomed_two_releases_in_one_folder(tmp_path: Path) -> None:
    for year in ("2020", "2021"):
        shutil.copytree(FIXTURES / "snomed", tmp_path / year)
    with pytest.raises(AngelError, match=r"2021.*line 2: rows of 73211009 must"):
        list(read_vocabulary(tmp_path))


def test_modifiers_and_comments_of_obo_take_no_time(tmp_path: Path) -> None:
    path = tmp_path / "x.obo"
    marks = '{source="a"} ' * 10**5
    path.write_text(f"[Term]\nid: X:1 {marks}! end\nname: one \\{{kept}} {marks}\n")
    began = process_time()
    (concept,) = read_vocabulary(path)
    assert (concept.concept_id, concept.names) == ("X:1", ("one {kept}",))
    assert process_time() - began < 2


def test_many_rows_of_one_concept_take_no_time(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_text("".join(f"X:1\tname {i}\n" for i in range(20_000)))
    began = process_time()
    (concept,) = read_vocabulary(path)
    assert len(concept.names) == 20_000
    assert process_time() - began < 2


def test_a_key_with_blanks_at_its_edges_is_the_same_key(tmp_path: Path) -> None:
    path = tmp_path / "target_kb.json"
    keys = {" D000001": ["one"], "D000001": ["uno", "one"], "D000002": ["two"], "D000003 ": ["3"]}
    path.write_text(json.dumps(keys))
    report = VocabularyReport()
    assert list(read_vocabulary(path, report=report)) == [
        Concept("MESH:D000001", "uno", ("one",)),
        Concept("MESH:D000002", "two"),
        Concept("MESH:D000003", "3"),
    ]
    assert report == VocabularyReport(concepts=3, names=4, merged=1)


@pytest.mark.parametrize(
    ("corpus", "counts"),
    [
        # Table A: 14,944 keys and 108,092 names, of which two keys and a name stand twice.
        ("ncbi", VocabularyReport(concepts=14942, names=108091, merged=2)),
        ("aap", VocabularyReport(concepts=1036, names=3398)),
    ],
)
def test_published_vocabularies(corpus: str, counts: VocabularyReport) -> None:
    report = VocabularyReport()
    path = shared_data(f"published/{corpus}/target_kb.json")
    concepts = list(read_vocabulary(path, report=report, twins=False))
    assert report == counts
    distinct = {frozenset(concept.names) for concept in concepts}
    assert sum(1 for _ in read_vocabulary(path)) == len(distinct) < len(concepts)


# What all have in common


def test_every_format_has_a_version_and_a_fixture() -> None:
    assert set(FORMATS) == set(FILES)
    assert all(re.fullmatch(r"\w+\.v\d+", name) for name in FORMATS)


@pytest.mark.parametrize("format", FILES)
def test_format_is_inferred(format: str, tmp_path: Path) -> None:
    path = FIXTURES / FILES[format]
    expected = "umls.v1" if format == "umls_st21pv.v1" else format
    assert infer_format(path) == expected
    assert list(read_vocabulary(path)) == list(read_vocabulary(path, expected.split(".")[0]))
    if path.is_file():
        zipped = tmp_path / "vocabulary"
        zipped.write_bytes(gzip.compress(path.read_bytes()))
        assert infer_format(zipped) == format
        assert list(read_vocabulary(zipped)) == list(read_vocabulary(path))


@pytest.mark.parametrize(
    "content",
    [
        b"%PDF-1.5\n\xe2\xe3",
        b"a,b\n1,one\n",
        b"<html></html>",
        b"PK\x03\x04",
        b"[1, 2]",
    ],
)
def test_format_that_is_not_known(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(AngelError, match=r"file looks like no known vocabulary format.*obo\.v1"):
        infer_format(path)
    with pytest.raises(AngelError, match="no known vocabulary format"):
        infer_format(tmp_path)


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "file is empty; a vocabulary was expected"),
        (b"\n \n", "file is empty; a vocabulary was expected"),
        (b"\xff\xfe" + "D1\tone\n".encode("utf-16-le"), "file is UTF-16. Convert it to UTF-8"),
        (b"\xfe\xff" + "D1\tone\n".encode("utf-16-be"), "file is UTF-16. Convert it to UTF-8"),
    ],
)
def test_empty_and_utf_16_files_are_named_as_such(
    content: bytes, message: str, zipped: bool, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_bytes(gzip.compress(content) if zipped else content)
    with pytest.raises(AngelError, match=message):
        infer_format(path)


def test_wrong_arguments(tmp_path: Path) -> None:
    with pytest.raises(AngelError, match=r"There is no vocabulary format 'owl'.*umls_st21pv\.v1"):
        read_vocabulary(FIXTURES / "medic.txt", "owl")
    with pytest.raises(AngelError, match=r"medic\.v1 has no option prefix\. Its options: none"):
        read_vocabulary(FIXTURES / "medic.txt", "medic", prefix="X")
    with pytest.raises(AngelError, match=r"no option source\. Its options: sources, languages"):
        read_vocabulary(FIXTURES / "umls", source="MSH")
    for name, options, message in (
        ("umls", {"suppressed": "maybe"}, "true, false, yes or no; it is 'maybe'"),
        ("umls", {"sources": True}, "a valid frozenset; it is True"),
        ("table.tsv", {"prefix": True}, "a valid string; it is True"),
        ("table.tsv", {"tree_numbers": 5}, "a valid string; it is 5"),
        (
            "ontology.obo",
            {"scopes": "exact,close"},
            "'EXACT', 'NARROW', 'BROAD' or 'RELATED'; it is 'CLOSE'",
        ),
    ):
        start = rf"The option {next(iter(options))} of the format \w+\.v1 must be "
        with pytest.raises(AngelError, match=start + re.escape(message)):
            read_vocabulary(FIXTURES / name, **options)
    for path in (tmp_path / "nothing", tmp_path):
        with pytest.raises(AngelError, match=f"{re.escape(str(path))} cannot be read: "):
            list(read_vocabulary(path, "medic"))
    for format in ("umls", "snomed"):
        with pytest.raises(AngelError, match="expected a folder with"):
            list(read_vocabulary(tmp_path, format))


def test_neighbouring_rows_are_merged_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"
    path.write_text("D000001\tone\tuno\nD000001\teins\nD000002\ttwo\n")
    report = VocabularyReport()
    assert list(read_vocabulary(path, report=report)) == [
        Concept("MESH:D000001", "one", ("uno", "eins")),
        Concept("MESH:D000002", "two"),
    ]
    assert report == VocabularyReport(concepts=2, names=4, merged=1)


def test_twins_of_a_target_kb_are_one_concept(tmp_path: Path) -> None:
    content = """{"D000001": ["one", "eins"], "D000002": ["two"], "125700": ["eins", "one"],
 "125701": ["one"], "125702|D000002": ["one", "eins"]}"""
    path = tmp_path / "target_kb.json"
    path.write_text(content)
    report = VocabularyReport()
    assert list(read_vocabulary(path, report=report)) == [
        Concept(
            "MESH:D000001", "one", ("eins",), alternate_ids=("125700", "125702", "MESH:D000002")
        ),
        Concept("MESH:D000002", "two"),
        Concept("125701", "one"),
    ]
    assert (report.concepts, report.merged) == (3, 2)
    assert len(list(read_vocabulary(path, twins=False))) == 5


@pytest.mark.parametrize(
    ("format", "content"),
    [
        ("table", "D000001\tone\nD000002\ttwo\nD000001\teins\n"),
        ("medic", "D000001||one\nD000002||two\nD000001||eins\n"),
        ("target_kb", '{"D000001": ["one"],\n "D000002": ["two"],\n "D000001": ["eins"]}'),
        (
            "scispacy",
            "".join(f'{{"concept_id": "D00000{i}", "canonical_name": "x"}}\n' for i in (1, 2, 1)),
        ),
    ],
)
def test_rows_of_one_concept_far_apart_are_refused(
    format: str, content: str, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_text(content)
    with pytest.raises(AngelError, match=r"file, line 3: rows of MESH:D000001 must"):
        list(read_vocabulary(path, format))


CTD_HEAD = (FIXTURES / "ctd_chemicals.tsv").read_text().split("Aspirin")[0]


@pytest.mark.parametrize(
    ("format", "content", "message"),
    [
        ("medic", "D000001||one\nD000002|two\n", r"line 2: expected `id\|alternate ids\|\|name"),
        ("medic", "D000001||one\nX1||two\n", "line 2: expected an identifier of OMIM"),
        ("medic", "D000001||one\n||two\n", "line 2: expected an identifier of OMIM"),
        ("medic", "D000001||\n", "line 1: expected a name for MESH:D000001, found ''"),
        ("ctd", "Aspirin\tMESH:D001241\n", "line 1: expected CTD's column names"),
        ("ctd", CTD_HEAD + "Aspirin\tMESH:D001241\n", "line 4: expected 8 columns"),
        ("ctd", CTD_HEAD + "Aspirin\tMESH:D1\t\t\t\t7\t\t\n", "line 4: expected MeSH tree"),
        ("ctd", CTD_HEAD.replace("CasRN", "Synonyms"), "line 2: expected different names"),
        ("ctd", CTD_HEAD, "line 1: no concepts found"),
        ("table", "D000001\tone\nD000002\n", "line 2: expected two or three columns"),
        ("table", "D000001\t \tuno\n", "line 1: expected a name"),
        ("table", "D1+D2\tone\n", "line 1: expected an identifier without spaces"),
        ("table", "D000001\tone\n\t\tthree\n", "line 2: expected an identifier without spaces"),
        ("scispacy", '{"concept_id": "C1"\n', "line 1: expected one JSON object a line"),
        ("scispacy", '{"canonical_name": "a"}', "line 1: .* with `concept_id`"),
        ("scispacy", "[" * 100_000, "line 1: expected one JSON object a line"),
        (
            "scispacy",
            '{"concept_id": 7, "canonical_name": "a"}',
            "line 1: expected a string, found 7",
        ),
        (
            "scispacy",
            '{"concept_id": "C1", "canonical_name": "a", "aliases": "abc"}',
            "line 1: expected a list of strings, found 'abc'",
        ),
        (
            "scispacy",
            '{"concept_id": "C1", "canonical_name": "\\ud800"}',
            "line 1: expected a string of whole characters",
        ),
        ("target_kb", '{"D000001": ["one"],\n "D000002": ["tw', "line 2: the JSON is broken"),
        ("target_kb", '{"D000001": ["one"]}\n{"D2": []}', "line 2: .*nothing was expected after"),
        ("target_kb", '["D000001"]', "line 1: .*'{' was expected"),
        ("target_kb", '{"D000001": {"name": "one"}}', "line 1: expected a list of strings"),
        ("target_kb", '{"D000001": ' + "[" * 100_000, "line 1: .*nested deeper than 100 levels"),
        ("target_kb", "{}", "line 1: no concepts found"),
        (
            "obo",
            "format-version: 1.2\n\n[Term]\nname: x\n",
            "line 3: expected a term with an `id:`",
        ),
        ("obo", '[Term]\nid: X:1\nname: x\nsynonym: "cut', "line 4: expected a text in quotes"),
        ("obo", "[Term]\nid: X:1\nnonsense\n", "line 3: expected `tag: value`"),
        ("mesh_xml", "<DescriptorRecordSet>\n<DescriptorRecord>", "line 2: the XML is broken"),
        ("mesh_xml", "<html/>", "line 1: .* begin with `<DescriptorRecordSet>`"),
        (
            "mesh_xml",
            "<DescriptorRecordSet>\n<DescriptorRecord/>\n</DescriptorRecordSet>",
            "line [23]: expected an identifier",
        ),
        ("mesh_xml", '<?xml version="1.0" encoding="utf-7x"?><a/>', "line 1: the XML is broken"),
        ("mesh_xml", '<?xml version="1.0" encoding="euc-jp"?><a/>', "line 1: the XML is broken"),
    ],
)
def test_bad_lines_are_named(format: str, content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(content)
    with pytest.raises(AngelError, match=rf"(?s)file, {message}"):
        list(read_vocabulary(path, format))


@pytest.mark.parametrize("format", [f for f in FILES if "." in FILES[f]])
def test_empty_cut_and_wrongly_encoded_files(format: str, tmp_path: Path) -> None:
    content = (FIXTURES / FILES[format]).read_bytes()
    path = tmp_path / "file"

    def fails(data: bytes) -> str:
        path.write_bytes(data)
        with pytest.raises(AngelError) as caught:
            list(read_vocabulary(path, format))
        message = str(caught.value)
        assert re.search(r"file, line \d+: ", message)
        return message

    fails(b"")
    assert "the file is cut or damaged" in fails(gzip.compress(content)[:-9])
    zipped = bytearray(gzip.compress(content))
    zipped[-6] ^= 0xFF  # in the checksum
    assert "the file is cut or damaged" in fails(bytes(zipped))
    fails(content + b"\n\xe4\xf6\xfc")
    if format not in ("mesh_xml.v1", "orphadata.v1"):  # XML may be in any encoding that it names
        assert "byte 0xff" in fails(b"\xff" + content)
        # UTF-16 without its mark is UTF-8 with NULs.
        fails(content.decode().encode("utf-16-le"))


@pytest.mark.parametrize("format", ["table.v1", "ctd.v1", "medic.v1", "obo.v1"])
def test_a_last_line_without_line_break_may_be_cut(format: str, tmp_path: Path) -> None:
    content = (FIXTURES / FILES[format]).read_bytes().rstrip(b"\n")
    path = tmp_path / "file"
    for data in (content, gzip.compress(content)):
        path.write_bytes(data)
        n_lines = content.count(b"\n") + 1
        with pytest.warns(UserWarning, match=rf"file, line {n_lines}: .*may be cut"):
            concepts = list(read_vocabulary(path, format))
        assert concepts == list(read_vocabulary(FIXTURES / FILES[format], format))


@pytest.mark.parametrize("name", ["umls/MRSTY.RRF", "snomed/**/sct2_Description_Snapshot*"])
def test_a_cut_file_of_a_folder_is_named(name: str, tmp_path: Path) -> None:
    shutil.copytree(FIXTURES, tmp_path / "all")
    (path,) = (tmp_path / "all").glob(name)
    path.write_bytes(path.read_bytes().rstrip(b"\r\n"))
    with pytest.warns(UserWarning, match=rf"{re.escape(path.name)}, line \d+: .*may be cut"):
        list(read_vocabulary(tmp_path / "all" / name.split("/")[0]))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("format", FILES)
def test_whole_files_and_json_give_no_warning(format: str, tmp_path: Path) -> None:
    path = FIXTURES / FILES[format]
    assert list(read_vocabulary(path, format))
    if format in ("scispacy.v1", "target_kb.v1"):
        (tmp_path / "file").write_bytes(path.read_bytes().rstrip(b"\n"))
        assert list(read_vocabulary(tmp_path / "file", format))


@pytest.mark.parametrize(
    "name",
    [
        "umls/MRCONSO.RRF",
        "umls/MRSTY.RRF",
        "umls/MRDEF.RRF",
        "umls/MRCUI.RRF",
        *(str(p.relative_to(FIXTURES)) for p in sorted((FIXTURES / "snomed").rglob("*.txt"))),
    ],
)
def test_every_file_of_a_folder_is_checked(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "release"
    shutil.copytree(FIXTURES / name.split("/")[0], folder)
    path = folder / name.partition("/")[2]
    content = path.read_text(encoding="utf-8")
    n_lines = content.count("\n")
    # Cut in its last line: in the middle of the first columns.
    cut = content.rstrip("\n").rsplit("\n", 1)[0] + "\n" + content.splitlines()[-1][:12]
    path.write_text(cut, encoding="utf-8")
    with pytest.raises(AngelError, match=rf"{re.escape(path.name)}, line {n_lines}: expected"):
        list(read_vocabulary(folder))
    path.write_bytes(content.encode() + b"\xff")
    with pytest.raises(AngelError, match=rf"{re.escape(path.name)}, line {n_lines + 1}: .*0xff"):
        list(read_vocabulary(folder))


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize(
    "content", [b"\x1f\x8b", b'{"a": 1e999999}', b'{"a": ' + b"9" * 5000 + b"}", b"\xef\xbb"]
)
def test_files_that_are_next_to_nothing(content: bytes, zipped: bool, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(gzip.compress(content) if zipped else content)
    for format in (None, *(name for name in FILES if "." in FILES[name])):
        with suppress(AngelError):
            list(read_vocabulary(path, format))


# The public vocabularies, with the counts of their readme


def read_public(relative: str, **options: object) -> tuple[list[Concept], VocabularyReport]:
    report = VocabularyReport()
    concepts = list(read_vocabulary(shared_data(relative), report=report, **options))
    return concepts, report


def test_medic_2012_has_every_gold_identifier_of_ncbi_disease() -> None:
    concepts, report = read_public("medic/medic_06Jul2012.txt")
    # OMIM:260350 is a concept and an alternate of another one: 11,915 + 3,028 - 1.
    ids = all_ids(concepts)
    assert (report.concepts, len(ids), report.names) == (11_915, 14_942, 76_237)
    gold = {
        normalize_id(code, "MESH")
        for split in ("train", "develop")
        for line in shared_data(f"ncbi-disease/NCBI{split}set_corpus.txt").read_text().splitlines()
        if line.count("\t") == 5
        for code in re.split(r"[|+]", line.split("\t")[5])
    }
    assert len(gold) == 695
    assert gold <= ids


def test_ctd_diseases_2017() -> None:
    concepts, report = read_public("medic/CTD_diseases_2017-06.tsv.gz")
    ids = all_ids(concepts)
    assert (report.concepts, len(ids), report.names) == (11_865, 18_455, 77_994)
    assert {i.partition(":")[0] for i in ids} == {"MESH", "OMIM", "DOID"}
    assert all("C" in concept.types or "F" in concept.types for concept in concepts)


def test_mesh_2019() -> None:
    concepts, report = read_public(
        "mesh/mesh_2019_descriptors.tsv",
        tree_numbers=shared_data("mesh/mesh_2015_tree_numbers.tsv"),
    )
    # D005175 lists one of its synonyms twice; both are counted.
    assert (report.concepts, report.names) == (29_351, 153_253)
    assert report.names - sum(len(set(concept.names)) for concept in concepts) == 1
    types = {concept.concept_id: concept.types for concept in concepts}
    assert types["MESH:D003920"] == ("C", "C18", "C19")


def test_doid() -> None:
    concepts, report = read_public("doid/doid.obo")
    # Each live term has one name more than it has synonyms.
    assert (report.concepts, report.names - report.concepts) == (6_971, 12_020)
    assert report.skipped == {"obsolete terms": 2_373}
    assert all(concept.concept_id.startswith("DOID:") for concept in concepts)
