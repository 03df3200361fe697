"""Readers of vocabularies, on small files in the true formats and on the public ones."""

import gzip
import json
import re
import shutil

import pytest
import yaml
from files.test_fuzz import SEEDS
from support.helpers import ROOT, shared_data

from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.sources.formats.records import VocabularyReport
from spacy_angel.vocabulary.sources.formats.registry import FORMATS, read_vocabulary

FIXTURES = ROOT / "tests/fixtures/vocabularies"
# Format → the fixture that it is tried on.
FILES = {name: seeds[0] for name, seeds in SEEDS["vocabulary"].items()}


def read(name, format=None, **options):
    concepts = list(read_vocabulary(FIXTURES / name, format, **options))
    by_id = {concept.concept_id: concept for concept in concepts}
    assert len(by_id) == len(concepts)
    return by_id


def shown(concept):
    """RETURNS (str): `identifier: names and ~scopes [types]`, = other identifiers, < parents, and
    the definition, each in a line if there are any."""
    names = " | ".join(
        f"{name} ~{scope}" if (scope := concept.scope_of(name)) else name for name in concept.names
    )
    types = f" [{', '.join(concept.types)}]" if concept.types else ""
    text = f"{concept.concept_id}: {names}{types}\n"
    for mark, values in (("=", concept.alternate_ids), ("<", concept.parents)):
        text += f"  {mark} {', '.join(values)}\n" if values else ""
    return text + (f"  {concept.definition}\n" if concept.definition else "")


# Each format


# Fixture → its concepts
CONCEPTS = {
    "medic.txt": """\
MESH:C538288: 10p deletion | Chromosome 10p deletion [C]
MESH:C567755: Tooth Agenesis, Selective, 6 | STHAG6 [C]
  = OMIM:613097
OMIM:222100: DIABETES MELLITUS, INSULIN-DEPENDENT; IDDM | IDDM [C]
  = MESH:D003922, OMIM:125852
MESH:C: Diseases [C]
OMIM:260350: PANCREATIC CANCER [C]
""",
    "ctd_diseases.tsv": """\
MESH:C: Diseases [C]
MESH:D003922: Diabetes Mellitus, Type 1 | IDDM | Juvenile-Onset Diabetes [C, C18, C20]
  = DOID:9744, OMIM:222100
  < MESH:D003920
  Loss of the cells that make insulin.
MESH:C537907: Barakat syndrome [C, C12, F, F03]
  = OMIM:146255
  < MESH:D007674
""",
    "ctd_chemicals.tsv": """\
MESH:D001241: Aspirin | Acetylsalicylic Acid | 2-(Acetyloxy)benzoic Acid [D, D02]
  < MESH:D012459
  An analgesic.
MESH:C513428: 0231A [D, D02]
  < MESH:D001549
""",
    "desc.xml": """\
MESH:D001241: Aspirin ~PREFERRED | Acetysal ~NARROW | Acid, Acetylsalicylic ~EXACT [D, D02, T109]
  An analgesic with several uses.
MESH:D003920: Diabetes Mellitus ~PREFERRED [C, C18, C19]
""",
    "supp.xml": """\
MESH:C538288: 10p Deletion Syndrome (Partial) ~PREFERRED | Chromosome 10, 10p- Partial ~EXACT [C]
  a rare chromosome abnormality & its signs
MESH:C000006: insulin, neutral ~PREFERRED [D]
MESH:C000588: VAMP regimen ~PREFERRED
""",
    "ontology.obo": """\
DOID:4: disease ~PREFERRED [disease_ontology]
  A "disposition" to undergo pathological processes.
DOID:9351: diabetes mellitus ~PREFERRED | diabetes ~EXACT | sugar sickness ~RELATED | metabolic syndrome, wide ~BROAD | DM ~RELATED [metabolic]
  = DOID:10, DOID:100, DOID:101
  < DOID:4
""",  # noqa: E501
    "snomed": """\
SNOMEDCT:73211009: Diabetes mellitus | DM - Diabetes mellitus [disorder]
  = SNOMEDCT:11111111, SNOMEDCT:22222222
SNOMEDCT:22298006: Infarct (of heart) [disorder]
  < SNOMEDCT:73211009
  Death of heart muscle.
""",
    "gene_info.tsv": """\
NCBIGene:2: A2M | alpha-2-macroglobulin | A2MD | CPAMD5 | alpha-2-M [NCBITaxon:9606, protein-coding]
  = HGNC:7, ENSEMBL:ENSG00000175899
NCBIGene:11287: Pzp | PZP like | A1m [NCBITaxon:10090, protein-coding]
  = MGI:87854
""",
    "taxonomy": """\
NCBITaxon:1: root | all [no rank]
NCBITaxon:9606: Homo sapiens | human [species]
  = NCBITaxon:12
  < NCBITaxon:9605
""",
    "hgnc.txt": """\
HGNC:5: A1BG | alpha-1-B glycoprotein | A1B | GAB [protein-coding gene]
  = NCBIGene:1, ENSEMBL:ENSG00000121410
""",
    "drugbank.csv": """\
DRUGBANK:DB00001: Lepirudin | [Leu1, Thr2]-63-desulfohirudin | Hirudin
  = DRUGBANK:BTD00024, DRUGBANK:BIOD00024, CAS:138068-37-8, UNII:Y43GF64R34
DRUGBANK:DB00002: Cetuximab
""",
    "icd10cm_order.txt": """\
ICD10CM:A00: Cholera [header]
ICD10CM:A00.0: Cholera due to Vibrio cholerae 01, biovar cholerae [code]
  < ICD10CM:A00
ICD10CM:S72.001A: Fracture of unspecified part of neck of right femur, initial encounter for closed fracture | Fracture of unsp part of neck of right femur, init [code]
""",  # noqa: E501
    "RXNCONSO.RRF": """\
RXNORM:1191: aspirin | acetylsalicylic acid [IN]
RXNORM:215770: Arthritis Foundation Aspirin [BN]
""",
    "umls": """\
UMLS:C0011849: Diabetes Mellitus ~PREFERRED | Diabetes | sugar diabetes [T047]
  = UMLS:C0000010, UMLS:C0000011
  < UMLS:C0004057, UMLS:C0024487
  A group of disorders.
UMLS:C0004057: Aspirin ~PREFERRED [T109, T121]
UMLS:C0024487: Magnetic Resonance ~PREFERRED [T070]
""",
    "obographs.json": """\
HP:0000118: Phenotypic abnormality ~PREFERRED
HP:0001250: Seizure ~PREFERRED | Epileptic seizure ~EXACT | Fits ~RELATED [human_phenotype]
  = HP:0001303, HP:0002279
  < HP:0000118
  A sudden discharge of neurons.
""",
    "code_system.json": """\
Wounds:wound: Wound ~PREFERRED
  Damaged skin.
Wounds:burn: Burn ~PREFERRED | Thermal injury | Scald
  < Wounds:wound
Wounds:bite: Bite ~PREFERRED
  = Wounds:sting
  < Wounds:wound
""",
    "scispacy.jsonl": """\
UMLS:C0011849: Diabetes Mellitus | Diabetes | diabetes mellitus (DM) [T047]
  A disorder of glucose regulation.
MESH:D003920: Diabetes Mellitus
GO:0008150: biological_process | physiological process [biological_process]
UMLS:C0000001: naïve T‐cell 🧬 [T025]
  = UMLS:C0000002
""",
    "omop": """\
OMOP:321588: Heart disease [Condition]
  = SNOMEDCT:56265001
OMOP:4329847: Myocardial infarction | Heart attack | Myocardial infarction (disorder) [Condition]
  = SNOMEDCT:22298006, OMOP:312327
  < OMOP:321588
OMOP:44832372: Old infarct [Condition]
  = ICD9CM:410
""",
    "thesaurus.ttl": """\
agro:c_1: plants ~PREFERRED
agro:c_2: maize ~PREFERRED | corn ~EXACT | maiz ~RELATED
  < agro:c_1
  A cereal.
""",
    "target_kb.json": """\
MESH:D003920: diabetes mellitus | diabetes
MESH:D003922: iddm | say "ah" {}, [x]
  = MESH:D003921
OMIM:222100: näive
73211009: dm
""",
    "table.tsv": """\
MESH:D000001: Calcimycin
MESH:D003920: Diabetes Mellitus | Diabetes | Diabetes
UMLS:C0011849: Diabetes
X-1: local term | näme
""",
    "table.csv": """\
MESH:D000001: Calcimycin | A-23187 | Antibiotic A23187 [Chemical]
  An ionophore, from Streptomyces.
MY:2: Snark "fever" [Disease, Finding]
""",
}
CONCEPTS["ontology.owl"] = CONCEPTS["obographs.json"]
# Fixture → what is skipped
SKIPPED = {
    "omop": {"invalid concepts": 1},
    "target_kb.json": {"concepts without a name": 1},
    "scispacy.jsonl": {"concepts without a name": 1},
    "obographs.json": {"obsolete terms": 1},
    "ontology.owl": {"obsolete terms": 1},
    "code_system.json": {"obsolete terms": 1, "concepts without a name": 1},
    "ontology.obo": {
        "obsolete terms": 5,
        "concepts without a name": 1,
        "retired identifiers without one successor": 1,
        "retired identifiers whose successor is not here": 1,
    },
    "snomed": {"inactive concepts": 2, "concepts without a name": 1},
    "gene_info.tsv": {"placeholders of new genes": 1, "genes of other kinds": 1},
    "taxonomy": {"retired identifiers whose successor is not here": 1},
    "hgnc.txt": {"withdrawn entries": 1},
    "RXNCONSO.RRF": {
        "concepts without a name of RxNorm's own": 1,
        "suppressed names": 1,
    },
    "umls": {
        "names in other languages": 2,
        "names of other sources or suppressed": 1,
        "retired identifiers without one successor": 1,
        "retired identifiers whose successor is not here": 1,
    },
}


@pytest.mark.parametrize("name", CONCEPTS)
def test_concepts_of_each_format(name):
    if name.endswith((".owl", ".ttl")):
        pytest.importorskip("rdflib")
    report = VocabularyReport()
    concepts = read(name, report=report).values()
    assert "".join(map(shown, concepts)) == CONCEPTS[name]
    assert report.skipped == SKIPPED.get(name, {})


def test_tree_numbers():
    concepts = read("table.tsv", tree_numbers=FIXTURES / "tree_numbers.tsv")
    assert [c.types for c in concepts.values()] == [("D", "D03"), ("C", "C18", "C19"), (), ()]


@pytest.mark.parametrize(
    ("name", "options", "ids"),
    [
        (
            "scispacy.jsonl",
            {"prefix": "MINE"},
            "MINE:C0011849 MINE:D003920 GO:0008150 MINE:C0000001",
        ),
        ("table.tsv", {"prefix": "ICD"}, "ICD:D000001 ICD:D003920 ICD:C0011849 ICD:X-1"),
        (
            "target_kb.json",
            {"prefix": "SNOMEDCT"},
            "SNOMEDCT:D003920 SNOMEDCT:D003922 OMIM:222100 SNOMEDCT:73211009",
        ),
        ("gene_info.tsv", {"taxa": "10090"}, "NCBIGene:11287"),
        ("gene_info.tsv", {"kinds": "biological-region"}, "NCBIGene:110"),
        ("omop", {"standard": "yes"}, "OMOP:321588 OMOP:4329847"),
    ],
)
def test_options(name, options, ids):
    assert " ".join(read(name, **options)) == ids


def test_obo_options():
    for scopes in ("EXACT,NARROW", ["EXACT"]):
        assert read("ontology.obo", scopes=scopes)["DOID:9351"].aliases == ("diabetes",)
    assert read("ontology.obo", scopes="all") == read("ontology.obo")


def _with_tags(old):
    synonym = 'exact_synonym: "podagra" []' if old else 'synonym: "podagra" EXACT []'
    replaced_by, xref = ("use_term", "xref_analog") if old else ("replaced_by", "xref")
    return f"""format-version: 1.{"0" if old else "4"}
[Term]
id: X:4
name: gout
{synonym}
{xref}: MESH:D006073

[Term]
id: X:5
name: old gout
is_obsolete: true
{replaced_by}: X:4
"""


@pytest.mark.parametrize("old", [True, False])
def test_obo_of_any_version(old, tmp_path):
    (tmp_path / "x.obo").write_text(_with_tags(old))
    (gout,) = read_vocabulary(tmp_path / "x.obo", xrefs="all")
    assert gout.scopes == (("gout", "PREFERRED"), ("podagra", "EXACT"))
    assert gout.alternate_ids == ("MESH:D006073", "X:5")


@pytest.mark.parametrize(
    ("value", "name", "scope"),
    [
        (r""" "3,3',3"-acid" EXACT IUPAC_NAME [IUPAC:]""", "3,3',3\"-acid", "EXACT"),
        (r""" "tail quote 5"" NARROW []""", 'tail quote 5"', "NARROW"),
        (r""" "a \"b\"" [x:y "EXACT"] {source="z"}""", 'a "b"', "RELATED"),
        (r""" "a" BROAD LAY [PMID:1 "a note"] ! comment""", "a", "BROAD"),
        (r""" "HPV16 L2\\E6" EXACT""", r"HPV16 L2\E6", "EXACT"),
        (r""" "P\{x}\, y" []""", "P{x}, y", "RELATED"),
    ],
)
def test_quotes_in_obo(value, name, scope, tmp_path):
    (tmp_path / "x.obo").write_text(f"[Term]\nid: X:1\nname: x\nsynonym: {value}\n")
    (concept,) = read_vocabulary(tmp_path / "x.obo")
    assert concept.scopes[1:] == ((name, scope),)


def test_languages():
    both = read("snomed", languages=["en", "es"])
    assert "diabetes sacarina" in both["SNOMEDCT:73211009"].aliases
    pytest.importorskip("rdflib")
    assert read("thesaurus.ttl", languages="fr")["agro:c_1"].names == ("plantes",)


def test_fhir(tmp_path):
    codes = [{"code": "22298006", "display": "Myocardial infarction"}]
    system = {"system": "http://snomed.info/sct"}
    for content in (
        {"compose": {"include": [{**system, "concept": codes}]}},
        {"expansion": {"contains": [{**system, **codes[0]}]}},
    ):
        (tmp_path / "x.json").write_text(json.dumps({"resourceType": "ValueSet", **content}))
        (concept,) = read_vocabulary(tmp_path / "x.json")
        assert (concept.concept_id, concept.names) == (
            "SNOMEDCT:22298006",
            ("Myocardial infarction",),
        )


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"sources": "MTH, CHV,"}, {"UMLS:C0011849": 1, "UMLS:C0024487": 1}),
        ({"languages": "SPA"}, {"UMLS:C0011849": 1, "UMLS:C9999999": 1}),
        ({"types": ["T047"]}, {"UMLS:C0011849": 3}),
        ({"types": ["B2.2"]}, {"UMLS:C0011849": 3, "UMLS:C0024487": 1}),
        ({"types": ["A1.4.1.2.1"]}, {"UMLS:C0004057": 1}),
        (
            {"languages": "all"},
            {"UMLS:C0011849": 4, "UMLS:C0004057": 1, "UMLS:C0024487": 1, "UMLS:C9999999": 1},
        ),
    ],
)
def test_umls_filters(options, expected):
    concepts = read("umls", **options)
    assert {i: len(concept.names) for i, concept in concepts.items()} == expected


def test_umls_with_all_names_of_the_concepts_of_a_source():
    step = yaml.safe_load((ROOT / "configs/datasets.yml").read_text("utf8"))["mm_st21pv"]
    concepts = read("umls", **step["vocabulary"][0][0]["options"])
    # Magnetic Resonance is a natural phenomenon, above Biologic Function. CHV is none of the 18,
    # but others of them have the concept.
    assert {i: concept.names for i, concept in concepts.items()} == {
        "UMLS:C0011849": ("Diabetes Mellitus", "Diabetes", "sugar diabetes"),
        "UMLS:C0004057": ("Aspirin",),
    }
    of_chv = read("umls", sources=frozenset({"CHV"}), all_names=True)
    assert list(of_chv) == ["UMLS:C0011849"]


@pytest.mark.parametrize("edition", ["_UKCLSnapshot_GB1000000", "_Snapshot_US1000124"])
def test_editions_of_snomed(edition, tmp_path):
    """Another edition beside the international one has its own file names, and newer rows."""
    shutil.copytree(FIXTURES / "snomed", tmp_path / "INT")
    files = {
        "Concept": "id\teffectiveTime\tactive\tmoduleId\tdefinitionStatusId\n"
        "73211009\t20240101\t0\tm\td\n22298006\t20240101\t1\tm\td\n",
        "Description": "id\teffectiveTime\tactive\tmoduleId\tconceptId\tlanguageCode\ttypeId"
        "\tterm\n"
        "9000000\t20240101\t1\tm\t22298006\ten\t900000000000013009\tHeart attack\n",
    }
    for kind, text in files.items():
        (tmp_path / f"xsct2_{kind}{edition}_20240101.txt").write_text(text)
    (concept,) = read_vocabulary(tmp_path)
    assert concept.names == ("Infarct (of heart)", "Heart attack")


@pytest.mark.parametrize("cut", [0.3, 0.5, 1])
def test_umls_in_parts(cut, tmp_path):
    """Large files come in parts, which may end within a row."""
    for file in (FIXTURES / "umls").iterdir():
        data = file.read_bytes()
        end = int(cut * data.index(b"\n")) + 1
        (tmp_path / f"{file.name}.aa").write_bytes(data[:end])
        (tmp_path / f"{file.name}.ab.gz").write_bytes(gzip.compress(data[end:]))
    assert list(read_vocabulary(tmp_path)) == list(read_vocabulary(FIXTURES / "umls"))


def test_terms_of_other_ontologies_and_references(tmp_path):
    path = tmp_path / "mondo.obo"
    path.write_text("""\
[Term]
id: MONDO:0005148
name: type 2 diabetes mellitus
xref: DOID:9352 {source="MONDO:equivalentTo"}
xref: MESH:D003924
xref: http://identifiers.org/x

[Term]
id: HP:0000118
name: Phenotypic abnormality
""")
    report = VocabularyReport()
    (concept,) = read_vocabulary(path, report=report, prefixes="MONDO", xrefs="MESH,DOID")
    assert concept.alternate_ids == ("DOID:9352", "MESH:D003924")
    assert report.skipped == {"terms of other ontologies": 1}
    assert [c.alternate_ids for c in read_vocabulary(path)] == [(), ()]


# What all have in common


@pytest.mark.parametrize("format", FILES)
def test_format_is_inferred(format, tmp_path):
    path = FIXTURES / FILES[format]
    assert FORMATS.of(path).name == format
    assert list(read_vocabulary(path)) == list(read_vocabulary(path, format.split(".")[0]))
    if path.is_file():
        zipped = tmp_path / "vocabulary"
        zipped.write_bytes(gzip.compress(path.read_bytes()))
        assert FORMATS.of(zipped).name == format
        assert list(read_vocabulary(zipped)) == list(read_vocabulary(path))


def test_wrong_arguments(tmp_path):
    with pytest.raises(AngelError, match=r"There is no vocabulary format 'owl'.*umls\.v1"):
        read_vocabulary(FIXTURES / "medic.txt", "owl")
    with pytest.raises(AngelError, match=r"no option source\. Its options: sources, languages"):
        read_vocabulary(FIXTURES / "umls", source="MSH")
    for name, options, message in (
        ("umls", {"all_names": "maybe"}, "true, false, yes or no, not 'maybe'"),
        ("gene_info.tsv", {"taxa": "human"}, "a valid integer"),
        ("table.tsv", {"tree_numbers": 5}, "a valid string, not 5"),
        ("ontology.obo", {"scopes": "CLOSE"}, "'EXACT', 'NARROW', 'BROAD' or 'RELATED', not"),
    ):
        start = rf"The option {next(iter(options))} of the format \w+\.v1 must be "
        with pytest.raises(AngelError, match=start + re.escape(message)):
            read_vocabulary(FIXTURES / name, **options)
    for format in ("umls", "snomed", "omop"):
        with pytest.raises(AngelError, match="expected a folder with"):
            list(read_vocabulary(tmp_path, format))


DRUGBANK, HGNC = ((FIXTURES / name).read_text() for name in ("drugbank.csv", "hgnc.txt"))
CTD_HEAD = (FIXTURES / "ctd_chemicals.tsv").read_text().split("Aspirin")[0]


@pytest.mark.parametrize(
    ("format", "content", "message"),
    [
        ("medic", "D000001||one\nD000002|two\n", r"line 2: expected `id\|alternate ids\|\|name"),
        ("ctd", "Aspirin\tMESH:D001241\n", "line 1: expected a line with the columns Def"),
        ("ctd", CTD_HEAD + "Aspirin\tMESH:D001241\n", "line 4: expected 8 columns"),
        ("ctd", CTD_HEAD, "line 3: no concepts found"),
        ("table", "D000001\tone\nD000002\ta\tb\n", "line 2: expected 2 columns"),
        ("table", "D1+D2\tone\n", "line 1: expected an identifier without spaces"),
        ("scispacy", '{"concept_id": "C1"\n', "line 1: expected one JSON object a line"),
        (
            "target_kb",
            '{"D000001": {"name": "one"}}',
            "line 1: expected a list of strings under 'D000001'",
        ),
        ("obo", "[Term]\nname: x\n", "line 2: expected an `id:` in every"),
        ("mesh_xml", "<DescriptorRecordSet>\n<DescriptorRecord>", "line 2: the XML is broken"),
        ("obographs", '{"graphs": [{"nodes": [{}]}]}', "line 1: expected `graphs` with `nodes`"),
        ("fhir", '{"resourceType": "CodeSystem", "concept": [1]}', "line 1: expected a CodeSystem"),
        ("gene_info", "#tax_id\tGeneID\tSymbol\n", "line 1: expected a line with .*type_of_gene"),
        ("hgnc", HGNC[: HGNC.rindex("\t")] + "\n", r"line \d: expected \d+ columns"),
        ("drugbank", DRUGBANK.replace('Hirudin"', "Hirudin"), "line 2: .* values are broken"),
        ("icd10cm", "A00 Cholera\n", "line 1: expected order number"),
    ],
)
def test_bad_lines_are_named(format, content, message, tmp_path):
    path = tmp_path / "file"
    path.write_text(content)
    with pytest.raises(AngelError, match=rf"(?s)file, {message}"):
        list(read_vocabulary(path, format))


@pytest.mark.parametrize(
    "format",
    [f for f in FILES if "." in FILES[f] and not FILES[f].endswith((".json", ".owl"))],
)
def test_empty_cut_and_wrongly_encoded_files(format, tmp_path):
    content = (FIXTURES / FILES[format]).read_bytes()
    path = tmp_path / "file"
    # UTF-16 without its mark is UTF-8 with NULs; XML may be in any encoding that it names.
    utf16 = [content.decode().encode("utf-16-le")] if format != "mesh_xml.v1" else []
    for data in (b"", gzip.compress(content)[:-9], content + b"\n\xe4\xf6\xfc", *utf16):
        path.write_bytes(data)
        with pytest.raises(AngelError, match=r"file, line \d+: "):
            list(read_vocabulary(path, format))


# The public vocabularies, with the counts of their readme


@pytest.mark.parametrize(
    ("relative", "options", "n_concepts", "n_names", "prefixes"),
    [
        ("medic/medic_06Jul2012.txt", {}, 11_915, 76_237, {"MESH", "OMIM"}),
        ("medic/CTD_diseases_2017-06.tsv.gz", {}, 11_865, 77_994, {"MESH", "OMIM", "DOID"}),
        (
            "mesh/mesh_2019_descriptors.tsv",
            {"tree_numbers": "mesh/mesh_2015_tree_numbers.tsv"},
            29_351,
            153_253,
            {"MESH"},
        ),
        # Each live term has one name more than it has synonyms.
        ("doid/doid.obo", {}, 6_971, 6_971 + 12_020, {"DOID"}),
        ("vocab/disease/ordo-2_6-2018-07-12.json.gz", {}, 13_871, 13_871 + 22_121, None),
        ("vocab/species/taxslim.obo.gz", {}, 14_907, 32_508, {"NCBITaxon"}),
        ("more/ontologies/ICD10CM_2026.tsv.gz", {}, 46_881, 59_450, None),
        # Table A: 14,944 keys, two of which are there twice, and 108,092 names.
        ("published/ncbi/target_kb.json", {}, 14_942, 108_092, None),
        ("published/aap/target_kb.json", {}, 1_036, 3_398, None),
    ],
)
def test_public_vocabularies(relative, options, n_concepts, n_names, prefixes):
    report = VocabularyReport()
    given = {name: shared_data(path) for name, path in options.items()}
    concepts = list(read_vocabulary(shared_data(relative), report=report, **given))
    assert (report.concepts, report.names) == (n_concepts, n_names)
    ids = {i for concept in concepts for i in (concept.concept_id, *concept.alternate_ids)}
    assert prefixes is None or {i.partition(":")[0] for i in ids} == prefixes
