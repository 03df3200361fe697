"""A linker from bytes needs no compiling."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from spacy import Language

from spacy_angel.vocabulary.lookup import search_spaces


def test_bytes_are_read_without_compiling(
    make: Callable[..., Language], vocabulary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(vocabulary, tmp_path / "kb", ignore=shutil.ignore_patterns("tries"))
    nlp = make(vocabulary=str(tmp_path / "kb"))
    expected = [ent.kb_id_ for ent in nlp("heart attack and aspirin").ents]
    data = nlp.to_bytes()
    monkeypatch.setattr(search_spaces, "compile_names", None)
    assert [e.kb_id_ for e in make().from_bytes(data)("heart attack and aspirin").ents] == expected
