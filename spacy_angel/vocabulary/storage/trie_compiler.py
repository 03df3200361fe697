"""Tokenizes names and compiles them to tries: stored names once, added names before a search."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Protocol

import numpy as np
import pygtrie
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
    return _build(tokens, lengths, indices)


class AddedNames:
    """The names added at run time: a pygtrie trie that maps the token sequences of one tokenizer to
    names. Only new names are tokenized after a change."""

    def __init__(self, tokenizer: NameTokenizer) -> None:
        self._tokenizer = tokenizer
        self._ids: dict[int, tuple[int, ...]] = {}
        self._trie: pygtrie.Trie = pygtrie.Trie()
        self._compiled = _build(*_flat([]), np.zeros(0, dtype=np.int32))

    def update(self, names: Mapping[int, str]) -> NameTrie:
        """names (Mapping[int, str]): all added names of the vocabulary, by index. RETURNS
        (NameTrie): the trie of these names."""
        if self._ids.keys() == names.keys():
            return self._compiled
        for i in self._ids.keys() - names.keys():
            self._trie[self._ids.pop(i)].discard(i)
        new = sorted(names.keys() - self._ids.keys())
        encoded = self._tokenizer.encode_names([names[i] for i in new]) if new else []
        for i, ids in zip(new, map(tuple, encoded), strict=True):
            self._ids[i] = ids
            self._trie.setdefault(ids, set()).add(i)
        pairs = [(ids, i) for ids, found in self._trie.iteritems() for i in sorted(found)]
        indices = np.array([i for _, i in pairs], dtype=np.int32)
        self._compiled = _build(*_flat([ids for ids, _ in pairs]), indices)
        return self._compiled


def _flat(ids: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """RETURNS (tuple[np.ndarray, np.ndarray]): the concatenated token ids, and the length of each
    sequence."""
    lengths = np.fromiter(map(len, ids), dtype=np.int64, count=len(ids))
    return np.fromiter(chain.from_iterable(ids), dtype=np.int32), lengths


def _build(tokens: np.ndarray, lengths: np.ndarray, indices: np.ndarray) -> NameTrie:
    """tokens, lengths: see `_flat`. indices (np.ndarray): int32[n], of the names."""
    written = lengths > 1
    if not written.all():
        logger.warning(
            f"{(~written).sum()} of {len(lengths)} names have no tokens in this model, so it "
            "cannot find them."
        )
        tokens = tokens[np.repeat(written, lengths)]
    offsets = np.concatenate([[0], np.cumsum(lengths[written])])
    return NameTrie.build(tokens, offsets, indices[written])
