"""The starter vocabulary, against MeSH."""

import json
import re
from collections import defaultdict

import pytest
from support.helpers import ROOT, shared_data

from spacy_angel.vocabulary.concepts import normalize_name

STARTER = ROOT / "assets/starter.jsonl"
FIELDS = ["concept_id", "canonical_name", "aliases", "types", "definition"]
# MeSH counts mental disorders under F03; CTD's disease vocabulary takes them in.
TREES = {"C": "Disease", "F03": "Disease", "D": "Chemical"}


@pytest.fixture(scope="module")
def starter() -> list[dict]:
    return [json.loads(line) for line in STARTER.read_text("utf8").splitlines()]


@pytest.fixture(scope="module")
def mesh_names() -> dict[str, set[str]]:
    """Identifier → names in normal form (MeSH 2019)."""
    names = {}
    path = shared_data("mesh/mesh_2019_descriptors.tsv")
    for line in path.read_text("utf8").splitlines():
        code, name, synonyms = line.split("\t")
        names[f"MESH:{code}"] = {normalize_name(n) for n in (name, *synonyms.split("|"))}
    return names


def test_fields(starter: list[dict]) -> None:
    assert {tuple(c["types"]) for c in starter} == {("Disease",), ("Chemical",)}
    assert len({c["concept_id"] for c in starter}) == len(starter)
    for concept in starter:
        assert list(concept) == FIELDS
        assert re.fullmatch(r"MESH:D\d{6}(\d{3})?", concept["concept_id"])
        assert concept["definition"].endswith(".")
        assert len(concept["definition"]) < 120


def test_no_name_stands_for_two_concepts(starter: list[dict]) -> None:
    owners = defaultdict(list)
    for concept in starter:
        for name in (concept["canonical_name"], *concept["aliases"]):
            owners[normalize_name(name)].append(concept["concept_id"])
    assert {name: ids for name, ids in owners.items() if len(ids) > 1 or not name} == {}


def test_identifiers_and_canonical_names_are_meshs(
    starter: list[dict], mesh_names: dict[str, set[str]]
) -> None:
    wrong = [
        concept["canonical_name"]
        for concept in starter
        if normalize_name(concept["canonical_name"])
        not in mesh_names.get(concept["concept_id"], set())
    ]
    assert wrong == []


def test_no_alias_is_another_descriptors_name(
    starter: list[dict], mesh_names: dict[str, set[str]]
) -> None:
    owners = defaultdict(set)
    for concept_id, names in mesh_names.items():
        for name in names:
            owners[name].add(concept_id)
    wrong = [
        (concept["canonical_name"], alias)
        for concept in starter
        for alias in concept["aliases"]
        if (found := owners.get(normalize_name(alias))) and concept["concept_id"] not in found
    ]
    assert wrong == []


def test_types_follow_the_tree(starter: list[dict]) -> None:
    types = defaultdict(set)
    path = shared_data("mesh/mesh_2015_tree_numbers.tsv")
    for line in path.read_text("utf8").splitlines()[1:]:
        code, _, tree = line.split("\t")
        for prefix, kind in TREES.items():
            if tree.startswith(prefix):
                types[f"MESH:{code}"].add(kind)
    # Descriptors of 2016 to 2019 have no tree number in the table of 2015.
    known = [concept for concept in starter if concept["concept_id"] in types]
    assert len(known) > 560
    assert [c["canonical_name"] for c in known if c["types"][0] not in types[c["concept_id"]]] == []
