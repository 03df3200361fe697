"""Which names and numbers the descriptors of MeSH have that ship."""

import gzip
import sys
from pathlib import Path

import pytest
from support.helpers import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import mesh

from spacy_angel.vocabulary.names.concepts import Concept

FILES = {
    mesh.DESCRIPTORS: (
        "id\tname\tsynonyms\tpermuted_terms\n"
        "D000001\tSnark Fever\tTulgey Attack|Fever of 2-Snarks\tAttack, Tulgey|Tulgey Attacks|"
        "Snark-Fever|Fever, Snark, Acute\n"
        "D000002\tTumtum, Green\tGreen Tumtum\t\n"
        "D000003\tBandersnatch Diseases\t\t\n"
        "D000004\tMimsy\t\t\n"
        "D000005\tInfections of Mome Raths\tRath Disease\t\n"
    ),
    mesh.NUMBERS: (
        "id\tname\ttree_numbers\n"
        "D000001\tSnark Fever\tC01.100|C02.7\n"
        "D000002\tTumtum, Green\tB01.5\n"
        "D000005\tInfections of Mome Raths\tC01.200\n"
    ),
    mesh.EARLIER: (
        "D000001\tTulgey Fever\tSnark Fever|Rath Disease\n"
        "D000099\tRath Diseases\tRath Disease|Raths, Sick\n"
        "D000098\tSnicker\tSnack\n"
    ),
    mesh.EARLIER_NUMBERS: (
        "mesh_id\tmesh_name\tmesh_tree_number\n"
        "D000003\tBandersnatch Diseases\tC04\n"
        "D000003\tBandersnatch Diseases\tC04.5\n"
        "D000001\tSnark Fever\tC01.999\n"
    ),
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        packed = gzip.compress(text.encode()) if name.endswith(".gz") else text.encode()
        (tmp_path / name).write_bytes(packed)
    return tmp_path


def test_names_of_2024_and_of_2019_with_the_numbers_of_2024(data: Path) -> None:
    assert [*mesh.descriptors(data)] == [
        # Entry terms; of the permuted terms the plural, and what is turned round and stands in its
        # order nowhere; the heading of 2019, but not the name that is another's now.
        Concept(
            "MESH:D000001",
            "Snark Fever",
            (
                *("Tulgey Attack", "Fever of 2-Snarks", "Tulgey Attacks", "Fever, Snark, Acute"),
                "Tulgey Fever",
            ),
            ("C", "C01", "C02"),
            tree_numbers=("C01.100", "C02.7"),
        ),
        Concept(
            "MESH:D000002",
            "Tumtum, Green",
            ("Green Tumtum",),
            ("B", "B01"),
            tree_numbers=("B01.5",),
        ),
        # A top of the trees, by its number of 2015.
        Concept("MESH:D000003", "Bandersnatch Diseases", (), ("C", "C04"), tree_numbers=("C04",)),
        Concept("MESH:D000004", "Mimsy"),
        # It has a name of one that is gone, and gets the others; nobody has those of `Snicker`.
        Concept(
            "MESH:D000005",
            "Infections of Mome Raths",
            ("Rath Disease", "Rath Diseases", "Raths, Sick"),
            ("C", "C01"),
            alternate_ids=("MESH:D000099",),
            tree_numbers=("C01.200",),
        ),
    ]
