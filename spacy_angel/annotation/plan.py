"""What a run has to do: inputs are read and cut into shards; those in the output are skipped."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from ..corpora.documents import CorpusDocument, CorpusReport
from ..errors import AngelError
from .folder import OutputFolder, ShardRecord, readable
from .inputs import Input, read_input
from .progress import Progress
from .shards import ShardJob


@dataclass
class Plan:
    """The inputs of a run.

    sources (Sequence[Input]): the inputs.
    folder (OutputFolder): the output.
    progress (Progress): is told of skipped shards.
    shard_size (int), strict (bool), options (Mapping[str, Any]): as for `annotate`.
    was_read (bool): all inputs were read.
    """

    sources: Sequence[Input]
    folder: OutputFolder
    progress: Progress
    shard_size: int
    strict: bool
    options: Mapping[str, Any]
    was_read: bool = field(default=False, init=False)

    def jobs(self) -> Iterator[ShardJob | ShardRecord]:
        """Read the inputs, a path that was given twice only once.

        YIELDS (ShardJob | ShardRecord): each shard to annotate, and the record of each shard that
            is in the output.
        RAISES (AngelError): an input cannot be read; with `strict`, not to its end.
        """
        seen = set()
        for source in self.sources:
            state, sha256 = source.version(), source.fingerprint()
            record = self.folder.begin_input(source, sha256)
            if record.number in seen:
                continue
            seen.add(record.number)
            if self.folder.is_done(record):
                self.progress.skipped += source.size
                yield from (self.folder.shards[record.number, i] for i in range(record.shards or 0))
                continue
            report, error = CorpusReport(), None
            shards = position = 0
            documents = read_input(source, strict=self.strict, report=report, options=self.options)
            while error is None:
                chunk, error = self._next_shard(documents)
                if not chunk:
                    break
                size, position = report.position - position, report.position
                present = self.folder.shards.get((record.number, shards))
                if present is None:
                    yield ShardJob(record.number, shards, sha256, size, chunk)
                else:
                    self.progress.skipped += size
                    yield present
                shards += 1
            self.progress.skipped += source.size - position
            now = source.version()
            if now != state and (not now or source.fingerprint() != sha256):
                sha256 = ""
                error = f"{source.name} has changed while it was read. Run the same command again."
            end = replace(record, sha256=sha256, shards=shards, error=error)
            counts, notes = dict(report.counts), list(report.notes)
            self.folder.write_input(replace(end, counts=counts, notes=notes))
            if error is not None and self.strict:
                raise AngelError(error)
        self.was_read = True

    def _next_shard(
        self, documents: Iterator[CorpusDocument]
    ) -> tuple[list[CorpusDocument], str | None]:
        """The documents of the next shard, and the error that ended the reading."""
        shard: list[CorpusDocument] = []
        try:
            for document in islice(documents, self.shard_size):
                # An identifier that is a file name need not be UTF-8.
                shard.append(replace(document, doc_id=readable(document.doc_id)))
        except AngelError as error:
            return shard, str(error)
        return shard, None
