"""Runs open a folder's pipeline once for all tests of a file: opening takes most of a small run."""

from collections.abc import Iterator

import pytest

from spacy_angel.annotation import shards
from spacy_angel.annotation.document_linker import DocumentLinker, LinkingSettings, open_linker


@pytest.fixture(scope="module", autouse=True)
def opened_once() -> Iterator[None]:
    opened: dict[tuple[str, str | None], DocumentLinker] = {}

    def once(folder: str, device: str | None, settings: LinkingSettings) -> DocumentLinker:
        if (folder, device) not in opened:
            opened[folder, device] = open_linker(folder, device, LinkingSettings())
        link = opened[folder, device]
        return DocumentLinker(link.nlp, link.linker, settings)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "open_linker", once)
        yield
