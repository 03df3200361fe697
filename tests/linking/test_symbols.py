import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.linking.mentions.symbols import spell_out


@pytest.mark.parametrize(
    ("written", "spelled"),
    [
        ("IFN-γ", "IFN-gamma"),
        ("α-cell", "alpha-cell"),
        ("TGF-β1", "TGF-beta1"),
        ("µ-opioid", "mu-opioid"),
        ("λ phage", "lambda phage"),
        ("Ni2+", "Ni"),
        ("Ca²⁺", "Ca"),
        ("Fe(III)", "Fe"),
        ("Zn(2+)", "Zn"),
        ("Cl-", "Cl"),
        ("CO₂", "CO2"),
        ("C-peptide", "C-peptide"),
        ("5-HT", "5-HT"),
    ],
)
def test_greek_letters_charges_and_small_figures(written, spelled):
    assert spell_out(written) == spelled


@given(st.text(max_size=40))
def test_what_is_spelled_out_stays(text):
    assert spell_out(spell_out(text)) == spell_out(text)
    assert text.isascii() <= (len(spell_out(text)) <= len(text))
