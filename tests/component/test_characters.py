"""Texts as they are read: what is read away, and the way back."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.component.characters import CleanText, clean

# Every kind of noise, close to each other.
NOISY = st.text(
    st.sampled_from("abT2 -.\n\r\t\xad\u200b\u202e\0\u0301\u0323\ufb01\uff21\xa0\u2011²é")
)
CLEAN = st.text(
    st.characters(codec="ascii", exclude_categories=["Cc"], exclude_characters='<&*_`|^]}"')
    | st.sampled_from("²é–\n")
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dia\xadbetes", "diabetes"),
        ("myo\xad\n  cardial, two \xad\n2", "myocardial, two \n2"),
        ("\u202ebreast cancer\u202c and heart\u200b attack", "breast cancer and heart attack"),
        ("dia\0betes, ast\x08hma", "diabetes, asthma"),
        # Both are words, and together they are none.
        ("heart\0attack, of\u200bthe kidney", "heart attack, of the kidney"),
        ("h\0e\0a\0r\0t\0 \0a\0", "heart a"),
        ("\ufb01brosis, in\ufb02ammation, su\ufb03cient", "fibrosis, inflammation, sufficient"),
        ("ｄｉａｂｅｔｅｓ（ＤＭ）", "diabetes(DM)"),
        ("heart\xa0attack, heart\u2009attack, T\u2011cell", "heart attack, heart attack, T-cell"),
        ("Sjo\u0308gren, Sj\u200bo\u200b\u0308gren", "Sjögren, Sjögren"),
        ("myo-\ncardial in- \r\n  farction", "myocardial infarction"),
        # The hyphen of a word that has one.
        ("T-\ncell, IL2-\ninduced, x-\nray", "T-cell, IL2-induced, x-ray"),
        ("insulin-\ndependent", "insulin-dependent"),
        ("Wiskott-\nAldrich, interleukin-\n \t2", "Wiskott-Aldrich, interleukin-2"),
        ("<p>H<sub>2</sub>O &amp; &alpha;-SMA</p>fever<br/>", "\n\nH2O & α-SMA\n\nfever\n\n"),
        ("&lt;i&gt;BRCA1&lt;/i&gt; in heart&nbsp;attack<!-- a -->", "BRCA1 in heart attack\n\n"),
        ("**Plan**: _asthma_, [COPD](https://a.b/c), `fever`", "Plan: asthma, COPD, fever"),
        ("OBX|1|TX|A^Fever||", "OBX\n\n1\n\nTX\n\nA\n\nFever\n\n\n\n"),
        (
            "ALL PATIENTS WITH IL2 OR BRAF IN ACUTE GOUT HAD THE PATIENT'S FEVER. We saw AIDS",
            "all patients with IL2 or BRAF in acute gout had the patient's fever. We saw AIDS",
        ),
        ("Seen by [**Last Name**] with **heart** failure", "Seen by ___ with heart failure"),
        ("[PATIENT] saw {{Doctor Name}} for [HIV].", "___ saw ___ for [HIV]."),
        ('1,"F","asthma";"none"', '1,"F\n\nasthma\n\nnone"'),
    ],
)
def test_noise_is_read_away(text, expected):
    assert clean(text).text == expected


@pytest.mark.parametrize(
    "text",
    [
        "10² m, CO₂, ½, µm, α, Sjögren",
        "T -\nCells",
        "MATERIALS AND METHODS: BRAF, KRAS, NRAS, TP53, PTEN and CAT, REST, MAX",
        "a\u0301\u0301"[:1],
        "p\u0302",
        "Na+/K+-ATPase",
        "p < 0.05, a<b and c>d, CYP2D6*4 and *10, a_b_c, 5 * 3, *p < 0.05, **p < 0.01; R&D;",
    ],
)
def test_other_characters_stay(text):
    assert clean(text) == CleanText(text)


def test_places_both_ways():
    text = "a \ufb01b\xadro-\nsis."
    one = clean(text)
    assert one.text == "a fibrosis."
    assert one.starts == (0, 1, 2, 2, 3, 5, 6, 9, 10, 11, 12)
    assert one.ends == (1, 2, 3, 3, 4, 6, 7, 10, 11, 12, 13)
    assert one.to_source(2, 10) == (2, 12)
    assert one.from_source(2, 12) == (2, 10)
    # Half of a ligature is all of it; what is not read is nothing.
    assert one.to_source(3, 4) == (2, 3)
    assert one.from_source(4, 5) == (5, 5)


@given(NOISY | st.text())
def test_reading_again_changes_nothing(text):
    once = clean(text).text
    assert clean(once) == CleanText(once)


@given(NOISY | st.text())
def test_places_ascend_and_what_stays_comes_from_itself(text):
    one = clean(text)
    if one.starts is None or one.ends is None:
        assert one.text == text
        return
    assert len(one.starts) == len(one.ends) == len(one.text)
    assert list(one.starts) == sorted(one.starts)
    assert list(one.ends) == sorted(one.ends)
    for i, character in enumerate(one.text):
        start, end = one.to_source(i, i + 1)
        assert 0 <= start < end <= len(text)
        # The letter under the accents is there; tags and cells become line ends.
        letter = unicodedata.normalize("NFKD", character)[0]
        assert character in " -\n" or letter in unicodedata.normalize("NFKD", text[start:end])
        first, last = one.from_source(start, end)
        assert first <= i < last


@given(CLEAN)
def test_clean_text_is_read_as_it_stands(text):
    text = text.replace("-\n", "- ")
    assert clean(text) == CleanText(text)
