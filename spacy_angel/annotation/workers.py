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
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from ..errors import AngelError
from .folder import ShardRecord, write_shard
from .progress import Progress, count_batch
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

    def tell(*batch: float) -> None:
        count_batch(progress.counters, 0, *batch)
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
    queue: deque[Future[ShardRecord]] = deque()
    try:
        for job in jobs:
            queue.append(pool.submit(_run, job) if isinstance(job, ShardJob) else _done(job))
            while queue and (queue[0].done() or len(queue) > _AHEAD * len(devices)):
                yield _result(queue.popleft(), progress)
        while queue:
            yield _result(queue.popleft(), progress)
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
    _settings, _folder = replace(settings, device=device), folder
    _tell = partial(count_batch, counters, slot)


def _run(job: ShardJob) -> ShardRecord:
    global _worker
    assert _settings is not None
    assert _folder is not None
    _worker = _worker or ShardWorker(_settings)
    return write_shard(_folder, *_worker.annotate(job, _tell))


def _done(record: ShardRecord) -> Future[ShardRecord]:
    future: Future[ShardRecord] = Future()
    future.set_result(record)
    return future


def _result(future: Future[ShardRecord], progress: Progress) -> ShardRecord:
    while not future.done():
        wait([future], _POLL_SECONDS)
        progress.show()
    return future.result()


def _end_with_parent(life: Connection) -> None:
    """End this process at once when the parent ends: a pool's process would wait for ever."""
    life.poll(None)
    os._exit(1)
