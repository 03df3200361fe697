"""What ships calls a concept by the name that its register gives it."""

import csv
import gzip
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from support.helpers import shared_data

from spacy_angel.linking.settings.loaders import load_vocabulary
from spacy_angel.vocabulary.kb import ConceptKB

N = 200
# Taxa whose name texts have for a species of theirs (`Arabidopsis` is the thale cress), and a
# record that is another's by a name that texts have for both.
OTHERWISE = {"NCBITaxon:3701", "NCBITaxon:4557", "NCBITaxon:2901879"}


def _table(prefix: str, path: Path) -> dict[str, set[str]]:
    """Identifier → name of a table with tabs."""
    with gzip.open(path, "rt", encoding="utf8") as file:
        rows = (line.rstrip("\n").split("\t") for line in file)
        return {f"{prefix}{row[0]}": {row[1]} for row in rows if row[0] != "id"}


def _records(path: Path) -> dict[str, set[str]]:
    """Each table has a name; a record that is in both may have two."""
    names = _table("MESH:", path)
    acting = shared_data("more/vocab/mesh_2024_pharm_action_substances.tsv.gz")
    for record, own in _table("MESH:", acting).items():
        names.setdefault(record, set()).update(own)
    return {record: own for record, own in names.items() if record.startswith("MESH:C")}


def _genes(path: Path) -> dict[str, set[str]]:
    """The symbol of the authority, else NCBI's."""
    with gzip.open(path, "rt", encoding="utf8") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        of = "Symbol_from_nomenclature_authority"
        return {
            f"NCBIGene:{row['GeneID']}": {row["Symbol"] if row[of] == "-" else row[of]}
            for row in rows
        }


def _symbols(path: Path) -> dict[str, set[str]]:
    """Of the species that come by symbol: worm, thale cress, chicken, fission yeast."""
    with gzip.open(path, "rt", encoding="utf8") as file:
        rows = csv.DictReader(file, delimiter="\t")
        taxa = {"6239", "3702", "9031", "4896"}
        return {f"NCBIGene:{r['id']}": {r["name"]} for r in rows if r["taxon"] in taxa}


def _families(path: Path) -> dict[str, set[str]]:
    with gzip.open(path, "rt", encoding="utf8") as file:
        return {f"FPLX:{name}": {name} for name in map(str.strip, file)}


def _taxa(path: Path) -> dict[str, set[str]]:
    names = {}
    with gzip.open(path, "rt", encoding="utf8") as file:
        for line in file:
            key, _, value = line.rstrip("\n").partition(": ")
            if key == "id":
                concept_id = value
            elif key == "name":
                names[concept_id] = {value}
    return {i: own for i, own in names.items() if i not in OTHERWISE}


def _phenotypes(path: Path) -> dict[str, set[str]]:
    with gzip.open(path, "rt", encoding="utf8") as file:
        terms = json.load(file)
    return {i.replace("_", ":"): {term["name"]} for i, term in terms.items()}


REGISTERS: dict[str, tuple[str, str, Callable[[Path], dict[str, set[str]]]]] = {
    "mesh": (
        "en_angel_mini",
        "more/vocab/mesh_2024_descriptors.tsv.gz",
        partial(_table, "MESH:"),
    ),
    "records": (
        "en_angel_mini",
        "vocab/chemical/mesh_supplementary_names_partial.tsv.gz",
        _records,
    ),
    "man": ("en_angel_bio", "vocab/gene/Homo_sapiens.gene_info.gz", _genes),
    "mouse": ("en_angel_bio", "vocab/gene/Mus_musculus.gene_info.gz", _genes),
    "fish": ("en_angel_bio", "vocab/gene/Danio_rerio.gene_info.gz", _genes),
    "fly": ("en_angel_bio", "vocab/gene/Drosophila_melanogaster.gene_info.gz", _genes),
    "rat": (
        "en_angel_bio",
        "more/vocab/ncbi_gene_Rattus_norvegicus_rgd_homologene.tsv.gz",
        partial(_table, "NCBIGene:"),
    ),
    "yeast": (
        "en_angel_bio",
        "more/vocab/ncbi_gene_Saccharomyces_cerevisiae.tsv.gz",
        partial(_table, "NCBIGene:"),
    ),
    "symbols": ("en_angel_bio", "more/vocab/homologene_updated_symbols.tsv.gz", _symbols),
    "families": ("en_angel_bio", "vocab/gene/famplex_entities.csv.gz", _families),
    "taxa": ("en_angel_bio", "vocab/species/taxslim.obo.gz", _taxa),
    "cell lines": (
        "en_angel_bio",
        "more/vocab/cellosaurus_register_names.tsv.gz",
        partial(_table, ""),
    ),
    "phenotypes": (
        "en_angel_bio",
        "vocab/phenotype/hpo_2025-10-22_phenotypic_abnormality_names.json.gz",
        _phenotypes,
    ),
}


@pytest.fixture(scope="module")
def kbs() -> dict[str, ConceptKB]:
    return {name: load_vocabulary(name) for name in ("en_angel_mini", "en_angel_bio")}


@pytest.mark.parametrize("name", REGISTERS)
def test_canonical_names_are_the_register_s(name: str, kbs: dict[str, ConceptKB]) -> None:
    pipeline, path, read = REGISTERS[name]
    kb = kbs[pipeline]
    register = read(shared_data(path))
    shipped = sorted(i for i in register if kb.resolve(i) == i)
    assert len(shipped) >= N
    sample = shipped[:: len(shipped) // N]
    found = {i: kb[i].canonical_name for i in sample}
    assert {i: (n, register[i]) for i, n in found.items() if n not in register[i]} == {}


def test_what_cell_lines_are_called(kbs: dict[str, ConceptKB]) -> None:
    names = {"CVCL_0030": "HeLa", "CVCL_0065": "Jurkat", "CVCL_0063": "HEK293T"}
    assert {i: kbs["en_angel_bio"][i].canonical_name for i in names} == names
