"""Where shards are annotated on one machine: this process, or processes on CPUs and GPUs.

Each process has a model of its own; the vocabulary is mapped, so that all share its memory.
"""

import multiprocessing as mp
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from ..errors import AngelError
from .records import ShardRecord
from .shards import BatchDone, ShardJob, ShardWorker, WorkerSettings, finish

# Jobs that wait for a worker, for each of them: enough to keep it busy, few enough for memory.
_WAITING = 1
# Between two looks at what the workers tell.
_NEWS_SECONDS = 1.0
# Input, shard, its documents, those that are done, their mentions.
_FIELDS = 5


def run_here(
    jobs: Iterable[ShardJob], settings: WorkerSettings, folder: Path
) -> Generator[BatchDone | ShardRecord, None, None]:
    """Annotate in this process.

    jobs (Iterable[ShardJob]): taken one by one.
    settings (WorkerSettings): of the worker.
    folder (Path): gets the files.
    YIELDS (BatchDone | ShardRecord): of each batch, and of each shard that is on the disk.
    RAISES (AngelError): see `ShardWorker`.
    """
    import torch

    threads = torch.get_num_threads()
    try:
        worker = ShardWorker(settings)
        for job in jobs:
            yield (yield from worker.annotate(job, folder))
    finally:
        torch.set_num_threads(threads)


def run_processes(
    jobs: Iterable[ShardJob], settings: WorkerSettings, folder: Path, devices: list[str | None]
) -> Generator[BatchDone | ShardRecord, None, None]:
    """Annotate in several processes.

    jobs (Iterable[ShardJob]), settings (WorkerSettings), folder (Path): as for `run_here`.
    devices (list[str | None]): one process for each; None is the pipeline's own.
    YIELDS (BatchDone | ShardRecord): of each batch, and of each shard that is on the disk, as they
        are done.
    RAISES (AngelError): see `ShardWorker`; a process was killed.
    """
    context = mp.get_context("spawn")
    places = context.SimpleQueue()
    for place in enumerate(devices):
        places.put(place)
    # Closed when this process ends, however it ends: unlike an event it needs no lock.
    listening, life = context.Pipe(duplex=False)
    progress = SharedProgress(context.RawArray("q", _FIELDS * len(devices)))
    pool = ProcessPoolExecutor(
        len(devices),
        context,
        initializer=_begin,
        initargs=(settings, folder, places, listening, progress),
    )
    pending: set[Future[ShardRecord]] = set()
    waiting = len(devices) * (1 + _WAITING)
    rest = iter(jobs)
    try:
        while True:
            while len(pending) < waiting and (job := next(rest, None)) is not None:
                pending.add(pool.submit(_run, job))
            if not pending:
                return
            done, pending = wait(pending, _NEWS_SECONDS, return_when=FIRST_COMPLETED)
            yield from progress.news()
            yield from (future.result() for future in done)
    except BrokenProcessPool as error:
        raise AngelError(
            "A worker process died. Use fewer workers, or guard the script with __main__."
        ) from error
    finally:
        if pending:
            life.close()
        pool.shutdown(cancel_futures=True)


_settings: WorkerSettings | None = None
_folder: Path | None = None
_worker: ShardWorker | None = None
_tell: Callable[[BatchDone], None] | None = None


def _begin(
    settings: WorkerSettings,
    folder: Path,
    places: Any,
    life: Connection,
    progress: "SharedProgress",
) -> None:
    """Tell a new process what it is for; the pipeline is opened with the first shard, whose
    caller then hears of what goes wrong."""
    global _settings, _folder, _tell
    # Ctrl-C and the end of the terminal are for the parent, which then says what happens.
    for name in ("SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(life,), daemon=True).start()
    place, device = places.get()
    _settings, _folder, _tell = replace(settings, device=device), folder, progress.at(place)


def _run(job: ShardJob) -> ShardRecord:
    global _worker
    assert _settings is not None
    assert _folder is not None
    if _worker is None:
        _worker = ShardWorker(_settings)
    return finish(_worker.annotate(job, _folder), _tell)


class SharedProgress:
    """How far each worker is in its shard, in memory that all processes see. Unlike a queue it can
    be read whenever a worker is killed; a figure that is just being written is shown too early.

    values (Any): an array of _FIELDS integers for each worker.
    """

    def __init__(self, values: Any) -> None:
        self._values = values
        self._seen = [tuple(values[start : start + _FIELDS]) for start in self._starts()]

    def at(self, place: int) -> Callable[[BatchDone], None]:
        """place (int): number of a worker. RETURNS (Callable[[BatchDone], None]): what it calls
        after each batch."""
        start = place * _FIELDS

        def tell(batch: BatchDone) -> None:
            number, shard, _, documents, mentions = self._values[start : start + _FIELDS]
            if (number, shard) != (batch.input, batch.shard) or documents == batch.of:
                documents = mentions = 0
            done = documents + batch.documents, mentions + batch.mentions
            self._values[start : start + _FIELDS] = [batch.input, batch.shard, batch.of, *done]

        return tell

    def news(self) -> Iterator[BatchDone]:
        """YIELDS (BatchDone): what the workers did since the last call."""
        for place, start in enumerate(self._starts()):
            before = self._seen[place]
            now = self._seen[place] = tuple(self._values[start : start + _FIELDS])
            number, shard, of, documents, mentions = now
            if now[:2] == before[:2]:
                documents, mentions = documents - before[3], mentions - before[4]
            if documents > 0:
                yield BatchDone(number, shard, documents, of, mentions)

    def _starts(self) -> range:
        return range(0, len(self._values), _FIELDS)


def _end_with_parent(life: Connection) -> None:
    """End this process at once when the parent says so or is gone: a pool's process would wait for
    work of a killed parent for ever."""
    life.poll(None)
    os._exit(1)
