"""Vocabularies written to files are read back as they were."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.names.concepts import Concept
from spacy_angel.vocabulary.sources.export import export_concepts
from spacy_angel.vocabulary.sources.formats.registry import read_vocabulary

CONCEPTS = [
    Concept(
        "MESH:D009203",
        "Infarction, Myocardial",
        ("heart\tattack", "MI"),
        ("C", "C14"),
        "Death of\nmuscle.",
        ("OMIM:1",),
    ),
    Concept("MY:1", "Möbius “x”"),
]
TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1).filter(
    lambda text: text == text.strip()
)


def test_json_lines_hold_everything(tmp_path):
    path = tmp_path / "kb.jsonl.gz"
    counts = export_concepts(CONCEPTS, path)
    assert counts == {"concepts": 2, "names": 4, "left_out": 0}
    assert list(read_vocabulary(path)) == CONCEPTS
    before = path.read_bytes()
    export_concepts(CONCEPTS, path)
    assert path.read_bytes() == before
    assert b'"definition"' in gzip.decompress(before)


def test_a_table_leaves_out_and_counts_what_it_cannot_hold(tmp_path):
    path = tmp_path / "kb.tsv"
    assert export_concepts(CONCEPTS, path) == {"concepts": 2, "names": 3, "left_out": 1}
    assert path.read_text("utf8") == (
        "id\tname\tsynonyms\nMESH:D009203\tInfarction, Myocardial\tMI\nMY:1\tMöbius “x”\t\n"
    )
    assert [c.names for c in read_vocabulary(path)] == [
        ("Infarction, Myocardial", "MI"),
        ("Möbius “x”",),
    ]


def test_a_table_needs_a_name_and_a_file_its_format(tmp_path):
    with pytest.raises(AngelError, match="Every name of"):
        export_concepts([Concept("X:1", "a|b")], tmp_path / "kb.tsv")
    with pytest.raises(AngelError, match="Cannot tell the format from the name"):
        export_concepts(CONCEPTS, tmp_path / "kb.csv")
    assert list(tmp_path.iterdir()) == []


@given(names=st.lists(TEXT, min_size=1, max_size=4, unique=True))
def test_any_names_come_back_from_json_lines(names, tmp_path_factory):
    concept = Concept("X:1", names[0], tuple(names[1:]))
    path = tmp_path_factory.mktemp("export") / "kb.jsonl"
    export_concepts([concept], path)
    assert list(read_vocabulary(path)) == [concept]
