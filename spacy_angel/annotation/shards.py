"""Cut an input into shards, and annotate a shard: documents in, the bytes of a file out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import count
from typing import Any

from ..corpora.documents import CorpusDocument, CorpusReport
from ..errors import AngelError
from .document_linker import LinkingSettings, open_linker
from .documents import AnnotatedDocument, Failure
from .folder import ShardRecord, readable, shard_name
from .inputs import Input, read_input
from .outputs import OUTPUT_FORMATS

Tell = Callable[[int, int, float], None]
"""Is told of a batch: its documents, its mentions, and its bytes of the input."""


@dataclass(frozen=True, slots=True)
class InputTask:
    """An input to read.

    source (Input), number (int), sha256 (str): the input, its number, the digest of its content.
    present (list[int]): numbers of the shards that are in the output.
    is_done (bool): all of them are, so that the input need not be read.
    shard_size (int), strict (bool), options (Mapping[str, Any]): as for `annotate`.
    """

    source: Input
    number: int
    sha256: str
    present: list[int]
    is_done: bool
    shard_size: int
    strict: bool
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ShardJob:
    """A shard of an input.

    input (int), shard (int): numbers of the input and of the shard in it.
    source (str): SHA-256 of the input.
    size (float): the shard's bytes in the input, for the progress bar.
    documents (Sequence[CorpusDocument]): to annotate; empty where the shard is in the output.
    """

    input: int
    shard: int
    source: str
    size: float
    documents: Sequence[CorpusDocument] = ()


@dataclass(frozen=True, slots=True)
class InputEnd:
    """The end of an input, or the error that ended its reading.

    input (int), shards (int): number of the input, and how many shards it has.
    size (float): bytes behind the last shard.
    error (str | None): why it could not be read to its end.
    counts (Mapping[str, int]), notes (Sequence[str]): see `CorpusReport`.
    """

    input: int
    shards: int
    size: float
    error: str | None
    counts: Mapping[str, int]
    notes: Sequence[str]


def read_shards(task: InputTask) -> Iterator[ShardJob | InputEnd]:
    """Read an input and cut it into shards.

    task (InputTask): what to read.
    YIELDS (ShardJob | InputEnd): each shard in order, then the end. Where the input is damaged, the
        documents before the damage make the last shard.
    """
    if task.is_done:
        size = task.source.size / max(1, len(task.present))
        for shard in task.present:
            yield ShardJob(task.number, shard, task.sha256, size)
        return
    report, position, error = CorpusReport(), 0, None
    documents = read_input(task.source, strict=task.strict, report=report, options=task.options)
    for shard in count():
        chunk: list[CorpusDocument] = []
        try:
            for document in documents:
                # An identifier that is a file name need not be UTF-8.
                chunk.append(replace(document, doc_id=readable(document.doc_id)))
                if len(chunk) == task.shard_size:
                    break
        except AngelError as problem:
            error = str(problem)
        if not chunk:
            break
        size, position = report.position - position, report.position
        given = () if shard in task.present else chunk
        yield ShardJob(task.number, shard, task.sha256, size, given)
        if error is not None:
            shard += 1
            break
    rest = task.source.size - position
    yield InputEnd(task.number, shard, rest, error, dict(report.counts), list(report.notes))


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """What a process needs to annotate shards.

    pipeline (str): folder of the pipeline.
    format (str): one of OUTPUT_FORMATS.
    device (str | None): of linker and recognizer; None is the pipeline's own setting.
    linking (LinkingSettings): see there.
    strict (bool): raise where a document fails.
    """

    pipeline: str
    format: str
    device: str | None = None
    linking: LinkingSettings = field(default_factory=LinkingSettings)
    strict: bool = False


class ShardWorker:
    """Annotates shards with a pipeline that it opens once.

    settings (WorkerSettings): see there.
    """

    def __init__(self, settings: WorkerSettings) -> None:
        self._linker = open_linker(settings.pipeline, settings.device, settings.linking)
        self._settings = settings
        self._format = OUTPUT_FORMATS[settings.format]

    def annotate(self, job: ShardJob, tell: Tell | None = None) -> tuple[bytes, ShardRecord]:
        """Annotate a shard.

        job (ShardJob): its documents.
        tell (Tell | None): called after each batch.
        RETURNS (tuple[bytes, ShardRecord]): the content of the shard's file, and its record.
        RAISES (AngelError): see `DocumentLinker`.
        """
        pieces: list[Any] = []
        failures: list[tuple[str, str]] = []
        mentions = linked = 0
        for batch in self._linker.batches(job.documents, strict=self._settings.strict):
            before = mentions
            for result in batch:
                piece = result if isinstance(result, Failure) else self._encode(result)
                if isinstance(piece, Failure):
                    failures.append((piece.doc_id, readable(piece.reason)))
                elif isinstance(result, AnnotatedDocument):
                    pieces.append(piece)
                    mentions += len(result.links)
                    linked += sum(bool(m.concept_ids) for m in result.document.mentions)
            if tell is not None:
                tell(len(batch), mentions - before, job.size * len(batch) / len(job.documents))
        data = self._format.join(pieces, self._settings.linking.candidates)
        return data, ShardRecord(
            input=job.input,
            shard=job.shard,
            source=job.source,
            file=shard_name(job.input, job.shard) + self._format.suffix,
            size=len(data),
            sha256=sha256(data).hexdigest(),
            read=len(job.documents),
            documents=len(pieces),
            mentions=mentions,
            linked=linked,
            failures=failures,
        )

    def _encode(self, document: AnnotatedDocument) -> Any:
        """A document in the output format; a `Failure` where the format cannot hold it."""
        try:
            return self._format.encode(document, self._linker.nlp)
        except ValueError as error:
            failure = Failure(document.document.doc_id, error)
            if self._settings.strict:
                raise AngelError(f"Document {failure.doc_id} failed: {failure.reason}.") from error
            return failure
