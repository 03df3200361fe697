"""What a run has to do: each input once, its shards in order, those in the output skipped."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..errors import AngelError
from .folder import InputRecord, OutputFolder, ShardRecord
from .inputs import Input
from .progress import Progress
from .shards import InputEnd, InputTask, ShardJob, read_shards


class Plan:
    """The inputs of a run, and what was recorded of them.

    sources (Sequence[Input]): the inputs.
    folder (OutputFolder), progress (Progress): the output, and what is told of skipped shards.
    shard_size (int), strict (bool), options (Mapping[str, Any]): as for `annotate`.
    """

    def __init__(
        self,
        sources: Sequence[Input],
        folder: OutputFolder,
        progress: Progress,
        shard_size: int,
        strict: bool,
        options: Mapping[str, Any],
    ) -> None:
        self.was_read = False
        self._sources, self._folder, self._progress = sources, folder, progress
        self._shard_size, self._strict, self._options = shard_size, strict, options
        # By the number of an input: the input, its files as they were, and its record.
        self._begun: dict[int, tuple[Input, Any, InputRecord]] = {}

    def tasks(self) -> Iterator[InputTask]:
        """YIELDS (InputTask): each input; a path that was given twice only once."""
        for source in self._sources:
            state = _file_state(source)
            record = self._folder.begin_input(source, source.fingerprint())
            if record.number in self._begun:
                continue
            self._begun[record.number] = source, state, record
            yield InputTask(
                source,
                record.number,
                record.sha256,
                sorted(s for number, s in self._folder.shards if number == record.number),
                self._folder.is_done(record),
                self._shard_size,
                self._strict,
                self._options,
            )
        self.was_read = True

    def jobs(self) -> Iterator[ShardJob | ShardRecord]:
        """YIELDS (ShardJob | ShardRecord): each shard to annotate, and the record of each shard
        that is in the output."""
        for task in self.tasks():
            for item in read_shards(task):
                yield from self.receive(item)

    def receive(self, item: ShardJob | InputEnd) -> Iterator[ShardJob | ShardRecord]:
        """Handle what reading an input yields.

        item (ShardJob | InputEnd): of `read_shards`.
        YIELDS (ShardJob | ShardRecord): the shard to annotate, or the record of one that is in the
            output; nothing at the end of an input.
        RAISES (AngelError): with `strict`, where the input could not be read to its end.
        """
        if isinstance(item, ShardJob) and item.documents:
            yield item
            return
        self._progress.skipped += item.size
        if isinstance(item, ShardJob):
            yield self._folder.shards[item.input, item.shard]
            return
        source, state, record = self._begun[item.input]
        end = replace(
            record,
            shards=item.shards,
            error=item.error,
            counts=dict(item.counts),
            notes=list(item.notes),
        )
        if _file_state(source) != state and source.fingerprint() != record.sha256:
            error = f"{source.name} has changed while it was read. Run the same command again."
            end = replace(end, sha256="", error=error)
        self._folder.write_input(end)
        if end.error is not None and self._strict:
            raise AngelError(end.error)


def _file_state(source: Input) -> list[tuple[int, ...]]:
    """What tells without reading that files were written to."""
    states = [path.stat() for path in source.paths if path.exists()]
    return [(s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for s in states]
