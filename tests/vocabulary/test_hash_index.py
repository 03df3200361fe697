"""Finding strings by their hashes, which are not stored."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.vocabulary.storage import strings as storage
from spacy_angel.vocabulary.storage.strings import StringsBuilder


def found(texts: list[str], wanted: list[str]) -> list[list[int]]:
    strings = StringsBuilder(texts).finish()
    return strings.find(wanted, np.argsort(strings.hashes(), kind="stable").astype(np.int32))


def rows_of(texts: list[str], wanted: list[str]) -> list[list[int]]:
    return [[row for row, known in enumerate(texts) if known == text] for text in wanted]


@given(st.lists(st.text(max_size=3)), st.text(max_size=3))
def test_every_row_of_a_string_is_found_in_order(texts, other):
    wanted = [*texts, other]
    assert found(texts, wanted) == rows_of(texts, wanted)


@pytest.mark.parametrize("n_hashes", [1, 2, 7, 4096])
def test_strings_of_one_hash_are_told_apart(monkeypatch, n_hashes):
    def small(text: bytes, digest_size: int) -> SimpleNamespace:
        digest = (sum(text) % n_hashes).to_bytes(digest_size, "little")
        return SimpleNamespace(digest=lambda: digest)

    monkeypatch.setattr(storage, "blake2b", small)
    texts = [f"{i % 20}" for i in range(50)]
    wanted = [*texts, "20", ""]
    assert found(texts, wanted) == rows_of(texts, wanted)
