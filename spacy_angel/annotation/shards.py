"""Annotate a shard: documents in, the bytes of a file out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from itertools import chain
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
    documents (Sequence[CorpusDocument]): its documents.
    files (Sequence[str]): name of the file of each document.
    """

    input: int
    shard: int
    source: str
    size: int
    documents: Sequence[CorpusDocument]
    files: Sequence[str]


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

    def annotate(self, job: ShardJob) -> tuple[bytes, ShardRecord]:
        """Annotate a shard.

        job (ShardJob): its documents.
        RETURNS (tuple[bytes, ShardRecord]): the content of the shard's file, and its record.
        RAISES (AngelError): see `DocumentLinker`.
        """
        format = OUTPUT_FORMATS[self.format]
        pieces: list[Any] = []
        failures: list[tuple[str, str]] = []
        mentions = linked = 0
        results = chain.from_iterable(self.linker.batches(job.documents))
        for result, file in zip(results, job.files, strict=True):
            piece = result if isinstance(result, Failure) else self._encode(result, file)
            if isinstance(result, AnnotatedDocument) and not isinstance(piece, Failure):
                pieces.append(piece)
                mentions += len(result.links)
                linked += sum(bool(m.concept_ids) for m in result.document.mentions)
            elif self.strict:
                raise AngelError(f"Document {piece.doc_id} failed: {piece.reason}")
            else:
                failures.append((piece.doc_id, readable(piece.reason)))
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

    def _encode(self, document: AnnotatedDocument, file: str) -> Any:
        """A document in the output format; a `Failure` where the format cannot hold it."""
        try:
            named = replace(document, input=file)
            return OUTPUT_FORMATS[self.format].encode(named, self.linker.nlp)
        except ValueError as error:
            return Failure(document.document.doc_id, error)
