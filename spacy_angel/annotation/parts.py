"""Finished batches of a shard that is not whole yet, kept for the run that goes on with it.

A line a batch, in the order in which they were finished: its number and the mentions of each of
its documents. Batches are linked each for itself, so those that are kept and those that are made
anew give the same shard. A batch with a document that failed is not kept: it was perhaps the
machine's fault. The file is closed by every end of a process, and a line that is not whole, or was
written for other documents or settings, is as if it were not there.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from ..corpora.documents import CorpusDocument
from ..files.json_values import parse_as
from .disk import writing
from .documents import AnnotatedDocument, AnnotatedMention
from .folder import MANIFEST, PART, part_name
from .records import Manifest


@dataclass
class _Batch:
    """A line: number (int) of the batch, mentions (tuple) of its documents, and what the shard's
    key (str) was."""

    number: int
    mentions: tuple[tuple[AnnotatedMention, ...], ...]
    key: str


class PartFile(AbstractContextManager["PartFile"]):
    """The finished batches of a shard; a context, in which batches can be added.

    folder (Path): the output. file (str): name of the shard.
    documents (Sequence[CorpusDocument]): of the shard. batch_size (int): documents of a batch.
    key (str): stands for the documents and all that decides their links.
    """

    def __init__(
        self,
        folder: Path,
        file: str,
        documents: Sequence[CorpusDocument],
        batch_size: int,
        key: str,
    ) -> None:
        self._path = folder / part_name(file)
        self._key = key
        self.batches: dict[int, list[AnnotatedDocument]] = {}
        with writing(self._path):
            self._file = open(self._path, "a+b", buffering=0)  # noqa: SIM115 (closed by __exit__)
            self._file.seek(0)
            data = self._file.read()
            # What a killed process left of a line must not begin the next one.
            data = data[: data.rfind(b"\n") + 1]
            self._file.truncate(len(data))
        for batch in _batches(data):
            if batch.key == key:
                start = batch.number * batch_size
                self.batches[batch.number] = [
                    AnnotatedDocument(d.doc_id, d.text, some, title_end=d.title_end)
                    for d, some in zip(
                        documents[start : start + batch_size], batch.mentions, strict=True
                    )
                ]

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, number: int, results: Sequence[AnnotatedDocument]) -> None:
        """number (int): of a batch, from 0. results (Sequence[AnnotatedDocument]): its documents.
        RAISES (AngelError): the file cannot be written."""
        mentions = [[asdict(mention) for mention in document.mentions] for document in results]
        values = {"number": number, "mentions": mentions, "key": self._key}
        line = (json.dumps(values) + "\n").encode()
        with writing(self._path):
            while line:
                line = line[self._file.write(line) :]


def documents_kept(folder: Path) -> tuple[int, int]:
    """What an interrupted run leaves.

    folder (Path): the output.
    RETURNS (tuple[int, int]): documents in its shards, as its manifest has them, and in finished
        batches of others.
    """
    whole = 0
    with suppress(OSError, ValueError):
        manifest = parse_as((folder / MANIFEST).read_bytes(), Manifest)
        whole = manifest.counts.get("documents", 0)
    parts = folder.glob(f"_*{PART}")
    return whole, sum(len(b.mentions) for path in parts for b in _batches(path.read_bytes()))


def _batches(data: bytes) -> Iterator[_Batch]:
    for line in data.splitlines():
        with suppress(ValueError):
            yield parse_as(line, _Batch)
