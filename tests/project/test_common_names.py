"""Names of common diseases and chemicals, written for the package, against MeSH."""

import re
import sys
from collections import defaultdict

import pytest
from support.helpers import ROOT, shared_data

sys.path.insert(0, str(ROOT / "tools"))

import mesh
from build_six_types import more_names, organisms

from spacy_angel.vocabulary.names.concepts import Concept, normalize_name
from spacy_angel.vocabulary.sources.formats.registry import read_vocabulary

COMMON = ROOT / "tools/common_names.tsv"
# MeSH counts mental disorders under F03; CTD's disease vocabulary takes them in.
TREES = {"C": "Disease", "F03": "Disease", "D": "Chemical"}


@pytest.fixture(scope="module")
def common() -> list[Concept]:
    return list(read_vocabulary(COMMON))


@pytest.fixture(scope="module")
def descriptors() -> list[Concept]:
    """Of MeSH, as they ship."""
    return [*mesh.descriptors(shared_data(mesh.DESCRIPTORS).parents[2])]


@pytest.fixture(scope="module")
def mesh_names(descriptors: list[Concept]) -> dict[str, set[str]]:
    """Identifier → names in normal form."""
    return {c.concept_id: {*map(normalize_name, c.names)} for c in descriptors}


def test_fields(common: list[Concept]) -> None:
    assert {c.types for c in common} == {("Disease",), ("Chemical",)}
    assert len({c.concept_id for c in common}) == len(common) == 658
    for concept in common:
        assert re.fullmatch(r"MESH:D\d{6}(\d{3})?", concept.concept_id)


def test_no_name_stands_for_two_concepts(common: list[Concept]) -> None:
    owners = defaultdict(list)
    for concept in common:
        for name in concept.names:
            owners[normalize_name(name)].append(concept.concept_id)
    assert {name: ids for name, ids in owners.items() if len(ids) > 1 or not name} == {}


def test_identifiers_and_canonical_names_are_meshs(
    common: list[Concept], mesh_names: dict[str, set[str]]
) -> None:
    wrong = [
        concept.canonical_name
        for concept in common
        if normalize_name(concept.canonical_name) not in mesh_names.get(concept.concept_id, set())
    ]
    assert wrong == []


def test_no_alias_is_another_descriptors_name(
    common: list[Concept], mesh_names: dict[str, set[str]]
) -> None:
    owners = defaultdict(set)
    for concept_id, names in mesh_names.items():
        for name in names:
            owners[name].add(concept_id)
    wrong = [
        (concept.canonical_name, alias)
        for concept in common
        for alias in concept.aliases
        if (found := owners.get(normalize_name(alias))) and concept.concept_id not in found
    ]
    # MeSH has them for trismus and fibrosis; what ships follows what people say.
    assert wrong == [("Tetanus", "lockjaw"), ("Liver Cirrhosis", "cirrhosis")]


def test_types_follow_the_tree(common: list[Concept], descriptors: list[Concept]) -> None:
    types = {c.concept_id: {TREES[t] for t in c.types if t in TREES} for c in descriptors}
    assert [c.canonical_name for c in common if c.types[0] not in types[c.concept_id]] == []


def test_names_of_proteins_are_of_genes_and_no_other_s_symbol() -> None:
    lines = (ROOT / "tools/gene_names.tsv").read_text("utf8").splitlines()
    assert lines[0] == "symbol\tnames"
    names = {symbol: names.split("|") for symbol, names in (line.split("\t") for line in lines[1:])}
    assert len(names) == len(lines) - 1
    assert all(own and all(own) and len({*own}) == len(own) for own in names.values())
    folder = shared_data("vocab/gene")
    genes = read_vocabulary(folder / "Homo_sapiens.gene_info.gz", kinds={"protein-coding"})
    mice = read_vocabulary(folder / "Mus_musculus.gene_info.gz", kinds={"protein-coding"})
    symbols = {gene.canonical_name for gene in genes}
    assert {*names} <= symbols | {gene.canonical_name for gene in mice}
    assert [n for own in names.values() for n in own if n in symbols and n not in names] == []


def test_names_of_organisms_are_of_taxa_and_each_of_one() -> None:
    lines = (ROOT / "tools/taxon_names.tsv").read_text("utf8").splitlines()
    assert lines[0] == "taxon\tnames"
    names = {taxon: names.split("|") for taxon, names in (line.split("\t") for line in lines[1:])}
    assert len(names) == len(lines) - 1
    every = [normalize_name(name) for own in names.values() for name in own]
    assert all(every)
    assert len({*every}) == len(every)
    folder = shared_data("vocab/species")
    taxa = {taxon.canonical_name for taxon in read_vocabulary(folder / "taxslim.obo.gz")}
    further = {name for taxon in more_names(folder) for name in taxon.names}
    assert {*names} - taxa - further == set()


def test_a_word_that_names_an_organism_is_no_other_s() -> None:
    slim, further = organisms(shared_data("vocab/species"))
    owners = defaultdict(set)
    for taxon in (*slim, *further):
        for name in taxon.names:
            owners[normalize_name(name)].add(taxon.concept_id)
    assert owners["maize"] == owners["corn"] == {"NCBITaxon:4577"}
    assert owners["patients"] == {"NCBITaxon:9606"}
    assert owners["hiv 1"] == {"NCBITaxon:11676"}
    (entamoeba,) = [taxon for taxon in further if "Entamoeba coli" in taxon.names]
    assert entamoeba.canonical_name == "Entamoeba coli"
    assert "E. coli" not in entamoeba.names
