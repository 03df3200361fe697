"""Helpers shared by several tests."""

import os
from pathlib import Path

import pytest

from spacy_angel.about import shipped_folder

SHIPPED_MODEL = shipped_folder() / "angel_linker" / "model"
ROOT = Path(__file__).parents[2]


def shared_data(relative: str) -> Path:
    """Find a file of the public data that is not part of the project, e.g.
    `mesh/mesh_2019_descriptors.tsv`; without it, the test is skipped."""
    folder = Path(os.environ.get("SPACY_ANGEL_DATA", ROOT.parent / "shared/data"))
    path = folder / relative
    if not path.exists():
        pytest.skip(f"needs {relative} in {folder} (set SPACY_ANGEL_DATA)")
    return path


def sequences_of(trie):
    """Return every token sequence in a name trie, in lexicographic order, with its leaf."""
    stack = [(0, ())]
    while stack:
        node, path = stack.pop()
        children = range(trie.first_child[node], trie.first_child[node + 1])
        if not children and node:
            yield path, int(trie.leaf_begin[node])
        stack.extend((child, (*path, int(trie.token[child]))) for child in reversed(children))
