"""One shard: documents in, a file out, whole or not at all."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from ..corpora.documents import CorpusDocument
from ..errors import AngelError, Errors
from ..files.atomic import replacing
from .document_linker import LinkingSettings, open_linker
from .documents import AnnotatedDocument, Failure
from .manifest import ShardRecord
from .outputs import OUTPUT_FORMATS


@dataclass(frozen=True, slots=True)
class ShardJob:
    """Documents to be annotated into one file.

    input (int), shard (int): numbers of the input and of the shard in it.
    documents (Sequence[CorpusDocument]): a run of them, in the order of the input.
    """

    input: int
    shard: int
    documents: Sequence[CorpusDocument]


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """What a process needs to annotate shards.

    pipeline (str): folder of the pipeline.
    format (str): one of OUTPUT_FORMATS.
    device (str | None): of the linker's model, in place of the pipeline's setting.
    linking (LinkingSettings): see there.
    strict (bool): stop at a document that fails.
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
        self._link = open_linker(settings.pipeline, settings.device, settings.linking)
        self._settings = settings

    def encode(self, job: ShardJob) -> tuple[bytes, ShardRecord]:
        """Annotate a shard.

        job (ShardJob): its documents.
        RETURNS (tuple[bytes, ShardRecord]): the content of its file, and the record of it.
        RAISES (AngelError): see `DocumentLinker`.
        """
        format = OUTPUT_FORMATS[self._settings.format]
        candidates = self._settings.linking.candidates
        failures: list[tuple[str, str]] = []
        pieces = []
        mentions = linked = 0
        for result in self._link(job.documents, strict=self._settings.strict):
            if isinstance(result, AnnotatedDocument):
                try:
                    # From a file's name; formats that are joined later would lose the shard by it.
                    result.doc_id.encode("utf8")
                    pieces.append(format.encode(result, self._link.nlp, candidates))
                    mentions += len(result.mentions)
                    linked += sum(bool(mention.concept_id) for mention in result.mentions)
                    continue
                except ValueError as error:
                    reason = f"{type(error).__name__}: {error}"
                    result = Failure(result.doc_id, reason)
                    if self._settings.strict:
                        message = Errors.E813.format(doc_id=result.doc_id, reason=reason)
                        raise AngelError(message) from error
            failures.append((result.doc_id, result.reason))
        data = format.join(pieces, candidates)
        record = ShardRecord(
            input=job.input,
            shard=job.shard,
            file=f"{job.input:05d}-{job.shard:06d}{format.suffix}",
            read=len(job.documents),
            documents=len(pieces),
            mentions=mentions,
            linked=linked,
            size=len(data),
            sha256=sha256(data).hexdigest(),
            failures=tuple(failures),
        )
        return data, record


def write_shard(folder: Path, data: bytes, record: ShardRecord) -> ShardRecord:
    """Put a shard on the disk; when this returns, it stays there though the machine may not.

    folder (Path): the output. data (bytes), record (ShardRecord): from `ShardWorker.encode`.
    RETURNS (ShardRecord): the same record.
    """
    with replacing(folder / record.file) as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    return record
