"""What a run has to do: inputs are read and cut into shards; those in the output are skipped."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256 as digest
from itertools import islice
from typing import Any, TypeAlias

from ..corpora.documents import CorpusDocument, CorpusReport
from ..errors import AngelError
from .folder import OutputFolder, ShardRecord, readable
from .inputs import Input, read_input
from .progress import Progress
from .pubmed import SeenArticles
from .shards import ShardJob

# Name of its file, and the document; None where a newer version replaces it.
_Document: TypeAlias = tuple[str, CorpusDocument | None]


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
    _articles: SeenArticles = field(default_factory=SeenArticles, init=False)

    def jobs(self) -> Iterator[ShardJob | ShardRecord]:
        """Read the inputs, a path that was given twice only once.

        YIELDS (ShardJob | ShardRecord): each shard to annotate, and the record of each shard that
            is in the output.
        RAISES (AngelError): an input cannot be read; with `strict`, not to its end.
        """
        seen = set()
        for source in self._ordered():
            state, sha256 = source.version(), source.fingerprint()
            record = self.folder.begin_input(source, sha256)
            if record.number in seen:
                continue
            seen.add(record.number)
            # Of a finished PubMed file, newer ones may have replaced articles.
            if self.folder.is_done(record) and source.format != "pubmed":
                self.progress.skip(source.size)
                yield from (self.folder.shards[record.number, i] for i in range(record.shards or 0))
                continue
            report, error = CorpusReport(), None
            shards = position = 0
            documents = self._read(source, report)
            while error is None:
                chunk, error = self._next_shard(documents)
                if not chunk:
                    break
                size, position = report.position - position, report.position
                kept = [(name, document) for name, document in chunk if document is not None]
                version = sha256
                if len(kept) < len(chunk):
                    dropped = [i for i, (_, document) in enumerate(chunk) if document is None]
                    version = digest(f"{sha256} {dropped}".encode()).hexdigest()
                present = self.folder.shards.get((record.number, shards))
                if present is not None and present.source == version:
                    self.progress.skip(size)
                    yield present
                else:
                    files, documents_of_shard = zip(*kept, strict=True) if kept else ((), ())
                    number = record.number
                    yield ShardJob(number, shards, version, size, documents_of_shard, files)
                shards += 1
            self.progress.skip(source.size - position)
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

    def _ordered(self) -> list[Input]:
        """The inputs; PubMed's files come last, the newest of them first."""
        citations = [source for source in self.sources if source.format == "pubmed"]
        others = [source for source in self.sources if source.format != "pubmed"]
        return others + citations[::-1]

    def _read(self, source: Input, report: CorpusReport) -> Iterator[_Document]:
        documents = read_input(source, strict=self.strict, report=report, options=self.options)
        if source.format != "pubmed":
            yield from documents
            return
        # A file is held as a whole: what comes later in it may replace what came before.
        articles: list[CorpusDocument] = []
        error = None
        try:
            articles.extend(document for _, document in documents)
        except AngelError as raised:
            error = raised
        name = os.path.basename(source.name)
        yield from ((name, document) for document in self._articles.latest(articles, report))
        if error is not None:
            raise error

    def _next_shard(self, documents: Iterator[_Document]) -> tuple[list[_Document], str | None]:
        """The documents of the next shard, and the error that ended the reading."""
        shard: list[_Document] = []
        try:
            for name, document in islice(documents, self.shard_size):
                # A file name need not be UTF-8, nor an identifier that is one.
                if document is not None:
                    document = replace(document, doc_id=readable(document.doc_id))
                shard.append((readable(name), document))
        except AngelError as error:
            return shard, str(error)
        return shard, None
