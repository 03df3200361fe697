import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.linking.wording import content_of, numbers_of, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("fgfr2c", ["fgfr", "2", "c"]),
        ("stat 5b", ["stat", "5", "b"]),
        ("interferons type i beta", ["interferon", "type", "1", "b"]),
        ("tgf β1", ["tgf", "b", "1"]),
        ("p110gamma", ["p", "110", "g"]),
        ("xvii collagen", ["17", "collagen"]),
        ("factor x", ["factor", "10"]),
        ("x linked ichthyosis", ["x", "linked", "ichthyosis"]),
        ("diabetes type 02", ["diabete", "type", "2"]),
        ("hepatitis", ["hepatitis"]),
        ("il 0", ["il", "0"]),
        ("aids", ["aids"]),
        ("", []),
    ],
)
def test_words_in_whatever_way_they_are_written(text, words):
    assert list(words_of(text)) == words


def test_numbers_are_digits_and_roman_numerals():
    assert numbers_of("diabetes mellitus type ii") == {"2"}
    assert numbers_of("collagen type iv alpha 3 chain") == {"3", "4"}
    assert numbers_of("bone marrow") == frozenset()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("calcification of the falx cerebri", "falx cerebri calcifications"),
        ("abnormal ribs", "abnormality of the rib"),
        ("malformations of the thumb", "abnormal thumb morphology"),
        ("skin tag", "skin tags"),
        ("metastases", "metastasis"),
        ("kinases", "kinase"),
        ("diseases of the liver", "liver disease"),
        ("viruses", "virus"),
        ("abscesses", "abscess"),
        ("biopsies", "biopsy"),
        ("gw501516", "gw 501516"),
        ("interferon γ", "interferons gamma"),
    ],
)
def test_what_says_the_same_has_the_same_content(one, other):
    assert content_of(one) == content_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("lipid", "lipid a"),
        ("diabetes type 1", "diabetes type 2"),
        ("mild ataxia", "ataxia"),
        ("thrombosis", "thrombus"),
        ("aids", "acid"),
    ],
)
def test_what_says_more_or_else_has_other_content(one, other):
    assert content_of(one) != content_of(other)


def test_degrees_are_left_out_if_asked_for():
    assert content_of("mild ataxia", degrees=False) == content_of("ataxia")
    assert content_of("of the", degrees=False) == content_of("") == frozenset()


@given(st.text(max_size=40))
def test_any_text_has_words_without_blanks(text):
    assert all(word and not word.isspace() for word in words_of(text))
