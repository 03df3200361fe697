import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.linking.mentions.symbols import respaced, spell_out


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


@pytest.mark.parametrize(
    ("written", "others"),
    [
        ("SIRT-1", ["SIRT1"]),
        ("IFI 16", ["IFI16"]),
        ("E4031", ["E 4031"]),
        ("p27(KIP1)", ["p27KIP1)", "p 27(KIP 1)"]),
        ("type 2 diabetes", ["type2diabetes"]),
        ("asthma", []),
        ("10 20", []),
    ],
)
def test_letters_and_figures_together_and_apart(written, others):
    assert list(respaced(written)) == others
