"""What runs and saves with linkers of another pipeline loads, too."""

from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
from spacy import Language
from support.tiny_linker import pipeline


def test_sourced_twice(make: Callable[..., Language], tmp_path: Path) -> None:
    other, nlp = make(), pipeline()
    nlp.add_pipe("angel_linker", source=other)
    nlp.add_pipe("angel_linker", name="second", source=other)
    expected = nlp("aspirin").ents[0].kb_id_
    nlp.to_disk(tmp_path / "saved")
    with pytest.warns(UserWarning, match="'angel_linker' and 'second' both write"):
        loaded = spacy.load(tmp_path / "saved")
    assert loaded("aspirin").ents[0].kb_id_ == expected == "MESH:D001241"
