"""Names of organisms as texts have them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.linking.mentions.organisms import cell_lines_in, read_organism
from spacy_angel.model.mention import Mention

NAMES = {"Trypanosoma cruzi", "Escherichia coli", "E. coli", "rice"}


def is_name(text: str) -> bool:
    return text in NAMES


@pytest.mark.parametrize(
    ("mention", "read"),
    [
        ("Shiga toxin-producing Escherichia coli", "Escherichia coli"),
        ("E. coli strain 4795/97", "E. coli"),
        ("Trypanosoma cruzi Y", "Trypanosoma cruzi"),
        # A name stays, and so does what has none in it.
        ("E. coli", "E. coli"),
        ("rice blast fungus", "rice blast fungus"),
        ("plants", "plants"),
    ],
)
def test_what_is_said_of_an_organism_is_no_part_of_its_name(mention, read):
    assert read_organism(Mention(mention), is_name).text == read


@given(st.text(max_size=40))
def test_any_mention_is_read_as_a_name_or_as_it_is(text):
    assert read_organism(Mention(text), is_name).text in {text, *NAMES}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("In P19 cells and (LbetaT2 cell line).", [["In P19", "P19"], ["LbetaT2"]]),
        ("SK-N-SH cells, HeLa cell", [["SK-N-SH"], ["HeLa"]]),
        # Words, and what is too short to tell of a line.
        ("T cells, stem cells, B7 cells, Jurkat cells, cells", []),
        ("P19 excellence", []),
    ],
)
def test_lines_stand_before_cells(text, names):
    found = [[text[start:end] for start, end in places] for places in cell_lines_in(text)]
    assert found == names


@given(st.text("Ab1 -./cells()", max_size=80))
def test_places_of_lines_are_within_the_text_and_end_before_cells(text):
    for places in cell_lines_in(text):
        for start, end in places:
            assert 0 <= start < end < len(text)
            assert text[end:].startswith(" cell")
