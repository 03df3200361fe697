"""Words, their pieces and their cases."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.helpers import SHIPPED_MODEL

from spacy_angel.recognition.words import CASES, WordReader, shape_of

READER = WordReader((SHIPPED_MODEL / "tokenizer.json").read_text(encoding="utf8"))


@pytest.mark.parametrize(
    ("word", "shape"),
    [("2", 0), ("-", 0), ("mice", 1), ("a", 1), ("Mice", 2), ("A", 3), ("IL", 4), ("mRNA", 5)],
)
def test_shapes(word: str, shape: int) -> None:
    assert shape_of(word) == shape


def test_words_end_at_every_mark_and_know_whether_they_stand_close() -> None:
    text = "IL-2 in Mice"
    (words,) = READER([text])
    spans = zip(words.starts.tolist(), words.ends.tolist(), strict=True)
    assert [text[a:b] for a, b in spans] == ["IL", "-", "2", "in", "Mice"]
    # 1 + 2 * shape + glued
    assert words.cases.tolist() == [1 + 2 * 4, 1 + 1, 1 + 1, 1 + 2 * 1, 1 + 2 * 2]
    assert max(words.cases) < CASES


def test_special_tokens_in_a_text_are_text() -> None:
    (words,) = READER(["a [SEP] b"])
    assert [len(words), *words.pieces.tolist()].count(102) == 0
    assert len(words) == 5


@given(st.lists(st.text(max_size=40), max_size=3))
def test_words_stand_in_order_and_hold_no_blanks_at_their_edges(texts: list[str]) -> None:
    for text, words in zip(texts, READER(texts), strict=True):
        edge = 0
        for start, end in zip(words.starts.tolist(), words.ends.tolist(), strict=True):
            assert edge <= start < end <= len(text)
            assert text[start:end].strip() == text[start:end]
            edge = end
