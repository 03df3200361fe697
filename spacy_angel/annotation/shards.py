"""Annotate a shard: documents in, the bytes of a file out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

from ..corpora.documents import CorpusDocument
from ..errors import AngelError
from .document_linker import DocumentLinker, LinkingSettings, open_linker
from .documents import AnnotatedDocument, Failure
from .folder import ShardRecord, readable, shard_name
from .outputs import OUTPUT_FORMATS


@dataclass(frozen=True, slots=True)
class ShardJob:
    """A shard to annotate.

    input (int), shard (int): numbers of the input and of the shard in it.
    source (str): SHA-256 of the input.
    size (int): the shard's bytes in the input, for the progress bar.
    documents (Sequence[CorpusDocument]): its documents, at least one.
    """

    input: int
    shard: int
    source: str
    size: int
    documents: Sequence[CorpusDocument]


@dataclass(frozen=True)
class ShardWorker:
    """Annotates shards with a pipeline that it opens with the first one.

    pipeline (str): folder of the pipeline.
    format (str): one of OUTPUT_FORMATS.
    linking (LinkingSettings): see there.
    strict (bool): raise where a document fails.
    device (str | None): of linker and recognizer; None is the pipeline's own setting.
    """

    pipeline: str
    format: str
    linking: LinkingSettings
    strict: bool
    device: str | None

    @cached_property
    def linker(self) -> DocumentLinker:
        """The open pipeline."""
        return open_linker(self.pipeline, self.device, self.linking)

    def annotate(
        self, job: ShardJob, tell: Callable[..., None] = lambda *_: None
    ) -> tuple[bytes, ShardRecord]:
        """Annotate a shard.

        job (ShardJob): its documents.
        tell (Callable[..., None]): called after each batch with its documents, its mentions,
            and its bytes of the input.
        RETURNS (tuple[bytes, ShardRecord]): the content of the shard's file, and its record.
        RAISES (AngelError): see `DocumentLinker`.
        """
        format = OUTPUT_FORMATS[self.format]
        pieces: list[Any] = []
        failures: list[tuple[str, str]] = []
        mentions = linked = 0
        for batch in self.linker.batches(job.documents):
            before = mentions
            for result in batch:
                piece = result if isinstance(result, Failure) else self._encode(result)
                if isinstance(result, AnnotatedDocument) and not isinstance(piece, Failure):
                    pieces.append(piece)
                    mentions += len(result.links)
                    linked += sum(bool(m.concept_ids) for m in result.document.mentions)
                elif self.strict:
                    raise AngelError(f"Document {piece.doc_id} failed: {piece.reason}")
                else:
                    failures.append((piece.doc_id, readable(piece.reason)))
            tell(len(batch), mentions - before, job.size * len(batch) / len(job.documents))
        data = format.join(pieces, self.linking.candidates)
        return data, ShardRecord(
            input=job.input,
            shard=job.shard,
            source=job.source,
            file=shard_name(job.input, job.shard) + format.suffix,
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
            return OUTPUT_FORMATS[self.format].encode(document, self.linker.nlp)
        except ValueError as error:
            return Failure(document.document.doc_id, error)
