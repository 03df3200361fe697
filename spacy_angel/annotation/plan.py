"""What a run still has to do: inputs in order, cut into shards, those that are there left out."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from ..corpora.documents import CorpusDocument, CorpusReport
from ..errors import AngelError, Errors
from ..files.system import reason
from .inputs import fingerprint, read_input
from .manifest import Journal, place_of
from .shards import ShardJob
from .source import Input

# What tells without reading that a file was written to: device, number, size and times.
FileState = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class PlannedInput:
    """An input, its number in the journal, and what it was when the run began.

    source (Input), number (int): the input and its number.
    sha256 (str): of its content. state (FileState): of its files, taken before that.
    """

    source: Input
    number: int
    sha256: str
    state: FileState

    def has_changed(self) -> bool:
        """RETURNS (bool): whether the content is another by now."""
        try:
            return file_state(self.source) != self.state and fingerprint(self.source) != self.sha256
        except OSError:
            return True


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
        # Bytes of the inputs: of each shard that is to be made, and of what was done before.
        self.sizes: dict[tuple[int, int], int] = {}
        self.skipped = 0
        self._places = {place_of(source) for source in sources}
        self._planned: dict[int, PlannedInput] = {}
        self._was_read = False

    def inputs(self) -> Iterator[PlannedInput]:
        """YIELDS (PlannedInput): each that is not done, once."""
        for source in self.sources:
            try:
                state, content = file_state(source), fingerprint(source)
            except OSError as error:
                message = Errors.E901.format(path=source.name, error=reason(error))
                raise AngelError(message) from error
            number = self.journal.number_of(source, content, self._places)
            is_new = number not in self._planned
            if is_new:
                self._planned[number] = PlannedInput(source, number, content, state)
            if is_new and not self.journal.is_done(number):
                yield self._planned[number]
            else:
                self.skipped += source.size
        self._was_read = True

    def jobs(self) -> Iterator[ShardJob]:
        """YIELDS (ShardJob): each shard that is not there."""
        for planned in self.inputs():
            report = CorpusReport()
            shards = position = 0
            error = None
            try:
                documents = self.read(planned, report)
                for shard, chunk in enumerate(cut(documents, self.shard_size)):
                    shards = shard + 1
                    before, position = position, min(report.position, planned.source.size)
                    digest = documents_digest(chunk)
                    if self.journal.has_shard(planned.number, shard, len(chunk), digest):
                        self.skipped += position - before
                    else:
                        self.sizes[planned.number, shard] = position - before
                        yield ShardJob(planned.number, shard, chunk, digest)
            except AngelError as problem:
                error = str(problem)
            self.skipped += planned.source.size - position
            self.end(planned.number, shards, report.to_dict(), error)

    def read(self, planned: PlannedInput, report: CorpusReport) -> Iterator[CorpusDocument]:
        """RETURNS (Iterator[CorpusDocument]): all documents of an input."""
        return read_input(planned.source, strict=self.strict, report=report, options=self.options)

    def end(self, number: int, shards: int, report: Mapping[str, Any], error: str | None) -> None:
        """Record the end of an input, see `Journal.end_input`.

        RAISES (AngelError): with `strict`, where there is an error, or the input has changed since
            the run began.
        """
        planned = self._planned[number]
        if planned.has_changed():
            error = Errors.E825.format(path=planned.source.name)
        self.journal.end_input(number, shards, report, error)
        if error is not None and self.strict:
            raise AngelError(error)

    def check_inputs(self) -> None:
        """Record which inputs have changed since, though they were read to their end.

        RAISES (AngelError): with `strict`, where one has.
        """
        for number, planned in self._planned.items():
            if planned.has_changed():
                error = Errors.E825.format(path=planned.source.name)
                self.journal.fail_input(number, error)
                if self.strict:
                    raise AngelError(error)

    @property
    def was_read(self) -> bool:
        """Whether every input of this run was read."""
        return self._was_read


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


def documents_digest(documents: Sequence[CorpusDocument]) -> str:
    """RETURNS (str): SHA-256 of what decides the annotation of documents: identifiers, texts,
    titles and mentions."""
    state = sha256()
    for document in documents:
        mentions = [
            (m.start, m.end, m.text, m.label, m.concept_ids, m.parts) for m in document.mentions
        ]
        values = (document.doc_id, document.text, document.title_end, mentions)
        state.update(json.dumps(values).encode() + b"\n")
    return state.hexdigest()


def file_state(source: Input) -> FileState:
    """RETURNS (FileState): of each file of an input. RAISES (OSError): one is gone."""
    states = (path.stat() for path in source.paths)
    return tuple((s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for s in states)
