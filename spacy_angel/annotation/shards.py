"""Annotate a shard: documents in, the bytes of a file out."""

from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

from ..errors import AngelError
from .document_linker import DocumentLinker, LinkingSettings, failure_reason, open_linker
from .folder import ShardRecord, readable, shard_name
from .jobs import ShardJob
from .outputs import OUTPUT_FORMATS, AnnotatedDocument


@dataclass(frozen=True)
class ShardAnnotator:
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
        results = self.linker.link(job.documents)
        for result, document, file in zip(results, job.documents, job.files, strict=True):
            try:
                if not isinstance(result, AnnotatedDocument):
                    raise result
                pieces.append(format.encode(replace(result, input=file)))
            except Exception as error:
                if self.strict:
                    message = f"Document {document.doc_id} failed: {failure_reason(error)}"
                    raise AngelError(message) from error
                failures.append((document.doc_id, readable(failure_reason(error))))
                continue
            mentions += len(result.links)
            linked += sum(bool(m.concept_ids) for m in result.document.mentions)
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
