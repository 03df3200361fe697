"""Workers that annotate shards: this process, processes on CPUs and GPUs, or a Ray cluster.

All of them call `ShardAnnotator.annotate`. Each process has its own model; processes on one machine
share the memory of the vocabulary.
"""

import multiprocessing as mp
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from itertools import cycle
from multiprocessing.connection import Connection
from typing import Any

from ..errors import AngelError
from .folder import ShardRecord
from .jobs import ShardJob
from .shards import ShardAnnotator

Result = Future[tuple[bytes, ShardRecord]]
Submit = Callable[[ShardJob], Result]


def open_workers(
    annotator: ShardAnnotator, devices: list[str | None], ray: str | None
) -> AbstractContextManager[Submit]:
    """Start workers, which end with the context.

    annotator (ShardAnnotator): opens the pipeline; its device is replaced.
    devices (list[str | None]): of each worker; a single one is this process.
    ray (str | None): address of a Ray cluster; None is this machine.
    RETURNS (AbstractContextManager[Submit]): hands a shard to a worker.
    """
    if ray is not None:
        return _ray_actors(ray, annotator, devices)
    if len(devices) > 1:
        return _processes(annotator, devices)
    return _here(replace(annotator, device=devices[0]))


@contextmanager
def _here(annotator: ShardAnnotator) -> Iterator[Submit]:
    import torch

    threads = torch.get_num_threads()

    def submit(job: ShardJob) -> Result:
        future: Result = Future()
        future.set_result(annotator.annotate(job))
        return future

    try:
        yield submit
    finally:
        torch.set_num_threads(threads)


@contextmanager
def _processes(annotator: ShardAnnotator, devices: list[str | None]) -> Iterator[Submit]:
    context = mp.get_context("spawn")
    slots = context.SimpleQueue()
    for device in devices:
        slots.put(device)
    # Closed however this process ends; unlike an event it needs no lock.
    listening, life = context.Pipe(duplex=False)
    arguments = (annotator, slots, listening)
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


_annotator: ShardAnnotator


def _begin(annotator: ShardAnnotator, slots: Any, life: Connection) -> None:
    global _annotator
    # Ctrl-C and the end of the terminal are handled by the parent.
    for name in ("SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(life,), daemon=True).start()
    _annotator = replace(annotator, device=slots.get())


def _run(job: ShardJob) -> tuple[bytes, ShardRecord]:
    return _annotator.annotate(job)


def _end_with_parent(life: Connection) -> None:
    """End this process at once when the parent ends: a pool's process would wait for ever."""
    life.poll(None)
    os._exit(1)


@contextmanager
def _ray_actors(
    address: str, annotator: ShardAnnotator, devices: list[str | None]
) -> Iterator[Submit]:
    """Actors that are restarted where they were killed, with a GPU each where the device is `cuda`,
    or by default where the cluster has any. A cluster that the caller is connected to stays
    connected; the address `local` starts one."""
    import ray

    options = {"address": address, "logging_level": "warning", "include_dashboard": False}
    with nullcontext() if ray.is_initialized() else ray.init(**options):
        device = devices[0]
        if device is None and ray.cluster_resources().get("GPU", 0):
            device = "cuda"
        n_gpus = int(device is not None and device.startswith("cuda"))
        # Ray shows each actor its own GPU alone.
        annotator = replace(annotator, device="cuda:0" if n_gpus else device)
        limits = {"num_gpus": n_gpus, "max_restarts": -1, "max_task_retries": -1}
        actor = ray.remote(**limits)(ShardAnnotator)
        actors = cycle([actor.remote(**vars(annotator)) for _ in devices])
        try:
            yield lambda job: next(actors).annotate.remote(job).future()
        except AngelError as error:
            # Ray's own error has the message within its traceback.
            raise AngelError(str(getattr(error, "cause", error))) from error
