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
    """The inputs of a run.

    sources (Sequence[Input]): the inputs. folder (OutputFolder): the output.
    progress (Progress): is told of what is skipped.
    shard_size (int), strict (bool), options (Mapping[str, Any]): as for `annotate`.
    """

    def __init__(
        self,
        sources: Sequence[Input],
        folder: OutputFolder,
        progress: Progress,
        *,
        shard_size: int,
        strict: bool,
        options: Mapping[str, Any],
    ) -> None:
        self.was_read = False
        self._sources, self._folder, self._progress = sources, folder, progress
        self._reading: dict[str, Any] = {
            "shard_size": shard_size,
            "strict": strict,
            "options": options,
        }
        # By the number of an input: the input, its files as they were, and its record.
        self._begun: dict[int, tuple[Input, Any, InputRecord]] = {}

    def tasks(self) -> Iterator[InputTask]:
        """YIELDS (InputTask): each input; a path that was given twice only once."""
        for source in self._sources:
            state = _file_state(source)
            record = self._folder.begin_input(source, source.fingerprint())
            if record.number not in self._begun:
                self._begun[record.number] = source, state, record
                present = sorted(s for n, s in self._folder.shards if n == record.number)
                is_done = self._folder.is_done(record)
                yield InputTask(
                    source, record.number, record.sha256, present, is_done, **self._reading
                )
        self.was_read = True

    def jobs(self) -> Iterator[ShardJob | ShardRecord]:
        """YIELDS (ShardJob | ShardRecord): each shard to annotate, and the record of each shard
        that is in the output."""
        for task in self.tasks():
            for item in read_shards(task):
                yield from self.receive(item)

    def receive(self, item: ShardJob | InputEnd) -> Iterator[ShardJob | ShardRecord]:
        """Take note of what reading an input gives.

        item (ShardJob | InputEnd): of `read_shards`.
        YIELDS (ShardJob | ShardRecord): the shard to annotate or the record of a present one;
            nothing at the end of an input.
        RAISES (AngelError): with `strict`, where the input could not be read to its end.
        """
        if isinstance(item, ShardJob):
            if item.documents:
                yield item
            else:
                self._progress.skipped += item.size
                yield self._folder.shards[item.input, item.shard]
            return
        self._progress.skipped += item.size
        source, state, record = self._begun[item.input]
        digest, error = record.sha256, item.error
        if _file_state(source) != state and source.fingerprint() != digest:
            digest, error = "", f"{source.name} has changed while it was read. Run it again."
        self._folder.write_input(
            replace(
                record,
                sha256=digest,
                shards=item.shards,
                error=error,
                counts=dict(item.counts),
                notes=list(item.notes),
            )
        )
        if error is not None and self._reading["strict"]:
            raise AngelError(error)


def _file_state(source: Input) -> list[tuple[int, ...]] | None:
    """What tells without reading that files were written to; None where one is gone."""
    try:
        states = [path.stat() for path in source.paths]
    except OSError:
        return None
    return [(s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for s in states]
