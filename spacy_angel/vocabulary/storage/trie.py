"""Tokenized names compiled to a trie of flat arrays, which constrains the search."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...errors import AngelError
from .arrays import Columns, Layout

TRIE = Layout(
    "spacy-angel name trie",
    1,
    ("token", "first_child", "leaf_begin", "leaf_end", "name_offsets", "names"),
)


@dataclass(frozen=True, eq=False)
class NameTrie:
    """A trie of token sequences as flat arrays, walked by integer state.

    Nodes are numbered level by level; the children of node `i` are the nodes
    `first_child[i] .. first_child[i + 1] - 1`, sorted by token. A leaf is the node that the end
    token enters; leaves are numbered in lexicographic order of the token sequences, so that the
    leaves under node `i` are `leaf_begin[i] .. leaf_end[i] - 1`. The names of a subset under a node
    are counted as a difference of prefix sums over the leaves.

    With end token 2, the names `5 2` and `5 7 2` make four nodes below the root:

        node                token  first_child  leaves
        0  root                -        1        0..1
        1  5                   5        2        0..1
        2  5 2   (leaf 0)      2        4        0
        3  5 7                 7        4        1
        4  5 7 2 (leaf 1)      2        5        1
                                       (5)

    token (np.ndarray): uint16[n_nodes], or int32 for larger token ids: the token that leads to a
        node; the value of the root is meaningless.
    first_child (np.ndarray): int32[n_nodes + 1].
    leaf_begin (np.ndarray): int32[n_nodes].
    leaf_end (np.ndarray): int32[n_nodes].
    name_offsets (np.ndarray): int32[n_leaves + 1], offsets of each leaf's names in `names`; empty
        if every leaf has one name.
    names (np.ndarray): int32[n_names], indices into the vocabulary's names.
    """

    token: np.ndarray
    first_child: np.ndarray
    leaf_begin: np.ndarray
    leaf_end: np.ndarray
    name_offsets: np.ndarray
    names: np.ndarray

    @classmethod
    def build(
        cls, tokens: np.ndarray, offsets: np.ndarray, names: np.ndarray | None = None
    ) -> "NameTrie":
        """Compile token sequences.

        tokens (np.ndarray): int32[total], the concatenated sequences, each with the end token at
            its end and nowhere else.
        offsets (np.ndarray): int64[n + 1], sequence `i` is `tokens[offsets[i]:offsets[i + 1]]`.
        names (np.ndarray | None): int32[n], name index of each sequence; by default `0 .. n - 1`.
            Equal sequences share a leaf.
        RETURNS (NameTrie): the trie.
        RAISES (AngelError): a sequence does not end with the end token, or has it inside.
        """
        n, lengths = len(offsets) - 1, np.diff(offsets)
        names = np.arange(n, dtype=np.int32) if names is None else names.astype(np.int32)
        _check_end_tokens(tokens, offsets)
        # `order[p]` is the sequence at sorted position p, `shared[p]` the number of leading tokens
        # that it shares with the one before. At depth d, a node begins at each position whose
        # sequence is that long and shares fewer than d tokens; it covers the positions up to the
        # next node or shorter sequence. For `5 7 2` (sequence 0), `5 2` (1):
        #
        #     position  order  shared    nodes at depth 1  2        3
        #     0         1      0         5 (0..1)          2 (0)
        #     1         0      1                           7 (1)    2 (1)
        order = _sort(tokens, offsets)
        shared = _shared_tokens(tokens, offsets, order)
        fits = not len(tokens) or tokens.max() <= np.iinfo(np.uint16).max
        levels = [(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), np.full(1, n))]
        n_children = []
        positions, depth = np.arange(n), 1
        while len(positions):
            first = np.flatnonzero(shared[positions] < depth)
            begin = positions[first]
            end = positions[np.r_[first[1:], len(positions)] - 1] + 1
            parent = np.searchsorted(levels[-1][1], begin, side="right") - 1
            n_children.append(np.bincount(parent, minlength=len(levels[-1][1])))
            levels.append((tokens[offsets[order[begin]] + depth - 1], begin, end))
            positions = positions[lengths[order[positions]] > depth]
            depth += 1
        n_children.append(np.zeros(len(levels[-1][1]), dtype=np.int64))
        token, begin, end = (np.concatenate(arrays) for arrays in zip(*levels, strict=True))
        # positions count sequences, leaves count distinct sequences
        is_leaf = shared < lengths[order]
        leaf_at = np.r_[0, np.cumsum(is_leaf)].astype(np.int32)
        name_offsets = np.r_[np.flatnonzero(is_leaf), n] if not is_leaf.all() else np.zeros(0)
        return cls(
            token=token.astype(np.uint16 if fits else np.int32),
            first_child=np.cumsum(np.r_[1, np.concatenate(n_children)]).astype(np.int32),
            leaf_begin=leaf_at[begin],
            leaf_end=leaf_at[end],
            name_offsets=name_offsets.astype(np.int32),
            names=names[order],
        )

    @property
    def columns(self) -> Columns:
        """RETURNS (Columns): the arrays of `TRIE`."""
        return {name: getattr(self, name) for name in TRIE.columns}

    @property
    def n_leaves(self) -> int:
        """RETURNS (int): number of distinct token sequences."""
        return len(self.name_offsets) - 1 if len(self.name_offsets) else len(self.names)

    def names_of_leaf(self, leaf: int) -> np.ndarray:
        """leaf (int): leaf number.
        RETURNS (np.ndarray): int32, indices of its names."""
        if not len(self.name_offsets):
            return self.names[leaf : leaf + 1]
        return self.names[self.name_offsets[leaf] : self.name_offsets[leaf + 1]]

    def leaf_prefix_sums(self, allowed: np.ndarray) -> np.ndarray:
        """Prepare a subset of the names for the search.

        allowed (np.ndarray): bool[n], one entry per name index of the vocabulary.
        RETURNS (np.ndarray): int32[n_leaves + 1]; node `i` leads to an allowed name if
            `sums[leaf_end[i]] - sums[leaf_begin[i]] > 0`.
        """
        legal = allowed[self.names]
        if len(self.name_offsets):
            legal = np.logical_or.reduceat(legal, self.name_offsets[:-1])
        sums = np.zeros(self.n_leaves + 1, dtype=np.int32)
        np.cumsum(legal, out=sums[1:])
        return sums


@dataclass(frozen=True)
class SearchSpace:
    """The names that a search may generate.

    tries (tuple[NameTrie, ...]): the trie of the stored names, and the trie of the names added at
        run time, if any; both refer to name indices of the vocabulary.
    masks (tuple[tuple[np.ndarray, ...] | None, ...]): for each subset, the leaf prefix sums of
        every trie; None if all names are allowed. Searches refer to subsets by index.
    allowed (tuple[np.ndarray | None, ...]): for each subset, bool[n_names], required if a leaf has
        several names; None, or empty, if all names of an allowed leaf are allowed.
    """

    tries: tuple[NameTrie, ...]
    masks: tuple[tuple[np.ndarray, ...] | None, ...] = (None,)
    allowed: tuple[np.ndarray | None, ...] = ()


def _check_end_tokens(tokens: np.ndarray, offsets: np.ndarray) -> None:
    """Check that no sequence is a prefix of another: each has the end token at its end only."""
    if len(offsets) < 2:
        return
    end = int(tokens[offsets[1] - 1]) if offsets[1] else -1
    is_last = np.zeros(len(tokens), dtype=bool)
    is_last[offsets[1:] - 1] = True
    if not np.diff(offsets).all() or ((tokens == end) != is_last).any():
        raise AngelError(f"Every token sequence must contain the end token {end} once, at its end.")


def _sort(tokens: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """RETURNS (np.ndarray): int64[n], the sequences in lexicographic order, ties by index."""
    # big-endian numbers have the same order as their bytes
    data = tokens.astype(">u4").tobytes()
    keys = [data[a:b] for a, b in pairwise((4 * offsets).tolist())]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def _shared_tokens(tokens: np.ndarray, offsets: np.ndarray, order: np.ndarray) -> np.ndarray:
    """RETURNS (np.ndarray): int64[n], number of leading tokens that each sequence shares with the
    one before it."""
    lengths = np.diff(offsets)
    shared = np.zeros(len(order), dtype=np.int64)
    positions, depth = np.arange(1, len(order)), 0
    while len(positions):
        before, here = order[positions - 1], order[positions]
        inside = np.minimum(lengths[before], lengths[here]) > depth
        positions, before, here = positions[inside], before[inside], here[inside]
        equal = tokens[offsets[before] + depth] == tokens[offsets[here] + depth]
        positions = positions[equal]
        depth += 1
        shared[positions] = depth
    return shared
