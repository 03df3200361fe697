"""Tokenizes names and compiles them to tries: stored names once, added names before a search."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
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


def compile_names(names: Iterable[str], n: int, tokenizer: NameTokenizer) -> NameTrie:
    """Build the trie of a vocabulary.

    Names without tokens other than the end token cannot be generated; they are skipped with a
    warning.

    names (Iterable[str]): names in normal form, in the order of their indices.
    n (int): number of names.
    tokenizer (NameTokenizer): the model's tokenizer.
    RETURNS (NameTrie): the trie.
    """
    parts = [_flat([])]
    with tqdm(total=n, desc="Compiling names", unit=" names", disable=None) as progress:
        for chunk in _chunks(names):
            parts.append(_flat(tokenizer.encode_names(chunk)))
            progress.update(len(chunk))
    tokens, length = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    parts.clear()
    written = length > 1
    if not written.all():
        logger.warning(
            f"{(~written).sum()} of {n} names have no tokens in this model, so it cannot find them."
        )
        tokens = tokens[np.repeat(written, length)]
    offsets = np.concatenate([[0], np.cumsum(length[written])])
    return NameTrie.build(tokens, offsets, np.flatnonzero(written))


class AddedNames:
    """The names added at run time: a pygtrie trie that maps the token sequences of one tokenizer to
    names; it is recompiled after changes."""

    def __init__(self) -> None:
        self._tokens: dict[int, tuple[int, ...]] = {}
        self._trie: pygtrie.Trie = pygtrie.Trie()
        self._compiled = NameTrie.build(np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64))

    def update(self, names: Mapping[int, str], tokenizer: NameTokenizer) -> NameTrie:
        """Update the trie.

        names (Mapping[int, str]): all added names of the vocabulary, by index.
        tokenizer (NameTokenizer): the model's tokenizer.
        RETURNS (NameTrie): the trie of these names.
        """
        if self._tokens.keys() == names.keys():
            return self._compiled
        for i in self._tokens.keys() - names.keys():
            self._trie.get(self._tokens.pop(i), set()).discard(i)
        new = sorted(names.keys() - self._tokens.keys())
        encoded = tokenizer.encode_names([names[i] for i in new]) if new else []
        for i, ids in zip(new, map(tuple, encoded), strict=True):
            self._tokens[i] = ids
            if len(ids) > 1:
                self._trie.setdefault(ids, set()).add(i)
            else:
                logger.warning(
                    f"The added name {names[i]!r} has no tokens in this model and is not found."
                )
        pairs = [(ids, i) for ids, found in self._trie.iteritems() for i in sorted(found)]
        tokens, lengths = _flat([ids for ids, _ in pairs])
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        indices = np.array([i for _, i in pairs], dtype=np.int32)
        self._compiled = NameTrie.build(tokens, offsets, indices)
        return self._compiled


def _flat(ids: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """The concatenated token ids, and the length of each sequence."""
    lengths = np.fromiter(map(len, ids), dtype=np.int64, count=len(ids))
    return np.fromiter(chain.from_iterable(ids), dtype=np.int32), lengths


def _chunks(items: Iterable) -> Iterator[list]:
    iterator = iter(items)
    while chunk := list(islice(iterator, _CHUNK)):
        yield chunk
