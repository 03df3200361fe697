"""Tokenizes names and compiles them to tries."""

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
    tokens, lengths = [np.zeros(0, dtype=np.int32)], [np.zeros(0, dtype=np.int64)]
    hidden = None if n > _CHUNK else True
    with tqdm(total=n, desc="Compiling names", unit=" names", disable=hidden) as progress:
        while chunk := list(islice(rest, _CHUNK)):
            ids = tokenizer.encode_names(chunk)
            lengths.append(np.fromiter(map(len, ids), dtype=np.int64, count=len(ids)))
            tokens.append(np.fromiter(chain.from_iterable(ids), dtype=np.int32))
            progress.update(len(ids))
    flat, length = np.concatenate(tokens), np.concatenate(lengths)
    # free memory
    tokens.clear()
    written = length > 1
    if not written.all():
        logger.warning(
            f"{(~written).sum()} of {n} names have no tokens in this model, so it cannot find them."
        )
        flat = flat[np.repeat(written, length)]
    offsets = np.concatenate([[0], np.cumsum(length[written])])
    return NameTrie.build(flat, offsets, indices[written])
