"""Finding strings by their hashes, which are not stored."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.vocabulary.storage import strings as storage
from spacy_angel.vocabulary.storage.strings import HashIndex, Strings, StringsBuilder


def indexed(texts: list[str]) -> tuple[HashIndex, Strings]:
    strings = StringsBuilder(texts).finish()
    return HashIndex.build(strings.hashes()), strings


@given(st.lists(st.text(max_size=3)), st.text(max_size=3))
def test_every_row_of_a_string_is_found_in_order(texts, other):
    index, strings = indexed(texts)
    for text in [*texts, other]:
        rows = [row for row, known in enumerate(texts) if known == text]
        assert list(index.find(text, strings)) == rows


def test_half_a_surrogate_pair_is_found_as_it_is_stored():
    index, strings = indexed(["a\ud800", "a"])
    assert list(index.find("a\ud800", strings)) == [0]


@pytest.mark.parametrize("n_hashes", [1, 2, 7])
def test_strings_of_one_hash_are_told_apart(monkeypatch, n_hashes):
    monkeypatch.setattr(storage, "_hash", lambda text: sum(text) % n_hashes)
    texts = [f"{i % 20}" for i in range(50)]
    index, strings = indexed(texts)
    for text in [*texts, "20", ""]:
        rows = [row for row, known in enumerate(texts) if known == text]
        assert list(index.find(text, strings)) == rows


@pytest.mark.parametrize(
    ("skewed", "most"),
    # beside the wanted one and that on its left: some five to find it, or eight and a bisection
    [(False, 2 + 5), (True, 2 + 8 + 12)],
    ids=["uniform", "skewed"],
)
def test_few_strings_are_read_however_the_hashes_are_spread(monkeypatch, skewed, most):
    n = 4096
    texts = [f"name {i}" for i in range(n)]
    calls = []

    def counted(text: bytes) -> int:
        calls.append(text)
        return int(text.split()[1]) if skewed else hash_of(text)

    hash_of = storage._hash
    monkeypatch.setattr(storage, "_hash", counted)
    index, strings = indexed(texts)
    probed = []
    for i in range(0, n, 7):
        calls.clear()
        assert list(index.find(f"name {i}", strings)) == [i]
        probed.append(len(calls))
    assert (max(probed) if skewed else sum(probed) / len(probed)) <= most
