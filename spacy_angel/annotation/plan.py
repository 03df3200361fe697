"""What a run still has to do: inputs in order, cut into shards, those that are there left out."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from ..corpora.documents import CorpusDocument, CorpusReport
from ..errors import AngelError, cannot_read
from ..files.system import reason
from .folder import OutputFolder, place_of
from .inputs import fingerprint, read_input
from .shards import ShardJob
from .source import Input

# What tells without reading that a file was written to: device, number, size and times.
FileState = tuple[tuple[int, ...], ...]


class InputShards:
    """An input, cut into shards. Once they were asked for to the end: `n_shards` (int) says how
    many there are, `report` (CorpusReport) what reading counted, `error` (str | None) where and why
    it breaks.

    source (Input), number (int): the input and its number.
    there (Mapping[int, str]): number of each shard that is there → digest of its documents.
    shard_size (int), strict (bool), options (Mapping[str, Any]): as for `annotate`.
    """

    def __init__(
        self,
        source: Input,
        number: int,
        there: Mapping[int, str],
        *,
        shard_size: int,
        strict: bool,
        options: Mapping[str, Any],
    ) -> None:
        self.report = CorpusReport()
        self.n_shards = 0
        self.error: str | None = None
        self._source, self._number, self._there = source, number, there
        self._shard_size, self._strict, self._options = shard_size, strict, options

    def __iter__(self) -> Iterator[tuple[ShardJob | None, int]]:
        """YIELDS (tuple[ShardJob | None, int]): each shard, None where it is there, and its bytes
        of the input; at the end None and the bytes that are left."""
        size, position = self._source.size, 0
        documents = read_input(
            self._source, strict=self._strict, report=self.report, options=self._options
        )
        try:
            for shard, chunk in enumerate(cut(documents, self._shard_size)):
                self.n_shards = shard + 1
                before, position = position, min(self.report.position, size)
                digest = documents_digest(chunk)
                is_there = self._there.get(shard) == digest
                job = None if is_there else ShardJob(self._number, shard, chunk, digest)
                yield job, position - before
        except AngelError as problem:
            self.error = str(problem)
        yield None, size - position


@dataclass(frozen=True)
class PlannedInput:
    """An input, its number in the output, and what it was when the run began.

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
        folder: OutputFolder,
        shard_size: int,
        strict: bool,
        options: Mapping[str, Any],
    ) -> None:
        self.sources = sources
        self.folder = folder
        self.strict = strict
        # Of `InputShards`.
        self.reading: dict[str, Any] = {
            "shard_size": shard_size,
            "strict": strict,
            "options": options,
        }
        self.total = sum(source.size for source in sources)
        # Bytes of the inputs: of each shard that is to be made, and of what was done before.
        self.sizes: dict[tuple[int, int], int] = {}
        self.skipped = 0
        # Whether every input of this run was read.
        self.was_read = False
        self._places = {place_of(source) for source in sources}
        self._planned: dict[int, PlannedInput] = {}

    def inputs(self) -> Iterator[PlannedInput]:
        """YIELDS (PlannedInput): each that is not done, once."""
        for source in self.sources:
            try:
                state, content = file_state(source), fingerprint(source)
            except OSError as error:
                message = cannot_read(source.name, reason(error))
                raise AngelError(message) from error
            number = self.folder.number_of(source, content, self._places)
            is_new = number not in self._planned
            if is_new:
                self._planned[number] = PlannedInput(source, number, content, state)
            if is_new and not self.folder.is_done(number):
                yield self._planned[number]
            else:
                self.skipped += source.size
        self.was_read = True

    def jobs(self) -> Iterator[ShardJob]:
        """YIELDS (ShardJob): each shard that is not there."""
        for planned in self.inputs():
            number = planned.number
            there = self.folder.digests(number)
            shards = InputShards(planned.source, number, there, **self.reading)
            for job, size in shards:
                if job is None:
                    self.skipped += size
                else:
                    self.sizes[number, job.shard] = size
                    yield job
            self.end(number, shards.n_shards, shards.report.to_dict(), shards.error)

    def end(self, number: int, shards: int, report: Mapping[str, Any], error: str | None) -> None:
        """Record the end of an input, see `OutputFolder.end_input`.

        RAISES (AngelError): with `strict`, where there is an error, or the input has changed since
            the run began.
        """
        planned = self._planned[number]
        if planned.has_changed():
            error = f"{planned.source.name} has changed since this run started. Start it again."
        self.folder.end_input(number, shards, report, error)
        if error is not None and self.strict:
            raise AngelError(error)

    def check_inputs(self) -> None:
        """Record which inputs have changed since, though they were read to their end.

        RAISES (AngelError): with `strict`, where one has.
        """
        for number, planned in self._planned.items():
            if planned.has_changed():
                error = f"{planned.source.name} has changed since this run started. Start it again."
                self.folder.fail_input(number, error)
                if self.strict:
                    raise AngelError(error)


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
