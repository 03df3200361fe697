"""Finished batches of a shard that is not whole yet, kept for the run that goes on with it.

A line a batch, in the order in which they were finished: its number and the mentions of each of
its documents. Batches are linked each for itself, so those that are kept and those that are made
anew give the same shard. A batch with a document that failed is not kept: it was perhaps the
machine's fault. The file is closed by every end of a process, and a line that is not whole, or was
written for other documents or settings, is as if it were not there.
"""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType

from pydantic import TypeAdapter

from ..corpora.documents import CorpusDocument
from .documents import AnnotatedDocument, AnnotatedMention
from .manifest import part_name, writing
from .records import Batch, Damaged, sealed, unsealed

_BATCH: TypeAdapter[tuple[tuple[AnnotatedMention, ...], ...]] = TypeAdapter(
    tuple[tuple[AnnotatedMention, ...], ...]
)


class PartFile:
    """The finished batches of a shard; a context, in which batches can be added.

    folder (Path): the output. file (str): name of the shard.
    documents (Sequence[CorpusDocument]): of the shard. batch_size (int): documents of a batch.
    key (bytes): stands for the documents and all that decides their links.
    """

    def __init__(
        self,
        folder: Path,
        file: str,
        documents: Sequence[CorpusDocument],
        batch_size: int,
        key: bytes,
    ) -> None:
        self._path = folder / part_name(file)
        self._key = key
        self.batches: dict[int, list[AnnotatedDocument]] = {}
        starts = range(0, len(documents), batch_size)
        batches = [documents[start : start + batch_size] for start in starts]
        with writing(self._path):
            self._file = open(self._path, "a+b", buffering=0)  # noqa: SIM115 (closed by __exit__)
            self._file.seek(0)
            data = self._file.read()
            # What a killed process left of a line must not begin the next one.
            data = data[: data.rfind(b"\n") + 1]
            self._file.truncate(len(data))
            for line in data.splitlines(keepends=True):
                try:
                    number, mentions = _read_batch(line, key)
                except Damaged:
                    continue
                self.batches[number] = [
                    AnnotatedDocument(d.doc_id, d.text, some, title_end=d.title_end)
                    for d, some in zip(batches[number], mentions, strict=True)
                ]

    def __enter__(self) -> "PartFile":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def add(self, number: int, results: Sequence[AnnotatedDocument]) -> None:
        """number (int): of a batch, from 0. results (Sequence[AnnotatedDocument]): its documents.
        RAISES (AngelError): the file cannot be written."""
        mentions = [[asdict(mention) for mention in document.mentions] for document in results]
        line = sealed({"batch": number, "mentions": mentions}, self._key)
        with writing(self._path):
            while line:
                line = line[self._file.write(line) :]


def _read_batch(line: bytes, key: bytes) -> tuple[int, tuple[tuple[AnnotatedMention, ...], ...]]:
    values = unsealed(line, key)
    try:
        batch = Batch.model_validate(values)
        return batch.batch, _BATCH.validate_python(batch.mentions)
    except ValueError as error:
        raise Damaged(str(error)) from error
