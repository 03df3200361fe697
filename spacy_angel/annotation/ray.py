"""Annotation on many machines with Ray Data.

Reading, annotating and starting killed work again are Ray's. Files become shards as on one machine,
in the same folder: inputs ─ read_shards ─→ one row a shard ─ actors ─→ bytes ─→ written by the
caller, which need not share a disk with the actors for the output. Parquet in an object store is
read and written by Ray itself.
"""

import json
import logging
import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from ..corpora.documents import CorpusDocument
from ..errors import AngelError, missing_package
from .dataframes import TableLinker
from .document_linker import LinkingSettings
from .pipeline_folder import LOCAL, pipeline_folder
from .plan import InputShards, Plan, PlannedInput
from .records import ShardRecord
from .shards import ShardJob, ShardWorker, WorkerSettings, write_shard
from .source import Input

if TYPE_CHECKING:
    from spacy.language import Language

# Number of the row that tells of the end of an input.
_END = -1
_TABLE_ROWS = 1000
_DOCUMENTS: TypeAdapter[list[CorpusDocument]] = TypeAdapter(list[CorpusDocument])


@contextmanager
def connect(address: str, workers: int, device: str | None) -> Iterator[str | None]:
    """Be connected to a cluster; one that the caller is connected to already stays.

    address (str): e.g. `ray://head:10001`, `auto`; `local` starts one on this machine.
    workers (int): actors that are to run on it.
    device (str | None): what was asked for.
    YIELDS (str | None): the device of each actor's model: a GPU where the cluster has any, unless
        something else was asked for.
    RAISES (AngelError): Ray is not installed.
    """
    ray = _import_ray()
    started = not ray.is_initialized()
    if started:
        # A reading task needs a place beside the actors.
        places = {"num_cpus": max(os.cpu_count() or 1, workers + 1)} if address == LOCAL else {}
        ray.init(address=address, logging_level="warning", include_dashboard=False, **places)
    try:
        if device is None and ray.cluster_resources().get("GPU", 0):
            device = "cuda"
        yield device
    finally:
        if started:
            ray.shutdown()


def run_ray(
    plan: Plan, settings: WorkerSettings, workers: int
) -> Generator[ShardRecord, None, None]:
    """Annotate on the cluster that this process is connected to.

    plan (Plan): what is to be done; the machines must see the inputs under the same paths.
    settings (WorkerSettings): of each actor.
    workers (int): actors.
    YIELDS (ShardRecord): of each shard that is on this machine's disk, as they are done.
    RAISES (AngelError): see `ShardWorker`.
    """
    ray = _import_ray()
    rows = [{"task": _task(planned, plan)} for planned in plan.inputs()]
    if not rows:
        return
    logging.getLogger("ray.data").setLevel(logging.WARNING)
    context = ray.data.DataContext.get_current()
    before = context.target_max_block_size, context.enable_progress_bars
    # A shard is a block of its own, so that it can go to any actor as soon as it is read.
    context.target_max_block_size, context.enable_progress_bars = 1, False
    try:
        shards = ray.data.from_items(rows, override_num_blocks=len(rows)).map_batches(
            # Not the actors' number of CPUs: of equal ones Ray makes one step, and each actor would
            # read a whole input before it annotates.
            read_shards,
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
            number, shard = int(row["input"]), int(row["shard"])
            if shard == _END:
                plan.end(number, **json.loads(row["record"]))
                continue
            plan.sizes[number, shard] = int(row["size"])
            record = ShardRecord.model_validate(json.loads(row["record"]))
            yield write_shard(plan.folder.path, row["data"], record)
    except ray.exceptions.RayError as error:
        raise _known(error) from error
    finally:
        context.target_max_block_size, context.enable_progress_bars = before


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
    """Annotate Parquet in an object store, read and written by Ray.

    inputs (Sequence[str]), output (str): addresses that Ray Data knows, e.g. `s3://bucket/folder`.
    pipeline (str | Path | Language | None): see `pipeline_folder.pipeline_folder`.
    address (str), workers (int), device (str | None): see `connect`.
    settings (LinkingSettings), options (Mapping[str, Any]), strict (bool): see
        `dataframes.TableLinker`.
    RETURNS (dict[str, Any]): `finished`, `complete` and the number of documents; which of them
        failed stands in the column `error`.
    """
    ray = _import_ray()
    with (
        connect(address, workers, device) as chosen,
        pipeline_folder(pipeline, everywhere=address != LOCAL) as opened,
    ):
        try:
            ray.data.read_parquet(list(inputs)).map_batches(
                TableLinker,
                batch_size=_TABLE_ROWS,
                batch_format="pyarrow",
                fn_constructor_args=(
                    str(opened.path),
                    _model_device(chosen),
                    settings,
                    options,
                    strict,
                ),
                compute=ray.data.ActorPoolStrategy(size=workers),
                num_gpus=_gpus(chosen),
            ).write_parquet(output)
        except ray.exceptions.RayError as error:
            raise _known(error) from error
        documents = ray.data.read_parquet(output).count()
    return {"finished": True, "complete": True, "counts": {"documents": documents}}


class ShardActor:
    """Annotates shards; the class for `map_batches(…, batch_size=1)`.

    settings (WorkerSettings): see there.
    """

    def __init__(self, settings: WorkerSettings) -> None:
        self._worker = ShardWorker(replace(settings, device=_model_device(settings.device)))

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """batch (Mapping[str, Any]): a row of `read_shards`.
        RETURNS (dict[str, Any]): a row with `record` (JSON) and `data`, the bytes of the file."""
        number, shard = int(batch["input"][0]), int(batch["shard"][0])
        data, record = b"", batch["record"][0]
        if shard != _END:
            values = json.loads(record)
            documents = _DOCUMENTS.validate_python(values["documents"])
            job = ShardJob(number, shard, documents, values["digest"])
            data, written = self._worker.encode(job)
            record = json.dumps(written.model_dump())
        kept = {key: batch[key] for key in ("input", "shard", "size")}
        return {**kept, "record": [record], "data": [data]}


def read_shards(batch: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Read an input.

    batch (Mapping[str, Any]): one task, as `run_ray` makes it.
    YIELDS (dict[str, Any]): a row for each shard that is not there yet, its documents as JSON, and
        one that tells of the end.
    """
    task = json.loads(batch["task"][0])
    values, number = task["source"], task["number"]
    source = Input(**{**values, "paths": tuple(map(Path, values["paths"]))})
    there = {int(shard): digest for shard, digest in task["there"].items()}
    shards = InputShards(source, number, there, **task["reading"])
    for job, size in shards:
        if job is not None:
            row = {"documents": list(map(asdict, job.documents)), "digest": job.digest}
            yield _row(number, job.shard, size, row)
    end = {"shards": shards.n_shards, "error": shards.error, "report": shards.report.to_dict()}
    yield _row(number, _END, 0, end)


def _task(planned: PlannedInput, plan: Plan) -> str:
    source = planned.source
    paths = [str(path.absolute()) for path in source.paths]
    return json.dumps(
        {
            "number": planned.number,
            "source": {**asdict(source), "paths": paths},
            "there": plan.folder.digests(planned.number),
            "reading": plan.reading,
        }
    )


def _row(number: int, shard: int, size: int, record: Mapping[str, Any]) -> dict[str, Any]:
    return {"input": [number], "shard": [shard], "size": [size], "record": [json.dumps(record)]}


def _gpus(device: str | None) -> int:
    return 1 if device is not None and device.startswith("cuda") else 0


def _model_device(device: str | None) -> str | None:
    """Ray shows each actor its own GPU alone."""
    return "cuda:0" if _gpus(device) else device


def _known(error: Exception) -> Exception:
    """The error of ours that a task ended with, in place of Ray's around it."""
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
