"""Mentions with whole brackets and without marks at their edges."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.recognition.found import FoundMention, trim_spans


def found_in(text, *names, label="GENE"):
    mentions, at = [], 0
    for name in names:
        start = text.index(name, at)
        at = start + len(name)
        mentions.append(FoundMention(start, at, label, 0.9 - 0.1 * len(mentions)))
    return mentions


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        (
            "Surfactant protein (SP)-A.",
            ["Surfactant protein (", "SP)-A"],
            ["Surfactant protein (SP)-A"],
        ),
        (
            "Toll-like receptor (TLR)3",
            ["Toll-like receptor", "TLR)3"],
            ["Toll-like receptor (TLR)3"],
        ),
        (
            "adhesion molecule [ICAM]-1",
            ["adhesion molecule", "ICAM]-1"],
            ["adhesion molecule [ICAM]-1"],
        ),
        # What is said in brackets alone is a mention of its own.
        ("Epstein virus (EBV) is", ["Epstein virus", "EBV)"], ["Epstein virus", "EBV"]),
        ("Epstein virus (EBV) is", ["Epstein virus", "EBV"], ["Epstein virus", "EBV"]),
        ("TNF and IL2) rose", ["TNF", "IL2)"], ["TNF", "IL2"]),
        ("Trp53-/- mice", ["Trp53-/-"], ["Trp53"]),
        ("Trp53 +/- mice", ["Trp53 +/-"], ["Trp53"]),
        ("(IL-2 and", ["(IL-2"], ["IL-2"]),
        ("IL-2, and", ["IL-2,"], ["IL-2"]),
        ("#1 Gout: # **", ["#1 Gout", "# **"], ["Gout"]),
        ("Na(+) and", ["Na(+)"], ["Na(+)"]),
        ("Cl- channels", ["Cl-"], ["Cl-"]),
        ("CaCl(2) and", ["CaCl("], ["CaCl(2)"]),
        ("Ca(2+) and", ["Ca("], ["Ca(2+)"]),
        # Halves of names, and marks.
        ("FLAG-tagged", ["FLAG-"], []),
        ("ataxia-telangiectasia", ["ataxia-", "telangiectasia"], ["telangiectasia"]),
        ("a ( ) b", ["( )"], ["( )"]),
        ("a -) b", ["-)"], []),
    ],
)
def test_edges(text, names, expected):
    assert [text[m.start : m.end] for m in trim_spans(text, found_in(text, *names))] == expected


@given(st.text(alphabet="ab ()[]-/,+2", max_size=20), st.data())
def test_any_mentions_stay_inside_the_text_and_apart(text, data):
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    pairs = zip(cuts[::2], cuts[1::2], strict=False)
    mentions = [FoundMention(start, end, "X", 1.0) for start, end in pairs]
    after = trim_spans(text, mentions)
    assert all(0 <= m.start < m.end <= len(text) for m in after)
    assert all(text[m.start : m.end].strip() for m in after)
    assert len(after) <= len(mentions)


@pytest.mark.parametrize(
    ("text", "found", "expected"),
    [
        ("asthma | gout", "asthma | gout", ["asthma", "gout"]),
        ("a list:\nasthma\tgout\n\nfever", "asthma\tgout\n\nfever", ["asthma\tgout", "fever"]),
        ("a list of two: asthma\tgout", "asthma\tgout", ["asthma", "gout"]),
        ("Hx:\tasthma\n\tgout", "asthma\n\tgout", ["asthma", "gout"]),
        # Lines of a list, and of a wrapped text.
        ("asthma\ngout\na known allergy to latex", "asthma\ngout", ["asthma", "gout"]),
        ("a known heart\nattack in the family", "heart\nattack", ["heart\nattack"]),
        # A tab is a space where there are no others.
        ("heart\tattack", "heart\tattack", ["heart\tattack"]),
    ],
)
def test_no_mention_reaches_into_another_cell(text, found, expected):
    assert [text[m.start : m.end] for m in trim_spans(text, found_in(text, found))] == expected
