"""Annotate on many machines with Ray Data.

Ray reads the inputs, distributes the shards to actors, and restarts what was killed. The process
that was started writes the shards, with the same names, records and bytes as on one machine, so
that only it needs the disk of the output. Parquet in an object store is read and written by Ray.
"""

import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import AngelError, missing_package
from ..files.json_values import parse_as
from .dataframes import TableLinker
from .document_linker import LinkingSettings
from .folder import ShardRecord, write_shard
from .pipeline_folder import LOCAL, pipeline_folder
from .plan import Plan
from .progress import Progress, count_batch
from .shards import InputEnd, InputTask, ShardJob, ShardWorker, WorkerSettings, read_shards

if TYPE_CHECKING:
    from spacy.language import Language

# Rows of a table of documents that an actor gets at a time.
_TABLE_ROWS = 1000
# What the `value` of a row is.
_JOB, _END, _RECORD = "job", "end", "record"


@contextmanager
def connect(address: str, workers: int, device: str | None) -> Iterator[str | None]:
    """Connect to a cluster, unless the caller is connected to one.

    address (str): e.g. `ray://head:10001`, `auto`; `local` starts a cluster on this machine.
    workers (int): actors that will run on it.
    device (str | None): the device that was asked for.
    YIELDS (str | None): the device of each actor: by default a GPU where the cluster has any.
    RAISES (AngelError): Ray is not installed.
    """
    ray = _import_ray()
    started = not ray.is_initialized()
    if started:
        # A task that reads needs a CPU beside the actors.
        cpus = {"num_cpus": max(os.cpu_count() or 1, workers + 1)} if address == LOCAL else {}
        ray.init(address=address, logging_level="warning", include_dashboard=False, **cpus)
    try:
        if device is None and ray.cluster_resources().get("GPU", 0):
            device = "cuda"
        yield device
    finally:
        if started:
            ray.shutdown()


def run_ray(
    plan: Plan, settings: WorkerSettings, folder: Path, progress: Progress, workers: int
) -> Iterator[ShardRecord]:
    """Annotate on the cluster that this process is connected to.

    plan (Plan): the inputs, which all machines see under the same paths.
    settings (WorkerSettings): of each actor.
    folder (Path), progress (Progress): the output, and what is told of it.
    workers (int): number of actors.
    YIELDS (ShardRecord): of each shard, in the order of the plan.
    RAISES (AngelError): see `ShardWorker`.
    """
    ray = _import_ray()
    rows = [{"task": _dump(_absolute(task))} for task in plan.tasks()]
    if not rows:
        return
    logging.getLogger("ray.data").setLevel(logging.WARNING)
    context = ray.data.DataContext.get_current()
    options = context.execution_options
    before = context.target_max_block_size, context.enable_progress_bars, options.preserve_order
    # A shard is a block of its own, which any actor can get as soon as it was read.
    context.target_max_block_size, context.enable_progress_bars = 1, False
    options.preserve_order = True
    try:
        shards = ray.data.from_items(rows, override_num_blocks=len(rows)).map_batches(
            # Steps with the same number of CPUs are merged, and each actor would read whole inputs.
            _read_rows,
            batch_size=1,
            num_cpus=0.5,
        )
        annotated = shards.map_batches(
            ShardActor,
            batch_size=1,
            fn_constructor_args=(settings,),
            compute=ray.data.ActorPoolStrategy(size=workers),
            num_gpus=_gpus(settings.device),
        )
        for row in annotated.iter_rows():
            if row["kind"] == _RECORD:
                record = parse_as(row["value"], ShardRecord)
                count_batch(progress.counters, 0, record.read, record.mentions, row["size"])
                yield write_shard(folder, row["data"], record)
                continue
            kind: Any = ShardJob if row["kind"] == _JOB else InputEnd
            for present in plan.receive(parse_as(row["value"], kind)):
                assert isinstance(present, ShardRecord)
                yield present
    except ray.exceptions.RayError as error:
        raise _cause(error) from error
    finally:
        context.target_max_block_size, context.enable_progress_bars = before[:2]
        options.preserve_order = before[2]


class ShardActor:
    """Annotates shards; the class for `map_batches(…, batch_size=1)`.

    settings (WorkerSettings): see there.
    """

    def __init__(self, settings: WorkerSettings) -> None:
        self._worker = ShardWorker(replace(settings, device=_model_device(settings.device)))

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """batch (Mapping[str, Any]): a row of `_read_rows`.
        RETURNS (dict[str, Any]): in place of a job with documents, the record of the shard and the
            bytes of its file; other rows as they are."""
        row = {key: values[0] for key, values in batch.items()}
        if row["kind"] == _JOB:
            job = parse_as(row["value"], ShardJob)
            if job.documents:
                data, record = self._worker.annotate(job)
                row |= {"kind": _RECORD, "value": _dump(record), "data": data, "size": job.size}
        return {key: [value] for key, value in row.items()}


def annotate_addresses(
    inputs: Sequence[str],
    pipeline: "str | Path | Language | None",
    output: str,
    address: str,
    workers: int,
    device: str | None,
    settings: LinkingSettings,
    options: Mapping[str, Any],
    strict: bool,
) -> dict[str, Any]:
    """Annotate Parquet in an object store, which Ray reads and writes.

    inputs (Sequence[str]), output (str): addresses that Ray Data knows, e.g. `s3://bucket/folder`.
    pipeline (str | Path | Language | None): see `pipeline_folder.pipeline_folder`.
    address (str), workers (int), device (str | None): see `connect`.
    settings (LinkingSettings), options (Mapping[str, Any]), strict (bool): see
        `dataframes.TableLinker`.
    RETURNS (dict[str, Any]): `finished`, `complete`, and the counts of the documents and of those
        that failed, whose reasons are in the column `error`.
    RAISES (AngelError): the output is not empty; with `strict`, a document failed.
    """
    ray = _import_ray()
    from pyarrow.fs import FileSelector, FileSystem

    system, path = FileSystem.from_uri(output.replace("local://", "file://", 1))
    if system.get_file_info(FileSelector(path, allow_not_found=True)):
        raise AngelError(f"{output} is not empty, so that documents would be there twice.")
    with (
        connect(address, workers, device) as chosen,
        pipeline_folder(pipeline, everywhere=address != LOCAL) as opened,
    ):
        linker = (str(opened.path), _model_device(chosen), settings, options, strict)
        try:
            ray.data.read_parquet(list(inputs)).map_batches(
                TableLinker,
                batch_size=_TABLE_ROWS,
                batch_format="pyarrow",
                fn_constructor_args=linker,
                compute=ray.data.ActorPoolStrategy(size=workers),
                num_gpus=_gpus(chosen),
            ).write_parquet(output)
        except ray.exceptions.RayError as error:
            raise _cause(error) from error
        written = ray.data.read_parquet(output, columns=["error"])
        errors = [row["error"] for row in written.iter_rows()]
    failed = sum(error is not None for error in errors)
    counts = {"documents": len(errors) - failed, "failed": failed}
    return {"finished": True, "complete": not failed, "counts": counts}


def _read_rows(batch: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Read an input into rows, one for each shard and one for the end."""
    for item in read_shards(parse_as(batch["task"][0], InputTask)):
        kind = _JOB if isinstance(item, ShardJob) else _END
        yield {"kind": [kind], "value": [_dump(item)], "data": [b""], "size": [0.0]}


def _dump(value: Any) -> str:
    """RETURNS (str): a dataclass as JSON, which `parse_as` reads."""
    return json.dumps(asdict(value), default=str)


def _absolute(task: InputTask) -> InputTask:
    paths = tuple(path.absolute() for path in task.source.paths)
    return replace(task, source=replace(task.source, paths=paths))


def _gpus(device: str | None) -> int:
    return 1 if device is not None and device.startswith("cuda") else 0


def _model_device(device: str | None) -> str | None:
    """Ray shows each actor its own GPU alone."""
    return "cuda:0" if _gpus(device) else device


def _cause(error: Exception) -> Exception:
    """Our own error that a task ended with, in place of Ray's around it."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, AngelError):
            return AngelError(str(getattr(cause, "cause", cause)))
        cause = getattr(cause, "cause", None) or cause.__cause__
    return error


def _import_ray() -> Any:
    try:
        import ray
        import ray.data
        import ray.exceptions
    except ImportError as error:
        raise AngelError(missing_package("Annotation on many machines", "ray", "ray")) from error
    return ray
