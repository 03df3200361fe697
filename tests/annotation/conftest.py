"""Runs open a folder's pipeline once for all tests of a file: opening takes most of a small run."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from spacy.language import Language

from spacy_angel.annotation import shards
from spacy_angel.pipelines.load import load_folder


@pytest.fixture(scope="module", autouse=True)
def opened_once() -> Iterator[None]:
    @cache
    def opened(folder: Path, device: str | None) -> Language:
        return load_folder(folder, {"runtime": {"device": device}} if device else {})

    def once(folder: Path, settings: dict[str, dict[str, str]]) -> Language:
        return opened(folder, settings.get("runtime", {}).get("device"))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "load_folder", once)
        yield
