"""Annotation of a shard: from documents to the content of a file."""

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from ..pipelines.load import load_folder, open_pipeline
from .document_linker import DocumentLinker, LinkingSettings
from .folder import ShardRecord, readable
from .jobs import ShardJob
from .outputs import OUTPUT_FORMATS, Row


@dataclass(frozen=True)
class ShardAnnotator:
    """Annotates shards with a pipeline that it opens with the first one.

    pipeline (str): folder of the pipeline.
    format (str): one of OUTPUT_FORMATS.
    linking (LinkingSettings): see there.
    device (str | None): of linker and recognizer; None is the pipeline's own setting.
    """

    pipeline: str
    format: str
    linking: LinkingSettings
    device: str | None

    @cached_property
    def linker(self) -> DocumentLinker:
        """The open pipeline. On the CPU it uses one thread, because sums in another order would
        differ in the last decimal place."""
        import torch

        torch.set_num_threads(1)
        overrides = {} if self.device is None else {"runtime": {"device": self.device}}
        nlp, linker = open_pipeline(load_folder(Path(self.pipeline), overrides))
        return DocumentLinker(nlp, linker, self.linking)

    def annotate(self, job: ShardJob) -> tuple[bytes, ShardRecord]:
        """Annotate a shard.

        job (ShardJob): its documents.
        RETURNS (tuple[bytes, ShardRecord]): the content of the shard's file, and its record.
        RAISES (AngelError): see `DocumentLinker`.
        """
        rows: list[Row] = []
        failures: list[tuple[str, str]] = []
        results = self.linker.link([document for _, document in job.documents])
        for result, (file, document) in zip(results, job.documents, strict=True):
            if isinstance(result, str):
                failures.append((document.doc_id, readable(result)))
            else:
                rows.append({"input": file, **result})
        data = OUTPUT_FORMATS[self.format](rows, self.linking.candidates, self.linking.negation)
        mentions = [mention for row in rows for mention in row["mentions"]]
        return data, ShardRecord(
            input=job.input,
            shard=job.shard,
            source=job.source,
            file=f"{job.input:05d}-{job.shard:06d}.{self.format}",
            size=len(data),
            sha256=sha256(data).hexdigest(),
            read=len(job.documents),
            documents=len(rows),
            mentions=len(mentions),
            linked=sum(mention["concept_id"] is not None for mention in mentions),
            failures=failures,
        )
