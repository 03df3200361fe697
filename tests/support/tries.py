"""Name tries of token sequences written out."""

import numpy as np

from spacy_angel.vocabulary.storage.trie import NameTrie

END = 2


def trie(*names: tuple[int, ...], first: int = 0) -> NameTrie:
    """names (tuple[int, ...]): token ids, END last. first (int): number of the first name.
    RETURNS (NameTrie)."""
    flat = np.array([token for name in names for token in name], dtype=np.int32)
    offsets = np.cumsum([0, *map(len, names)])
    return NameTrie.build(flat, offsets, np.arange(first, first + len(names), dtype=np.int32))
