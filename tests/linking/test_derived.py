"""Derived words and the nouns that vocabularies have for them."""

import importlib.util
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.helpers import ROOT

from spacy_angel.linking.mentions.derived import derived_names, read_derived_forms

_SPEC = importlib.util.spec_from_file_location("bdf", ROOT / "scripts/shipped/build_derived_forms.py")
tool = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(tool)
# The last column but the pointers': 01 01 says of which word of each.
ADJECTIVES = r"""  1 This notice stays.
02 00 a 02 neuronal 0 neuronic(a) 0 002 \ 07 n 0101 \ 07 n 0201 | of neurons
03 00 a 01 Freudian 0 001 \ 08 n 0101 | of Freud
04 00 a 01 small 0 002 & 02 a 0000 + 07 n 0101 | no noun
05 00 a 01 epidermal 0 001 \ 09 n 0101 | of the cuticle
06 00 a 01 genetic 0 002 \ 10 n 0101 \ 11 n 0101 | of an origin, of a gene
"""
NOUNS = """  1 This notice stays.
07 08 n 02 neuron 0 nerve_cell 0 000 | a cell
08 08 n 01 Freud 0 000 | a man
09 08 n 02 cuticle 0 epidermis 0 000 | skin
10 08 n 01 origin 0 000 | where it comes from
11 08 n 01 gene 0 000 | of DNA
"""


def test_the_table_is_made_of_wordnet_s_files(tmp_path: Path):
    (tmp_path / "data.adj").write_text(ADJECTIVES)
    (tmp_path / "data.noun").write_text(NOUNS)
    (tmp_path / "noun.exc").write_text("cortices cortex\ncul-de-sacs cul-de-sac\n")
    tool.build(tmp_path, tmp_path / "forms.tsv")
    assert (tmp_path / "forms.tsv").read_text() == (
        "# This notice stays.\ncortices\tcortex\nepidermal\tepidermis\ngenetic\tgene\n"
        "neuronal\tneuron\nneuronic\tneuron\n"
    )


@pytest.mark.parametrize(
    ("text", "names", "found"),
    [
        ("neuronal", {"neuron"}, ["neuron"]),
        ("Vestibular epithelia", {"vestibular epithelium"}, ["vestibular epithelium"]),
        ("renal cortices", {"kidney cortex", "renal cortex"}, ["renal cortex", "kidney cortex"]),
        ("genetic", {"gene", "genetics", "origin"}, ["genetics", "gene"]),
        ("neuronal", {"brain"}, []),
        ("prerenal", {"kidney"}, []),
        ("rose", {"rose"}, []),
    ],
)
def test_names_that_a_mention_is_derived_from(text, names, found):
    assert derived_names(text, names.__contains__) == found


@given(st.text(max_size=40))
def test_any_text_has_readings_of_nouns_alone(text):
    nouns = {noun for some in read_derived_forms().values() for noun in some}
    for reading in derived_names(text, lambda _: True):
        assert any(noun in reading for noun in nouns)
