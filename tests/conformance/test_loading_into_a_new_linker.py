"""`from_disk` and `from_bytes` into a pipeline with the default config bring the settings; bytes
bring compiled tries."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from spacy import Language
from support.tiny_linker import pipeline

from spacy_angel.vocabulary.lookup import search_spaces


def test_disk_and_bytes(make: Callable[..., Language], tmp_path: Path) -> None:
    nlp = make(threshold=0.3, num_beams=2)
    nlp.to_disk(tmp_path / "saved")
    read, filled, alone = (pipeline() for _ in range(3))
    for other in (read, filled, alone):
        other.add_pipe("angel_linker")
    read.from_disk(tmp_path / "saved")
    filled.from_bytes(nlp.to_bytes())
    alone.get_pipe("angel_linker").from_disk(tmp_path / "saved/angel_linker")
    for other in (read, filled, alone):
        assert other.get_pipe("angel_linker").settings == nlp.get_pipe("angel_linker").settings
        assert other.config["components"]["angel_linker"]["decision"]["threshold"] == 0.3


def test_bytes_are_read_without_compiling(
    make: Callable[..., Language], vocabulary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(vocabulary, tmp_path / "kb", ignore=shutil.ignore_patterns("tries"))
    nlp = make(vocabulary=str(tmp_path / "kb"))
    expected = [ent.kb_id_ for ent in nlp("heart attack and aspirin").ents]
    data = nlp.to_bytes()
    monkeypatch.setattr(search_spaces, "compile_names", None)
    assert [e.kb_id_ for e in make().from_bytes(data)("heart attack and aspirin").ents] == expected
