import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.linking.ranking.wording import numbers_of, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("fgfr2c", ["fgfr", "2", "c"]),
        ("stat 5b", ["stat", "5", "b"]),
        ("interferons type 1 beta", ["interferon", "type", "1", "b"]),
        ("tgf β1", ["tgf", "b", "1"]),
        ("p110gamma", ["p", "110", "g"]),
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


def test_numbers_are_digits():
    assert numbers_of("diabetes mellitus type 2") == {"2"}
    assert numbers_of("collagen type iv alpha 3 chain") == {"3"}
    assert numbers_of("bone marrow") == frozenset()


@given(st.text(max_size=40))
def test_any_text_has_words_without_blanks(text):
    assert all(word and not word.isspace() for word in words_of(text))
