"""Where shards are annotated on one machine: this process, or processes on CPUs and GPUs.

Each process has a model of its own; the vocabulary is mapped, so that all share its memory.
"""

import multiprocessing as mp
import os
import signal
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from ..errors import AngelError, Errors
from .manifest import ShardRecord
from .shards import ShardJob, ShardWorker, WorkerSettings, write_shard

# Jobs that wait for a worker, for each of them: enough to keep it busy, few enough for memory.
_WAITING = 1


def run_here(
    jobs: Iterable[ShardJob], settings: WorkerSettings, folder: Path
) -> Iterator[ShardRecord]:
    """Annotate in this process.

    jobs (Iterable[ShardJob]): taken one by one.
    settings (WorkerSettings): of the worker.
    folder (Path): gets the files.
    YIELDS (ShardRecord): of each shard that is on the disk.
    RAISES (AngelError): see `ShardWorker`.
    """
    import torch

    threads = torch.get_num_threads()
    try:
        worker = ShardWorker(settings)
        for job in jobs:
            yield write_shard(folder, *worker.encode(job))
    finally:
        torch.set_num_threads(threads)


def run_processes(
    jobs: Iterable[ShardJob], settings: WorkerSettings, folder: Path, devices: list[str | None]
) -> Iterator[ShardRecord]:
    """Annotate in several processes.

    jobs (Iterable[ShardJob]), settings (WorkerSettings), folder (Path): as for `run_here`.
    devices (list[str | None]): one process for each; None is the pipeline's own.
    YIELDS (ShardRecord): of each shard that is on the disk, as they are done.
    RAISES (AngelError): see `ShardWorker`; a process was killed.
    """
    context = mp.get_context("spawn")
    places = context.SimpleQueue()
    for device in devices:
        places.put(device)
    # Closed when this process ends, however it ends: unlike an event it needs no lock.
    listening, life = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(
        len(devices), context, initializer=_begin, initargs=(settings, folder, places, listening)
    )
    pending: set[Future[ShardRecord]] = set()
    try:
        for job in jobs:
            pending.add(pool.submit(_run, job))
            if len(pending) >= len(devices) * (1 + _WAITING):
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    except BrokenProcessPool as error:
        raise AngelError(Errors.E814) from error
    finally:
        if pending:
            life.close()
        pool.shutdown(cancel_futures=True)


_settings: WorkerSettings | None = None
_folder: Path | None = None
_worker: ShardWorker | None = None


def _begin(settings: WorkerSettings, folder: Path, places: Any, life: Connection) -> None:
    """Tell a new process what it is for; the pipeline is opened with the first shard, whose
    caller then hears of what goes wrong."""
    global _settings, _folder
    # Ctrl-C is for the parent, which then says what happens.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(life,), daemon=True).start()
    _settings, _folder = replace(settings, device=places.get()), folder


def _run(job: ShardJob) -> ShardRecord:
    global _worker
    assert _settings is not None
    assert _folder is not None
    if _worker is None:
        _worker = ShardWorker(_settings)
    return write_shard(_folder, *_worker.encode(job))


def _end_with_parent(life: Connection) -> None:
    """End this process at once when the parent says so or is gone: a pool's process would wait for
    work of a killed parent for ever."""
    life.poll(None)
    os._exit(1)
