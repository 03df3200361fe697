"""Annotate on many machines with Ray: each actor opens the pipeline, gets shards, and is restarted
where it was killed. The process that was started reads the inputs and writes the output."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import cycle
from typing import Any

from ..errors import AngelError, missing_package
from .pipeline_folder import LOCAL
from .shards import ShardJob, ShardWorker
from .workers import Result, Submit


def import_ray() -> Any:
    """RETURNS (Any): Ray. RAISES (AngelError): it is not installed."""
    try:
        import ray
    except ImportError as error:
        raise AngelError(missing_package("Annotation on many machines", "ray", "ray")) from error
    return ray


@contextmanager
def ray_actors(address: str, worker: ShardWorker, workers: int) -> Iterator[Submit]:
    """Annotate on a cluster; one that the caller is connected to stays connected.

    address (str): e.g. `ray://head:10001`, `auto`; `local` starts a cluster on this machine.
    worker (ShardWorker): of each actor, which gets a GPU where its device is `cuda`, or by default
        where the cluster has any.
    workers (int): number of actors.
    YIELDS (Submit): hands a shard to an actor.
    RAISES (AngelError): Ray is not installed.
    """
    ray = import_ray()
    started = not ray.is_initialized()
    if started:
        cpus = {"num_cpus": max(os.cpu_count() or 1, workers)} if address == LOCAL else {}
        ray.init(address=address, logging_level="warning", include_dashboard=False, **cpus)
    try:
        device = worker.device
        if device is None and ray.cluster_resources().get("GPU", 0):
            device = "cuda"
        n_gpus = int(device is not None and device.startswith("cuda"))
        # Ray shows each actor its own GPU alone.
        worker = replace(worker, device="cuda:0" if n_gpus else device)
        actor = ray.remote(num_gpus=n_gpus, max_restarts=-1, max_task_retries=-1)(ShardWorker)
        actors = cycle([actor.remote(**vars(worker)) for _ in range(workers)])

        def submit(job: ShardJob) -> Result:
            future: Result = next(actors).annotate.remote(job).future()
            return future

        yield submit
    except AngelError as error:
        # Ray's own error has the message within its traceback.
        raise AngelError(str(getattr(error, "cause", error))) from error
    finally:
        if started:
            ray.shutdown()
