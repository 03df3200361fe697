"""Compounds, short forms, and lists are split where mentions begin and end."""

import pytest
import spacy

from spacy_angel.corpora.biomedical_tokens import add_biomedical_tokens


@pytest.fixture(scope="module")
def nlp():
    nlp = spacy.blank("en")
    add_biomedical_tokens(nlp)
    return nlp


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Trp53-/- mice, s/p CABG", ["Trp53", "-/-", "mice", ",", "s/p", "CABG"]),
        # Without a space between words.
        ("gout;asthma", ["gout", ";", "asthma"]),
        ("IL-2,IL-6, 46,XX", ["IL-2", ",", "IL-6", ",", "46,XX"]),
        ("gout.3 Lead>2.5", ["gout", ".", "3", "Lead", ">", "2.5"]),
        ("in COPD.13,14 Nkx2.5", ["in", "COPD", ".", "13,14", "Nkx2.5"]),
    ],
)
def test_mentions_are_whole_tokens(nlp, text, tokens):
    assert [token.text for token in nlp.make_doc(text)] == tokens
