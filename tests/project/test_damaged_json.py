"""Every JSON file that is opened, damaged in every way that files are: an error that says so, or
what was meant; never a KeyError or a TypeError from the depths."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.tiny_annotation import make_pipeline

from spacy_angel.annotation.pipeline_folder import folder_fingerprint
from spacy_angel.errors import AngelError
from spacy_angel.pipelines.load import open_pipeline

NO_JSON = [b"", b'{"a": ', b"\xff\xfe{}", b"[" * 100_000, b'{"a":' * 100_000, b"9" * 5000]
JUNK: list[Any] = [None, True, 3, -1, 1.5, 10**400, "", "x", [], [3], {}, {"a": 3}]


def damaged(content: bytes) -> Iterator[bytes]:
    """No JSON; other values in place of the whole, and of each key at the top; each key left
    out."""
    yield from NO_JSON
    whole = json.loads(content)
    yield from (json.dumps(junk).encode() for junk in JUNK)
    for key in whole if isinstance(whole, dict) else ():
        yield json.dumps({k: v for k, v in whole.items() if k != key}).encode()
        yield from (json.dumps(whole | {key: junk}).encode() for junk in JUNK)


def attack(file: Path, open_it: Callable[[], Any], *, most: int = 1000) -> int:
    """RETURNS (int): in how many cases there was an AngelError; any other error is raised."""
    content = file.read_bytes()
    refused = 0
    try:
        for data in list(damaged(content))[:most]:
            file.write_bytes(data)
            try:
                open_it()
            except AngelError:
                refused += 1
    finally:
        file.write_bytes(content)
    return refused


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_pipeline(tmp_path_factory.mktemp("pipeline"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "at_least"),
    [("meta.json", 4), ("sentencizer.json", 7)],
)
def test_pipelines_with_damaged_files_are_refused(
    pipeline: Path, tmp_path: Path, name: str, at_least: int
) -> None:
    folder = tmp_path / "pipeline"
    shutil.copytree(pipeline, folder)

    def open_it() -> None:
        folder_fingerprint(folder)
        open_pipeline(folder)

    assert attack(folder / name, open_it, most=15) >= at_least


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "angel.json"])
def test_checkpoints_with_damaged_files_are_refused(
    pipeline: Path, tmp_path: Path, name: str
) -> None:
    from spacy_angel.model.checkpoint import open_checkpoint

    folder = tmp_path / "model"
    shutil.copytree(pipeline / "angel_linker/model", folder)
    assert attack(folder / name, lambda: open_checkpoint(folder, only_search=True), most=20) >= 8
