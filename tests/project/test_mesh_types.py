"""The tree of descriptors that came after the table of tree numbers: what is taken as evidence."""

import sys

from support.helpers import ROOT

sys.path.insert(0, str(ROOT / "tools"))

from mesh_types import find_trees

from spacy_angel.vocabulary.concepts import Concept

SSSOM = (
    "subject_id\tpredicate_id\tobject_id\n"
    "MONDO:1\tskos:exactMatch\tmesh:D000001\n"
    "MONDO:2\tskos:exactMatch\tmesh:D000100\n"
)


def descriptors():
    # Forty fevers and forty proteins with a number, and five descriptors without.
    for i in range(40):
        yield Concept(f"MESH:D0000{i:02d}", f"Snark Fever {i}", (f"fever no {i}",), ("C", "C01"))
    for i in range(40):
        yield Concept(f"MESH:D0010{i:02d}", f"P{i} Binding Protein", (), ("D", "D12"))
    yield Concept("MESH:D000100", "Boojum")
    yield Concept("MESH:D000101", "Jubjub Protein", ("fever no 3",))
    yield Concept("MESH:D000102", "Slithy Tove", ("Tove",))
    yield Concept("MESH:D000103", "Borogove")
    yield Concept("MESH:D000104", "Mome-1", ("Protein, Mome Binding",))


def test_evidence_that_agrees_with_the_numbers_gives_trees(tmp_path):
    (tmp_path / "diseases.tsv").write_text("snark\tD000001\nboojum\tD000100\n", "utf8")
    (tmp_path / "wrong.tsv").write_text("snark\tD000001\nborogove\tD000103\n", "utf8")
    (tmp_path / "animals.tsv").write_text("X:1\ttove\t\nX:2\tP0 binding protein\t\n", "utf8")
    (tmp_path / "mondo.sssom.tsv").write_text(SSSOM, "utf8")
    found = find_trees(
        descriptors(),
        identifiers={tmp_path / "diseases.tsv": "C", tmp_path / "wrong.tsv": "B"},
        names={tmp_path / "animals.tsv": "D"},
        mappings=[tmp_path / "mondo.sssom.tsv"],
    )
    assert found.trees == {
        "MESH:D000100": {"C"},
        "MESH:D000101": {"D"},
        "MESH:D000102": {"D"},
        "MESH:D000104": {"D"},
    }
    assert found.agreement == {
        "diseases.tsv": "1 of 1",
        "wrong.tsv": "0 of 1, not taken",
        "animals.tsv": "1 of 1",
        "mondo.sssom.tsv, MONDO": "1 of 1",
        "ends of first names": "40 of 40",
        "words of all names": "80 of 80",
    }


def test_what_speaks_for_two_trees_is_left_open(tmp_path):
    (tmp_path / "diseases.tsv").write_text("D000001 D000101\n", "utf8")
    found = find_trees(
        descriptors(), identifiers={tmp_path / "diseases.tsv": "C"}, names={}, mappings=[]
    )
    assert "MESH:D000101" not in found.trees
