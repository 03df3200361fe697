"""Annotate shards on one machine: in this process, or in processes on CPUs and GPUs.

Each process has a model of its own; the vocabulary is mapped into memory that all share.
"""

import multiprocessing as mp
import os
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from ..errors import AngelError
from .folder import ShardRecord, write_shard
from .progress import Progress, counting
from .shards import ShardJob, ShardWorker, Tell, WorkerSettings

# Shards per process that are read ahead: enough that no process waits for a slow one before it.
_AHEAD = 4
_POLL_SECONDS = 1.0


def run_here(
    jobs: Iterable[ShardJob | ShardRecord],
    settings: WorkerSettings,
    folder: Path,
    progress: Progress,
) -> Iterator[ShardRecord]:
    """Annotate in this process.

    jobs (Iterable[ShardJob | ShardRecord]): shards to annotate, and records of present ones.
    settings (WorkerSettings): of the worker.
    folder (Path): the output.
    progress (Progress): is shown after each batch.
    YIELDS (ShardRecord): of each shard, in the order of the jobs.
    RAISES (AngelError): see `ShardWorker`.
    """
    import torch

    threads = torch.get_num_threads()
    count = counting(progress.counters)

    def tell(*batch: Any) -> None:
        count(*batch)
        progress.show()

    worker = None
    try:
        for job in jobs:
            if isinstance(job, ShardRecord):
                yield job
            else:
                worker = worker or ShardWorker(settings)
                yield write_shard(folder, *worker.annotate(job, tell))
    finally:
        torch.set_num_threads(threads)


def run_processes(
    jobs: Iterable[ShardJob | ShardRecord],
    settings: WorkerSettings,
    folder: Path,
    progress: Progress,
    devices: list[str | None],
) -> Iterator[ShardRecord]:
    """Annotate in several processes.

    jobs, settings, folder, progress: as for `run_here`.
    devices (list[str | None]): of each process; None is the pipeline's own setting.
    YIELDS (ShardRecord): of each shard, in the order of the jobs.
    RAISES (AngelError): see `ShardWorker`; a process was killed.
    """
    context = mp.get_context("spawn")
    slots = context.SimpleQueue()
    for slot in enumerate(devices):
        slots.put(slot)
    # Closed however this process ends; unlike an event it needs no lock.
    listening, life = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(
        len(devices),
        context,
        initializer=_begin,
        initargs=(settings, folder, slots, listening, progress.counters),
    )
    queue: deque[ShardRecord | Future[ShardRecord]] = deque()

    def first() -> ShardRecord:
        item = queue.popleft()
        if isinstance(item, ShardRecord):
            return item
        while not item.done():
            wait([item], _POLL_SECONDS)
            progress.show()
        return item.result()

    try:
        for job in jobs:
            queue.append(job if isinstance(job, ShardRecord) else pool.submit(_run, job))
            while len(queue) >= _AHEAD * len(devices) or (queue and _is_there(queue[0])):
                yield first()
        while queue:
            yield first()
    except BaseException as error:
        life.close()
        if isinstance(error, BrokenProcessPool):
            raise AngelError(
                "A worker process was killed, most often for lack of memory, or because a script "
                'calls `annotate` outside of `if __name__ == "__main__":`. Use fewer workers or '
                "move the call, and run the same command again to continue."
            ) from error
        raise
    finally:
        pool.shutdown(cancel_futures=True)


_settings: WorkerSettings | None = None
_folder: Path | None = None
_tell: Tell | None = None
_worker: ShardWorker | None = None


def _begin(
    settings: WorkerSettings, folder: Path, slots: Any, life: Connection, counters: Any
) -> None:
    """Prepare a new process; the pipeline is opened with the first shard, so that its errors reach
    the caller."""
    global _settings, _folder, _tell
    # Ctrl-C and the end of the terminal are handled by the parent.
    for name in ("SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(life,), daemon=True).start()
    slot, device = slots.get()
    _settings, _folder, _tell = replace(settings, device=device), folder, counting(counters, slot)


def _run(job: ShardJob) -> ShardRecord:
    global _worker
    assert _settings is not None
    assert _folder is not None
    _worker = _worker or ShardWorker(_settings)
    return write_shard(_folder, *_worker.annotate(job, _tell))


def _is_there(item: ShardRecord | Future[ShardRecord]) -> bool:
    return isinstance(item, ShardRecord) or item.done()


def _end_with_parent(life: Connection) -> None:
    """End this process at once when the parent ends: a pool's process would wait for ever."""
    life.poll(None)
    os._exit(1)
