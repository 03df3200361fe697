"""Words, their pieces and their cases."""

from hypothesis import given
from hypothesis import strategies as st
from support.helpers import SHIPPED_MODEL

from spacy_angel.recognition.words import CASES, WordReader

READER = WordReader((SHIPPED_MODEL / "tokenizer.json").read_text(encoding="utf8"))


def test_words_end_at_every_mark_and_know_whether_they_stand_close():
    text = "IL-2 in Mice"
    (words,) = READER([text])
    spans = zip(words.starts.tolist(), words.ends.tolist(), strict=True)
    assert [text[a:b] for a, b in spans] == ["IL", "-", "2", "in", "Mice"]
    # 1 + 2 * shape + glued
    assert words.cases.tolist() == [1 + 2 * 4, 1 + 1, 1 + 1, 1 + 2 * 1, 1 + 2 * 2]
    assert max(words.cases) < CASES


@given(st.lists(st.text(max_size=40), max_size=3))
def test_words_stand_in_order_and_hold_no_blanks_at_their_edges(texts):
    for text, words in zip(texts, READER(texts), strict=True):
        edge = 0
        for start, end in zip(words.starts.tolist(), words.ends.tolist(), strict=True):
            assert edge <= start < end <= len(text)
            assert text[start:end].strip() == text[start:end]
            edge = end
