"""Names compiled to flat arrays: what a search may write next, and where it then is."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from ...errors import AngelError
from .arrays import open_folder, write_folder

KIND = "spacy-angel name trie"
VERSION = 1
MAX_NODES = 2**31 - 2
"""Nodes are numbered by int32, and `first_child` has one number more than there are nodes."""
COLUMNS = ("token", "first_child", "leaf_begin", "leaf_end", "name_offsets", "names")


@dataclass(frozen=True, eq=False)
class NameTrie:
    """A trie of token sequences as flat arrays, walked by integer state.

    Nodes are numbered level by level; the children of node `i` are the nodes
    `first_child[i] .. first_child[i + 1] - 1`, sorted by token. A leaf is the node that the end
    token enters; leaves are numbered in lexicographic order of the token sequences, so that the
    leaves under node `i` are `leaf_begin[i] .. leaf_end[i] - 1`. Of a subset of the names, the
    ones under a node are counted by a difference of prefix sums over the leaves.

    With end token 2, the names `5 2` and `5 7 2` make four nodes below the root:

        node                token  first_child  leaves
        0  root                -        1        0..1
        1  5                   5        2        0..1
        2  5 2   (leaf 0)      2        4        0
        3  5 7                 7        4        1
        4  5 7 2 (leaf 1)      2        5        1
                                       (5)

    token (np.ndarray): uint16[n_nodes], or int32 where a token needs it: the token that leads into
        a node; the root's entry means nothing.
    first_child (np.ndarray): int32[n_nodes + 1].
    leaf_begin (np.ndarray): int32[n_nodes].
    leaf_end (np.ndarray): int32[n_nodes].
    name_offsets (np.ndarray): int32[n_leaves + 1], where a leaf's names stand in `names`; empty
        where every leaf has one, so that with tokens of two bytes a node takes at most 16.
    names (np.ndarray): int32[n_names], indices into the vocabulary's names.
    fingerprint (str): digest of the tokenizer and the names it was built from.
    """

    token: np.ndarray
    first_child: np.ndarray
    leaf_begin: np.ndarray
    leaf_end: np.ndarray
    name_offsets: np.ndarray
    names: np.ndarray
    fingerprint: str = ""

    @classmethod
    def build(
        cls,
        tokens: np.ndarray,
        offsets: np.ndarray,
        names: np.ndarray | None = None,
        fingerprint: str = "",
    ) -> "NameTrie":
        """Compile token sequences by sorting them level by level.

        tokens (np.ndarray): int32[total], all sequences one after the other, each with the end
            token at its end and nowhere else.
        offsets (np.ndarray): int64[n + 1], sequence `i` is `tokens[offsets[i]:offsets[i + 1]]`.
        names (np.ndarray | None): int32[n], name index of each sequence; by default `0 .. n - 1`.
            Equal sequences share a leaf.
        fingerprint (str): digest of the tokenizer and the names.
        RETURNS (NameTrie): the trie.
        RAISES (AngelError): a sequence does not end with the end token, or has it inside.
        """
        n = len(offsets) - 1
        names = np.arange(n, dtype=np.int32) if names is None else names.astype(np.int32)
        end = _end_token(tokens, offsets)
        # `order[p]` is the sequence at sorted position p; a node covers a range of positions, and
        # each level sorts the positions within the nodes of the level above. `position` are those
        # that go on, `group` the nodes of the last level that they are in. For `5 7 2`, `5 2`:
        #
        #     depth  position  group  step  by_key  new nodes      order
        #     0      0 1       0 0    5 5   0 1     5 at 0..1      0 1
        #     1      0 1       0 0    7 2   1 0     2 at 0, 7 at 1  1 0
        #     2      1         1      2     0       2 at 1         1 0
        order = np.arange(n, dtype=np.int32)
        position = np.arange(n, dtype=np.int32)
        group = np.zeros(n, dtype=np.int32)
        leaf_starts = np.zeros(n + 1, dtype=bool)
        fits = not len(tokens) or tokens.max() <= np.iinfo(np.uint16).max
        root = np.zeros(1, dtype=np.uint16 if fits else np.int32)
        levels = [_Level(root, np.zeros(1, dtype=np.int32), np.full(1, n, dtype=np.int32))]
        depth = 0
        while len(position):
            step = tokens[offsets[order[position]] + depth]
            key = (group.astype(np.int64) << 32) | step
            by_key = np.argsort(key, kind="stable")
            order[position] = order[position[by_key]]
            key = key[by_key]
            first = np.flatnonzero(np.r_[True, key[1:] != key[:-1]])
            last = np.r_[first[1:], len(key)] - 1
            token = (key[first] & 0xFFFFFFFF).astype(levels[0].token.dtype)
            n_children = np.bincount(key[first] >> 32, minlength=len(levels[-1].token))
            levels[-1].n_children = n_children.astype(np.int32)
            levels.append(_Level(token, position[first], position[last] + 1))
            leaf_starts[position[first[token == end]]] = True
            group = np.repeat(np.arange(len(first), dtype=np.int32), last - first + 1)
            inner = token[group] != end
            position, group = position[inner], group[inner]
            depth += 1
        n_nodes = sum(len(level.token) for level in levels)
        if n_nodes > MAX_NODES:
            raise AngelError(
                f"The names need {n_nodes} trie nodes, more than {MAX_NODES}. Split the vocabulary."
            )
        # positions count sequences, leaves count distinct sequences
        leaf_at = np.zeros(n + 1, dtype=np.int32)
        np.cumsum(leaf_starts[:-1], out=leaf_at[1:])
        children = np.concatenate([level.n_children for level in levels])
        first_child = np.ones(n_nodes + 1, dtype=np.int32)
        np.cumsum(children, out=first_child[1:])
        first_child[1:] += 1
        return cls(
            token=np.concatenate([level.token for level in levels]),
            first_child=first_child,
            leaf_begin=leaf_at[np.concatenate([level.begin for level in levels])],
            leaf_end=leaf_at[np.concatenate([level.end for level in levels])],
            name_offsets=_offsets_if_shared(leaf_starts),
            names=names[order],
            fingerprint=fingerprint,
        )

    @property
    def n_nodes(self) -> int:
        """RETURNS (int): number of nodes, the root included."""
        return len(self.token)

    @property
    def n_leaves(self) -> int:
        """RETURNS (int): number of distinct token sequences."""
        return len(self.name_offsets) - 1 if len(self.name_offsets) else len(self.names)

    def names_of_leaf(self, leaf: int) -> np.ndarray:
        """leaf (int): leaf number. RETURNS (np.ndarray): int32, the indices of its names."""
        if not len(self.name_offsets):
            return self.names[leaf : leaf + 1]
        return self.names[self.name_offsets[leaf] : self.name_offsets[leaf + 1]]

    def leaf_prefix_sums(self, allowed: np.ndarray) -> np.ndarray:
        """Prepare a subset of the names for the search.

        allowed (np.ndarray): bool[n], one entry a name index of the vocabulary.
        RETURNS (np.ndarray): int32[n_leaves + 1]; node `i` leads to an allowed name if
            `sums[leaf_end[i]] - sums[leaf_begin[i]] > 0`.
        """
        legal = allowed[self.names]
        if len(self.name_offsets):
            legal = np.logical_or.reduceat(legal, self.name_offsets[:-1])
        sums = np.zeros(self.n_leaves + 1, dtype=np.int32)
        np.cumsum(legal, out=sums[1:])
        return sums

    def to_disk(self, path: Path) -> None:
        """path (Path): folder to write, `.npy` files and `meta.json`."""
        write_folder(path, KIND, VERSION, self._columns(), {"fingerprint": self.fingerprint})

    @classmethod
    def from_disk(cls, path: Path, fingerprint: str | None = None) -> "NameTrie":
        """Open a stored trie.

        path (Path): its folder.
        fingerprint (str | None): what it must have been built from; None takes any.
        RETURNS (NameTrie): the trie.
        RAISES (AngelError): where the folder is missing, foreign or damaged, or the fingerprint
            another.
        """
        columns, meta = open_folder(path, KIND, VERSION, COLUMNS)
        stored_fingerprint = meta.get("fingerprint")
        if not isinstance(stored_fingerprint, str) or fingerprint not in (None, stored_fingerprint):
            raise AngelError(
                f"The name trie in {path} was built from another tokenizer or other names: its "
                f"fingerprint is {stored_fingerprint}, that of model and vocabulary {fingerprint}."
            )
        return cls(**columns, fingerprint=stored_fingerprint)

    def _columns(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name in COLUMNS}


class EntryNumbers(Protocol):
    """Names with their suffixes by number; `suffixes.Entries` is one."""

    def at(self, number: int) -> tuple[int, str]: ...


@dataclass(frozen=True)
class SearchSpace:
    """The names that a search may write.

    tries (tuple[NameTrie, ...]): the vocabulary's own, then the one of the names added while
        running where there are any; their name indices are the vocabulary's.
    masks (tuple[tuple[np.ndarray, ...] | None, ...]): the subsets in use, to be named by number;
        each has the leaf prefix sums of every trie, or is None where all names are allowed.
    allowed (tuple[np.ndarray | None, ...]): bool[n_names] of each subset, which tells the names of
        a leaf apart; None, or not given, where a leaf that is allowed is so with all its names.
    entries (EntryNumbers | None): where names have suffixes: the tries hold numbers of these in
        the place of name indices.
    allowed_entries (tuple[np.ndarray | None, ...]): with `entries`, the same of their numbers.
    """

    tries: tuple[NameTrie, ...]
    masks: tuple[tuple[np.ndarray, ...] | None, ...] = (None,)
    allowed: tuple[np.ndarray | None, ...] = ()
    entries: EntryNumbers | None = None
    allowed_entries: tuple[np.ndarray | None, ...] = ()

    def name_at(self, number: int) -> tuple[int, str | None]:
        """number (int): as a trie holds it. RETURNS (tuple[int, str | None]): name index and
        suffix, None where names have none."""
        return (number, None) if self.entries is None else self.entries.at(number)

    def allowed_numbers(self, subset: int) -> np.ndarray | None:
        """subset (int): its number. RETURNS (np.ndarray | None): bool by the numbers that the tries
        hold; None: all."""
        allowed = self.allowed if self.entries is None else self.allowed_entries
        return allowed[subset] if allowed else None


class _Level:
    """The nodes of one depth: token, range of sorted positions, number of children."""

    def __init__(self, token: np.ndarray, begin: np.ndarray, end: np.ndarray) -> None:
        self.token = token
        self.begin = begin
        self.end = end
        self.n_children = np.zeros(len(token), dtype=np.int32)


def _offsets_if_shared(leaf_starts: np.ndarray) -> np.ndarray:
    """int32[n_leaves + 1], or empty where each of the n positions starts a leaf."""
    n = len(leaf_starts) - 1
    if leaf_starts[:n].all():
        return np.zeros(0, dtype=np.int32)
    return np.r_[np.flatnonzero(leaf_starts[:n]), n].astype(np.int32)


def _end_token(tokens: np.ndarray, offsets: np.ndarray) -> int:
    """The token that ends every sequence and occurs nowhere else, so that none is a prefix
    of another."""
    if len(offsets) < 2:
        return -1
    end = int(tokens[offsets[1] - 1]) if offsets[1] else -1
    is_last = np.zeros(len(tokens), dtype=bool)
    is_last[offsets[1:] - 1] = True
    if not np.diff(offsets).all() or ((tokens == end) != is_last).any():
        raise AngelError(f"Every token sequence must contain the end token {end} once, at its end.")
    return end
