"""Annotate shards on one machine: in this process, or in processes on CPUs and GPUs.

Each process has a model of its own; the vocabulary is mapped into memory that all share.
"""

import multiprocessing as mp
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from multiprocessing.connection import Connection
from typing import Any

from ..errors import AngelError
from .folder import OutputFolder, ShardRecord
from .progress import Progress
from .shards import ShardJob, ShardWorker

Result = Future[tuple[bytes, ShardRecord]]
Submit = Callable[[ShardJob], Result]


def annotate_shards(
    jobs: Iterable[ShardJob | ShardRecord],
    submit: Submit,
    ahead: int,
    folder: OutputFolder,
    progress: Progress,
) -> Iterator[ShardRecord]:
    """Have shards annotated, and write each as soon as it is done.

    jobs (Iterable[ShardJob | ShardRecord]): shards to annotate, and records of present ones.
    submit (Submit): hands a shard to a worker.
    ahead (int): shards that are with workers at a time.
    folder (OutputFolder), progress (Progress): the output, and the bar to draw.
    YIELDS (ShardRecord): of each shard, in the order of the jobs.
    RAISES (AngelError): see `ShardWorker`; a shard cannot be written.
    """
    pending: dict[Result, tuple[int, int]] = {}
    done: dict[int, ShardRecord] = {}
    first = 0
    for place, job in chain(enumerate(jobs), [(0, None)]):
        if isinstance(job, ShardRecord):
            done[place] = job
        elif job is not None:
            pending[submit(job)] = place, job.size
        is_full = True
        while is_full:
            while first in done:
                yield done.pop(first)
                first += 1
            is_full = len(pending) >= (ahead if job is not None else 1)
            for future in wait(pending, None, FIRST_COMPLETED).done if is_full else ():
                data, record = future.result()
                folder.write_shard(data, record)
                index, size = pending.pop(future)
                done[index] = record
                progress.count(record.read, record.mentions, size)


@contextmanager
def here(worker: ShardWorker) -> Iterator[Submit]:
    """Annotate in this process.

    worker (ShardWorker): opens the pipeline.
    YIELDS (Submit): annotates a shard.
    """
    import torch

    threads = torch.get_num_threads()

    def submit(job: ShardJob) -> Result:
        future: Result = Future()
        future.set_result(worker.annotate(job))
        return future

    try:
        yield submit
    finally:
        torch.set_num_threads(threads)


@contextmanager
def processes(worker: ShardWorker, devices: list[str | None]) -> Iterator[Submit]:
    """Annotate in several processes, which end with the context.

    worker (ShardWorker): as for `here`.
    devices (list[str | None]): of each process.
    YIELDS (Submit): hands a shard to a process.
    RAISES (AngelError): a process was killed.
    """
    context = mp.get_context("spawn")
    slots = context.SimpleQueue()
    for device in devices:
        slots.put(device)
    # Closed however this process ends; unlike an event it needs no lock.
    listening, life = context.Pipe(duplex=False)
    arguments = (worker, slots, listening)
    pool = ProcessPoolExecutor(len(devices), context, initializer=_begin, initargs=arguments)
    try:
        yield lambda job: pool.submit(_run, job)
    except BaseException as error:
        life.close()
        if isinstance(error, BrokenProcessPool):
            raise AngelError(
                "A worker process died. Use fewer workers if memory is short; a script must call "
                '`annotate` inside of `if __name__ == "__main__":`.'
            ) from error
        raise
    finally:
        pool.shutdown(cancel_futures=True)


_worker: ShardWorker


def _begin(worker: ShardWorker, slots: Any, life: Connection) -> None:
    global _worker
    # Ctrl-C and the end of the terminal are handled by the parent.
    for name in ("SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(life,), daemon=True).start()
    _worker = replace(worker, device=slots.get())


def _run(job: ShardJob) -> tuple[bytes, ShardRecord]:
    return _worker.annotate(job)


def _end_with_parent(life: Connection) -> None:
    """End this process at once when the parent ends: a pool's process would wait for ever."""
    life.poll(None)
    os._exit(1)
