"""Names to token sequences to tries: the vocabulary's once, the added ones before a search."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Protocol

import numpy as np
import pygtrie
from tqdm import tqdm

from .trie import NameTrie

logger = logging.getLogger(__name__)

# names a call of the tokenizer gets; their lists of ids are the only Python objects alive
_CHUNK = 16384


class NameTokenizer(Protocol):
    """What turns names into token ids; `spacy_angel.model.prompts.PromptEncoder` is one."""

    @property
    def fingerprint(self) -> str:
        """RETURNS (str): digest of what decides a name's token ids."""

    @property
    def writes_suffixes(self) -> bool:
        """RETURNS (bool): whether the model writes suffixes behind names of several concepts."""

    def encode_names(self, names: Sequence[str]) -> list[list[int]]:
        """RETURNS (list[list[int]]): the ids of each name, the end token last."""


def compile_names(
    names: Iterable[str], n: int, tokenizer: NameTokenizer, fingerprint: str
) -> NameTrie:
    """Build the trie of a vocabulary.

    Names of which the tokenizer leaves nothing but the end token cannot be written by a model:
    they stay out, and a warning tells how many.

    names (Iterable[str]): in normal form, in the order of their indices.
    n (int): how many there are.
    tokenizer (NameTokenizer): the model's.
    fingerprint (str): of tokenizer and names.
    RETURNS (NameTrie): the trie.
    """
    flat, lengths = [], []
    with tqdm(total=n, desc="Compiling names", unit=" names", disable=None) as progress:
        for chunk in _chunks(names):
            ids = tokenizer.encode_names(chunk)
            lengths.append(np.fromiter(map(len, ids), dtype=np.int64, count=len(ids)))
            flat.append(np.fromiter(chain.from_iterable(ids), dtype=np.int32))
            progress.update(len(chunk))
    tokens = np.concatenate([*flat, np.zeros(0, dtype=np.int32)])
    flat.clear()
    length = np.concatenate([*lengths, np.zeros(0, dtype=np.int64)])
    written = length > 1
    if not written.all():
        logger.warning(
            f"{int((~written).sum())} of {n} names have no tokens in this model, so it cannot find "
            "them."
        )
        tokens = tokens[np.repeat(written, length)]
    offsets = np.concatenate([[0], np.cumsum(length[written])])
    return NameTrie.build(tokens, offsets, np.flatnonzero(written), fingerprint)


class AddedNames:
    """The names added while running, as one tokenizer writes them.

    They live in a pygtrie trie of token sequences, which is compiled when it has changed.
    """

    def __init__(self) -> None:
        self._trie: pygtrie.Trie = pygtrie.Trie()
        self._tokens: dict[int, tuple[int, ...]] = {}
        self._compiled = NameTrie.build(np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64))

    def update(self, names: Mapping[int, str], tokenizer: NameTokenizer) -> NameTrie:
        """Follow the vocabulary.

        names (Mapping[int, str]): all added names there are now, by index.
        tokenizer (NameTokenizer): the model's.
        RETURNS (NameTrie): their trie.
        """
        gone = self._tokens.keys() - names.keys()
        new = sorted(names.keys() - self._tokens.keys())
        for i in gone:
            self._remove(i)
        for chunk in _chunks(new):
            for i, ids in zip(
                chunk, tokenizer.encode_names([names[i] for i in chunk]), strict=True
            ):
                self._add(i, names[i], tuple(ids))
        if gone or new:
            self._compiled = self._compile()
        return self._compiled

    def _add(self, i: int, name: str, tokens: tuple[int, ...]) -> None:
        self._tokens[i] = tokens
        if len(tokens) > 1:
            self._trie.setdefault(tokens, set()).add(i)
        else:
            logger.warning(
                f"The added name {name!r} has no tokens in this model, so it cannot find it."
            )

    def _remove(self, i: int) -> None:
        tokens = self._tokens.pop(i)
        if len(tokens) > 1:
            self._trie[tokens].remove(i)
            if not self._trie[tokens]:
                del self._trie[tokens]

    def _compile(self) -> NameTrie:
        pairs = [(tokens, i) for tokens, names in self._trie.iteritems() for i in sorted(names)]
        lengths = np.array([len(tokens) for tokens, _ in pairs], dtype=np.int64)
        flat = np.fromiter(chain.from_iterable(tokens for tokens, _ in pairs), dtype=np.int32)
        names = np.array([i for _, i in pairs], dtype=np.int32)
        return NameTrie.build(flat, np.concatenate([[0], np.cumsum(lengths)]), names)


def _chunks(items: Iterable) -> Iterator[list]:
    iterator = iter(items)
    while chunk := list(islice(iterator, _CHUNK)):
        yield chunk
