"""Tokenizes names and compiles them to tries: stored names once, added names after changes."""

import logging
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import Protocol

import numpy as np
from tqdm import tqdm

from .trie import NameTrie

logger = logging.getLogger(__name__)

# names per call of the tokenizer, which limits the memory of their token ids
_CHUNK = 16384


class NameTokenizer(Protocol):
    """Converts names to token ids, as `spacy_angel.model.prompts.PromptEncoder` does."""

    @property
    def fingerprint(self) -> str:
        """RETURNS (str): digest of everything the token ids depend on."""

    def encode_names(self, names: Sequence[str]) -> list[list[int]]:
        """RETURNS (list[list[int]]): the ids of each name, the end token last."""


def compile_names(names: Iterable[str], indices: np.ndarray, tokenizer: NameTokenizer) -> NameTrie:
    """Build a trie of names.

    Names without tokens other than the end token cannot be generated; they are skipped with a
    warning.

    names (Iterable[str]): n names in normal form.
    indices (np.ndarray): int32[n], their indices in the vocabulary.
    tokenizer (NameTokenizer): the model's tokenizer.
    RETURNS (NameTrie): the trie.
    """
    n, rest = len(indices), iter(names)
    parts = [_flat([])]
    hidden = None if n > _CHUNK else True
    with tqdm(total=n, desc="Compiling names", unit=" names", disable=hidden) as progress:
        while chunk := list(islice(rest, _CHUNK)):
            parts.append(_flat(tokenizer.encode_names(chunk)))
            progress.update(len(chunk))
    tokens, lengths = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    # free memory
    parts.clear()
    written = lengths > 1
    if not written.all():
        logger.warning(
            f"{(~written).sum()} of {n} names have no tokens in this model, so it cannot find them."
        )
        tokens = tokens[np.repeat(written, lengths)]
    offsets = np.concatenate([[0], np.cumsum(lengths[written])])
    return NameTrie.build(tokens, offsets, indices[written])


def _flat(ids: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """RETURNS (tuple[np.ndarray, np.ndarray]): the concatenated token ids, and the length of each
    sequence."""
    lengths = np.fromiter(map(len, ids), dtype=np.int64, count=len(ids))
    return np.fromiter(chain.from_iterable(ids), dtype=np.int32), lengths
