"""One shard: documents in, a file out, whole or not at all."""

from collections.abc import Callable, Generator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from ..corpora.documents import CorpusDocument
from ..errors import AngelError
from .disk import write_whole, writing
from .document_linker import LinkingSettings, open_linker
from .documents import AnnotatedDocument, Failure
from .folder import shard_name
from .outputs import OUTPUT_FORMATS
from .parts import PartFile
from .records import ShardRecord

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ShardJob:
    """Documents to be annotated into one file.

    input (int), shard (int): numbers of the input and of the shard in it.
    documents (Sequence[CorpusDocument]): a run of them, in the order of the input.
    digest (str): of the documents, see `plan.documents_digest`.
    """

    input: int
    shard: int
    documents: Sequence[CorpusDocument]
    digest: str

    def file(self, suffix: str) -> str:
        """suffix (str): of the format. RETURNS (str): name of the shard's file."""
        return shard_name(self.input, self.shard) + suffix


@dataclass(frozen=True, slots=True)
class BatchDone:
    """Progress in a shard.

    input (int), shard (int): numbers of the input and of the shard in it.
    documents (int): of a batch. of (int): of the shard. mentions (int): found in the batch.
    """

    input: int
    shard: int
    documents: int
    of: int
    mentions: int


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """What a process needs to annotate shards.

    pipeline (str): folder of the pipeline.
    format (str): one of OUTPUT_FORMATS.
    device (str | None): of linker and recogniser, in place of the pipeline's setting.
    linking (LinkingSettings): see there.
    strict (bool): stop at a document that fails.
    key (bytes): of the settings, see `records.settings_key`.
    """

    pipeline: str
    format: str
    device: str | None = None
    linking: LinkingSettings = field(default_factory=LinkingSettings)
    strict: bool = False
    key: bytes = b""


class ShardWorker:
    """Annotates shards with a pipeline that it opens once.

    settings (WorkerSettings): see there.
    """

    def __init__(self, settings: WorkerSettings) -> None:
        self._link = open_linker(settings.pipeline, settings.device, settings.linking)
        self._settings = settings
        self._format = OUTPUT_FORMATS[settings.format]

    def annotate(self, job: ShardJob, folder: Path) -> Generator[BatchDone, None, ShardRecord]:
        """Annotate a shard into its file; what is done of it stays where the process ends.

        job (ShardJob): its documents. folder (Path): the output.
        YIELDS (BatchDone): after each batch.
        RETURNS (ShardRecord): of the file, which is on the disk.
        RAISES (AngelError): see `DocumentLinker`; the disk refuses.
        """
        linking = self._settings.linking
        # With a cache what a batch finds in it depends on those before.
        keeps = not linking.cache
        key = sha256(self._settings.key + job.digest.encode()).hexdigest()
        name = job.file(self._format.suffix)
        with (
            PartFile(folder, name, job.documents, linking.batch_size, key)
            if keeps
            else nullcontext()
        ) as part:
            data, record = yield from self._encode(job, part)
        return write_shard(folder, data, record)

    def encode(self, job: ShardJob) -> tuple[bytes, ShardRecord]:
        """Annotate a shard for a folder on another machine.

        job (ShardJob): its documents.
        RETURNS (tuple[bytes, ShardRecord]): the content of its file, and the record of it.
        RAISES (AngelError): see `DocumentLinker`.
        """
        return finish(self._encode(job, None))

    def _encode(
        self, job: ShardJob, part: PartFile | None
    ) -> Generator[BatchDone, None, tuple[bytes, ShardRecord]]:
        candidates, strict = self._settings.linking.candidates, self._settings.strict
        kept = {} if part is None else part.batches
        failures: list[tuple[str, str]] = []
        pieces = []
        mentions = linked = 0
        batches = self._link.batches(job.documents, strict=strict, kept=kept)
        for number, batch in enumerate(batches):
            before = mentions
            documents = [result for result in batch if isinstance(result, AnnotatedDocument)]
            if part is not None and number not in kept and len(documents) == len(batch):
                part.add(number, documents)
            for result in batch:
                if isinstance(result, AnnotatedDocument):
                    try:
                        # From a file's name; formats that are joined later would lose the shard.
                        result.doc_id.encode("utf8")
                        pieces.append(self._format.encode(result, self._link.nlp, candidates))
                        mentions += len(result.mentions)
                        linked += sum(bool(mention.concept_id) for mention in result.mentions)
                        continue
                    except ValueError as error:
                        reason = f"{type(error).__name__}: {error}"
                        result = Failure(result.doc_id, reason)
                        if strict:
                            message = f"Document {result.doc_id} failed: {reason}."
                            raise AngelError(message) from error
                failures.append((result.doc_id, result.reason))
            yield BatchDone(job.input, job.shard, len(batch), len(job.documents), mentions - before)
        data = self._format.join(pieces, candidates)
        record = ShardRecord(
            input=job.input,
            shard=job.shard,
            file=job.file(self._format.suffix),
            read=len(job.documents),
            digest=job.digest,
            documents=len(pieces),
            mentions=mentions,
            linked=linked,
            size=len(data),
            sha256=sha256(data).hexdigest(),
            failures=tuple(failures),
        )
        return data, record


def finish(
    steps: Generator[BatchDone, None, T], tell: Callable[[BatchDone], None] | None = None
) -> T:
    """Run to the end.

    steps (Generator[BatchDone, None, T]): of a `ShardWorker`.
    tell (Callable[[BatchDone], None] | None): hears of each batch.
    RETURNS (T): what they return.
    """
    while True:
        try:
            batch = next(steps)
        except StopIteration as end:
            result: T = end.value
            return result
        if tell is not None:
            tell(batch)


def write_shard(folder: Path, data: bytes, record: ShardRecord) -> ShardRecord:
    """Put a shard on the disk; when this returns, it stays there though the machine may not.

    folder (Path): the output. data (bytes), record (ShardRecord): from `ShardWorker.encode`.
    RETURNS (ShardRecord): the same record.
    """
    with writing(folder / record.file):
        write_whole(folder / record.file, data)
    return record
