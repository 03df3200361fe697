"""What is compiled once and kept, by several processes at once too."""

from pathlib import Path

import numpy as np
import pytest

from spacy_angel.vocabulary.storage import compiled
from spacy_angel.vocabulary.storage.compiled import CompiledNames, Layout

INDEX = Layout("index", 1, ("numbers",))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "cache_folder", lambda: tmp_path / "cache")


def compile_one(folder: Path | None, number: int) -> int:
    """RETURNS (int): the number, or what was compiled before."""
    return CompiledNames("names", folder).get(
        "x",
        INDEX,
        lambda: {"numbers": np.array([number])},
        lambda columns: int(columns["numbers"][0]),
    )


def test_it_is_compiled_once(tmp_path: Path) -> None:
    assert compile_one(tmp_path, 1) == 1
    assert compile_one(tmp_path, 2) == 1
    assert compile_one(None, 2) == 2


def test_a_damaged_one_is_compiled_again(tmp_path: Path) -> None:
    compile_one(tmp_path, 1)
    (tmp_path / "x/numbers.npy").write_bytes(b"damaged")
    assert compile_one(tmp_path, 2) == 2
    assert compile_one(tmp_path, 3) == 2


def test_what_cannot_be_stored_in_the_folder_is_cached_or_stays_in_memory(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("", encoding="utf8")
    assert [compile_one(tmp_path / "file", n) for n in (1, 2)] == [1, 1]
    (tmp_path / "cache/compiled/x/numbers.npy").unlink()
    (tmp_path / "cache").rename(tmp_path / "old")
    (tmp_path / "cache").write_text("", encoding="utf8")
    assert compile_one(tmp_path / "file", 3) == 3
    assert "cannot be stored" in caplog.text
