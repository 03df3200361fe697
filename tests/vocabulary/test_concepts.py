"""Names in normal form and identifiers in stored form."""

import pytest

from spacy_angel.vocabulary.names.concepts import normalize_name
from spacy_angel.vocabulary.names.identifiers import normalize_id


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Non-inherited (rare) form", "non inherited rare form"),
        ("2-(Acetyloxy)benzoic Acid", "2 acetyloxy benzoic acid"),
        ("  Tooth\tAgenesis,\nSelective,  6 ", "tooth agenesis selective 6"),
        (
            "a,b.c;d{e}f[g]h(i)j+k-l_m*n/o?p!q`r\"s't=u%v>w<x",
            "a b c d e f g h i j k l m n o p q r s t u v w x",
        ),
        ("näive T‐cell: α & β", "näive t‐cell: α & β"),
        ("---", ""),
    ],
)
def test_normalize_name(text, expected):
    assert normalize_name(text) == expected


@pytest.mark.parametrize(
    ("raw", "prefix", "expected"),
    [
        ("D003920", "MESH", "MESH:D003920"),
        ("mesh:d003920", "", "MESH:D003920"),
        ("MESH:D003920", "OMIM", "MESH:D003920"),
        ("MSH: D003920", "", "MESH:D003920"),
        ("MIM:222100", "", "OMIM:222100"),
        ("C0011849", "umls", "UMLS:C0011849"),
        ("SNOMEDCT_US:73211009", "", "SNOMEDCT:73211009"),
        ("DO:DOID:0060395", "", "DOID:0060395"),
        ("doid:9351", "MESH", "DOID:9351"),
        ("UBERON:0000955", "MESH", "UBERON:0000955"),
        ("D003920", "", "D003920"),
        ("x-1", "Local", "Local:x-1"),
        ("", "MESH", ""),
        ("MESH:", "", ""),
    ],
)
def test_normalize_id(raw, prefix, expected):
    assert normalize_id(raw, prefix) == expected
