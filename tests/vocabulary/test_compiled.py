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


def test_a_damaged_one_is_compiled_again(tmp_path: Path) -> None:
    compile_one(tmp_path, 1)
    (tmp_path / "x/numbers.npy").write_bytes(b"damaged")
    assert compile_one(tmp_path, 2) == 2
    assert compile_one(tmp_path, 3) == 2
