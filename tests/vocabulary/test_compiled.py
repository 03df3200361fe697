"""What is compiled once and kept, by several processes at once too."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.storage import compiled
from spacy_angel.vocabulary.storage.compiled import open_or_compile


@dataclass
class Index:
    text: str

    def to_disk(self, path: Path) -> None:
        path.mkdir(parents=True)
        (path / "text").write_text(self.text, encoding="utf8")


def read(path: Path) -> Index:
    text = (path / "text").read_text(encoding="utf8")
    if text == "damaged":
        raise AngelError("damaged")
    return Index(text)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(compiled, "cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache/compiled/x"


def test_it_is_compiled_once(tmp_path: Path) -> None:
    folder = tmp_path / "x"
    assert open_or_compile(folder, "index", read, lambda: Index("one")).text == "one"
    assert open_or_compile(folder, "index", read, lambda: Index("two")).text == "one"
    assert open_or_compile(None, "index", read, lambda: Index("two")).text == "two"


def test_a_damaged_one_is_compiled_anew(tmp_path: Path) -> None:
    Index("damaged").to_disk(tmp_path / "x")
    assert open_or_compile(tmp_path / "x", "index", read, lambda: Index("one")).text == "one"
    assert read(tmp_path / "x").text == "one"


def test_where_nothing_can_be_stored_it_stays_in_memory(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("", encoding="utf8")
    (tmp_path / "cache").write_text("", encoding="utf8")
    found = open_or_compile(tmp_path / "file/x", "index", read, lambda: Index("own"))
    assert found.text == "own"
    assert "cannot be stored" in caplog.text
