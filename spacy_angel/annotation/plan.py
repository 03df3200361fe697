"""What a run still has to do: inputs in order, cut into shards, those that are there left out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..corpora.documents import CorpusDocument, CorpusReport
from ..errors import AngelError
from .inputs import Input, fingerprint, read_input
from .manifest import Journal
from .shards import ShardJob


@dataclass
class PlannedInput:
    """An input with its number in the journal and where it stands among all, in bytes."""

    source: Input
    number: int
    offset: int


class Plan:
    """What is still to be done."""

    def __init__(
        self,
        sources: Sequence[Input],
        journal: Journal,
        shard_size: int,
        strict: bool,
        options: Mapping[str, Any],
    ) -> None:
        self.sources = sources
        self.journal = journal
        self.shard_size = shard_size
        self.strict = strict
        self.options = options
        self.total = sum(source.size for source in sources)
        # Bytes of all inputs, as far as they were read for a shard, and were done before this run.
        self.positions: dict[tuple[int, int], int] = {}
        self.skipped = 0
        self._numbers: set[int] = set()
        self._was_read = False

    def inputs(self) -> Iterator[PlannedInput]:
        """YIELDS (PlannedInput): each that is not done, once."""
        offset = 0
        for source in self.sources:
            number = self.journal.number_of(source, fingerprint(source))
            is_new = number not in self._numbers
            self._numbers.add(number)
            if is_new and not self.journal.is_done(number):
                yield PlannedInput(source, number, offset)
            else:
                self.skip_to(offset + source.size)
            offset += source.size
        self._was_read = True

    def jobs(self) -> Iterator[ShardJob]:
        """YIELDS (ShardJob): each shard that is not there."""
        for planned in self.inputs():
            report = CorpusReport()
            shards = 0
            error = None
            try:
                documents = self.read(planned, report)
                for shard, chunk in enumerate(cut(documents, self.shard_size)):
                    shards = shard + 1
                    position = planned.offset + min(report.position, planned.source.size)
                    if self.journal.has_shard(planned.number, shard, len(chunk)):
                        self.skip_to(position)
                    else:
                        self.positions[planned.number, shard] = position
                        yield ShardJob(planned.number, shard, chunk)
            except AngelError as problem:
                if self.strict:
                    raise
                error = str(problem)
            self.journal.end_input(planned.number, shards, report.to_dict(), error)

    def read(self, planned: PlannedInput, report: CorpusReport) -> Iterator[CorpusDocument]:
        """RETURNS (Iterator[CorpusDocument]): all documents of an input."""
        return read_input(planned.source, strict=self.strict, report=report, options=self.options)

    def skip_to(self, position: int) -> None:
        """position (int): bytes of the inputs up to which all was done before."""
        self.skipped = max(self.skipped, position)

    def is_complete(self) -> bool:
        """RETURNS (bool): whether every input, of this run or one before, was annotated to its
        end."""
        return self._was_read and self.journal.all_done()


def cut(documents: Iterable[CorpusDocument], size: int) -> Iterator[list[CorpusDocument]]:
    """Runs of documents; where reading breaks off, what came before is handed out first.

    documents (Iterable[CorpusDocument]): any number.
    size (int): documents of a run, of the last one at most.
    YIELDS (list[CorpusDocument]): not empty.
    RAISES (AngelError): as the documents' reader does.
    """
    chunk: list[CorpusDocument] = []
    problem = None
    try:
        for document in documents:
            chunk.append(document)
            if len(chunk) == size:
                full, chunk = chunk, []
                yield full
    except AngelError as error:
        problem = error
    if chunk:
        yield chunk
    if problem is not None:
        raise problem
