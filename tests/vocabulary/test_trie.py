"""The name trie against a plain dictionary, and against damage."""

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.storage import trie as trie_module
from spacy_angel.vocabulary.storage.trie import NameTrie

END = 2

# few distinct tokens make shared beginnings and equal sequences likely; 70000 needs int32
sequences = st.lists(
    st.lists(st.sampled_from([0, 1, 3, 4, 70000]), min_size=1, max_size=6).map(lambda s: [*s, END]),
    max_size=40,
)


def make_trie(token_lists, names=None, fingerprint="f"):
    flat = np.array([token for tokens in token_lists for token in tokens], dtype=np.int32)
    offsets = np.cumsum([0, *map(len, token_lists)]).astype(np.int64)
    return NameTrie.build(flat, offsets, names, fingerprint)


def test_arrays_of_the_docstring_example():
    trie = make_trie([[5, 7, 2], [5, 2]])
    assert trie.token.tolist() == [0, 5, 2, 7, 2]
    assert trie.first_child.tolist() == [1, 2, 4, 4, 5, 5]
    assert trie.leaf_begin.tolist() == [0, 0, 0, 1, 1]
    assert trie.leaf_end.tolist() == [2, 2, 1, 2, 2]
    assert [trie.names_of_leaf(leaf).tolist() for leaf in range(2)] == [[1], [0]]


def test_more_nodes_than_can_be_numbered_are_refused(monkeypatch):
    assert np.iinfo(np.int32).max == trie_module.MAX_NODES + 1
    monkeypatch.setattr(trie_module, "MAX_NODES", 5)
    assert len(make_trie([[5, 7, 2], [5, 2]]).token) == 5
    with pytest.raises(AngelError, match="need 6 trie nodes"):
        make_trie([[5, 7, 8, 2], [5, 2]])


def test_equal_sequences_share_a_leaf():
    trie = make_trie([[5, 2], [4, 2], [5, 2]], np.array([7, 8, 9], dtype=np.int32))
    assert trie.n_leaves == 2
    assert trie.names_of_leaf(0).tolist() == [8]
    assert trie.names_of_leaf(1).tolist() == [7, 9]


def test_a_trie_without_names_has_a_root_and_no_leaf():
    trie = make_trie([])
    assert (trie.n_nodes, trie.n_leaves, list(trie.sequences())) == (1, 0, [])
    assert trie.leaf_prefix_sums(np.zeros(0, dtype=bool)).tolist() == [0]


def test_tokens_take_two_bytes_where_they_fit():
    assert make_trie([[65535, 2]]).token.dtype == np.uint16
    assert make_trie([[65536, 2]]).token.dtype == np.int32


@given(sequences)
def test_a_node_takes_at_most_16_bytes(token_lists):
    distinct = sorted({tuple(t) for t in token_lists if 70000 not in t})
    trie = make_trie(distinct)
    # the offset behind the last child is one for the whole trie
    assert trie.nbytes - trie.first_child.itemsize <= 16 * trie.n_nodes


@given(sequences)
def test_children_and_leaves_equal_those_of_a_dictionary(token_lists):
    trie = make_trie(token_lists)
    children: dict = {(): set()}
    for tokens in token_lists:
        for n in range(len(tokens)):
            children.setdefault(tuple(tokens[:n]), set()).add(tokens[n])
    distinct = sorted(set(map(tuple, token_lists)))
    stack = [(0, ())]
    visited = 0
    while stack:
        node, path = stack.pop()
        visited += 1
        below = [i for i, tokens in enumerate(distinct) if tokens[: len(path)] == path]
        assert list(range(trie.leaf_begin[node], trie.leaf_end[node])) == below
        nodes = range(trie.first_child[node], trie.first_child[node + 1])
        assert [trie.token[child] for child in nodes] == sorted(children.get(path, ()))
        stack += [(child, (*path, int(trie.token[child]))) for child in nodes]
    assert visited == trie.n_nodes
    for leaf, tokens in enumerate(distinct):
        expected = [i for i, other in enumerate(token_lists) if tuple(other) == tokens]
        assert trie.names_of_leaf(leaf).tolist() == expected


@given(sequences, st.data())
def test_prefix_sums_equal_counting(token_lists, data):
    trie = make_trie(token_lists)
    n = len(token_lists)
    allowed = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=bool)
    sums = trie.leaf_prefix_sums(allowed)
    legal = {tuple(tokens) for tokens, ok in zip(token_lists, allowed, strict=True) if ok}
    paths = {0: ()}
    for node in range(trie.n_nodes):
        path = paths[node]
        count = sum(tokens[: len(path)] == path for tokens in legal)
        assert sums[trie.leaf_end[node]] - sums[trie.leaf_begin[node]] == count
        for child in range(trie.first_child[node], trie.first_child[node + 1]):
            paths[child] = (*path, int(trie.token[child]))


@given(sequences)
def test_sequences_give_back_what_went_in(token_lists):
    trie = make_trie(token_lists)
    expected = list(enumerate(sorted(set(map(tuple, token_lists)))))
    assert [(leaf, path) for path, leaf in trie.sequences()] == expected


@pytest.mark.parametrize(
    ("token_lists", "wrong"),
    [([[5, 2], [5, 7]], 1), ([[5, 2], [2, 5, 2]], 1), ([[5, 2], []], 1), ([[], [5, 2]], 0)],
)
def test_the_end_token_stands_at_the_end_only(token_lists, wrong):
    found = re.escape(str(token_lists[wrong]))
    with pytest.raises(AngelError, match=rf"sequence {wrong} .* is {found}; .*end token"):
        make_trie(token_lists)


def test_a_stored_trie_is_mapped_and_refuses_another_fingerprint(tmp_path):
    trie = make_trie([[5, 7, 2], [5, 2]], fingerprint="bart+medic")
    trie.to_disk(tmp_path / "trie")
    stored = NameTrie.from_disk(tmp_path / "trie", "bart+medic")
    assert isinstance(stored.token.base, np.memmap)
    assert list(stored.sequences()) == [((5, 2), 0), ((5, 7, 2), 1)]
    assert stored.names.tolist() == trie.names.tolist()
    with pytest.raises(AngelError, match=r"bart\+medic.*t5\+medic"):
        NameTrie.from_disk(tmp_path / "trie", "t5+medic")


def test_an_empty_trie_can_be_stored(tmp_path):
    make_trie([]).to_disk(tmp_path / "trie")
    assert NameTrie.from_disk(tmp_path / "trie").n_leaves == 0


def _cut(folder):
    file = folder / "token.npy"
    file.write_bytes(file.read_bytes()[:-3])


def _flip(folder):
    file = folder / "names.npy"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)


def _remove(folder):
    (folder / "leaf_end.npy").unlink()


def _cut_meta(folder):
    (folder / "meta.json").write_text('{"kind": "spacy-ang')


def _exchange(folder):
    np.save(folder / "first_child.npy", np.zeros(3, dtype=np.int64))


def _pickle(folder):
    np.save(folder / "names.npy", np.array([{}, {}], dtype=object), allow_pickle=True)


@pytest.mark.parametrize("damage", [_cut, _flip, _remove, _cut_meta, _exchange, _pickle])
def test_a_damaged_folder_is_an_error(tmp_path, damage):
    make_trie([[5, 7, 2], [5, 2]]).to_disk(tmp_path / "trie")
    damage(tmp_path / "trie")
    with pytest.raises(AngelError, match="is damaged"):
        NameTrie.from_disk(tmp_path / "trie")


def test_foreign_and_newer_folders_are_errors(tmp_path):
    with pytest.raises(AngelError, match="is not a spacy-angel name trie"):
        NameTrie.from_disk(tmp_path)
    make_trie([[5, 2]]).to_disk(tmp_path / "trie")
    meta = json.loads((tmp_path / "trie/meta.json").read_text())
    (tmp_path / "trie/meta.json").write_text(json.dumps({**meta, "version": 99}))
    with pytest.raises(AngelError, match="version 99"):
        NameTrie.from_disk(tmp_path / "trie")
    (tmp_path / "trie/meta.json").write_text(json.dumps({**meta, "kind": "photographs"}))
    with pytest.raises(AngelError, match="photographs"):
        NameTrie.from_disk(tmp_path / "trie")


def test_writing_deletes_nothing_foreign(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(AngelError, match="contains something other"):
        make_trie([[5, 2]]).to_disk(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
