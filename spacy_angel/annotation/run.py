"""Annotate files into a folder of shards; finished shards stay when a run is continued."""

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ..corpora.formats.rows import import_parquet
from ..errors import AngelError, unknown_name
from .document_linker import LinkingSettings, MentionSource
from .folder import open_output
from .inputs import Input, plan_inputs
from .outputs import OUTPUT_FORMATS
from .pipeline_folder import LOCAL, find_devices, pipeline_folder, versions
from .plan import Plan
from .progress import Progress
from .ray import import_ray, ray_actors
from .shards import ShardWorker
from .stores import STREAM
from .workers import annotate_shards, here, processes

if TYPE_CHECKING:
    from spacy.language import Language


def annotate(
    inputs: str | Path | Sequence[str | Path],
    pipeline: "str | Path | Language | None" = None,
    *,
    output: str | Path,
    kb: str | Path | None = None,
    input_format: str | None = None,
    output_format: str = "jsonl",
    mentions: MentionSource = "auto",
    candidates: bool = False,
    shard_size: int = 1000,
    batch_size: int = 64,
    workers: int = 1,
    device: str | None = None,
    ray: str | None = None,
    strict: bool = False,
    options: Mapping[str, Any] | None = None,
    on_shard: Callable[[Path], None] | None = None,
) -> dict[str, Any]:
    """Annotate files into shards. Called again with the same settings, it continues.

    The output is the same, byte for byte, however often the run was interrupted and however many
    workers it had. New inputs can be added to a finished output.

    inputs (str | Path | Sequence[str | Path]): files and folders, or addresses of them that fsspec
        knows (`s3://bucket/folder`); `-` is standard input, which is JSON lines unless
        `input_format` says otherwise.
    pipeline (str | Path | Language | None): folder, package, or a loaded pipeline; None is the
        pipeline that `spacy_angel.load()` returns.
    output (str | Path): a new folder, or that of the run to continue; or its address.
    kb (str | Path | None): another vocabulary for the shipped pipeline, see `spacy_angel.load`.
    input_format (str | None): one of `input_formats()`; None infers it from each file.
    output_format (str): one of OUTPUT_FORMATS.
    mentions (MentionSource): `input` links the entities of the input, `pipeline` finds them, and
        `auto` takes those of the input where a document has any.
    candidates (bool): write all candidates of each mention.
    shard_size (int): documents per shard.
    batch_size (int): documents that go through the pipeline together.
    workers (int): number of processes; with the device `cuda`, for each GPU.
    device (str | None): of linker and recognizer, e.g. `cuda:1`; `cuda` is every GPU; None is the
        pipeline's own setting.
    ray (str | None): address of a Ray cluster; `local` starts one on this machine.
    strict (bool): stop at the first fault of an input and at a document that fails, instead of
        recording it.
    options (Mapping[str, Any] | None): of the input format, see `inputs.read_input`.
    on_shard (Callable[[Path], None] | None): called with the file of each shard of the inputs, in
        order.
    RETURNS (dict[str, Any]): the manifest, as in `_manifest.json`.
    RAISES (AngelError): a setting or file does not fit, a worker was killed; with `strict`, a
        document failed. Finished shards stay.
    """
    if output_format not in OUTPUT_FORMATS:
        raise AngelError(unknown_name("output format", output_format, ", ".join(OUTPUT_FORMATS)))
    if mentions not in ("auto", "input", "pipeline"):
        raise AngelError(f"mentions must be auto, input or pipeline, not {mentions!r}.")
    numbers = {"shard_size": shard_size, "batch_size": batch_size, "workers": workers}
    for name, value in numbers.items():
        if value < 1:
            raise AngelError(f"{name} must be a whole number from 1, not {value!r}.")
    # A missing package ends the run before anything is read.
    if output_format == "parquet":
        import_parquet()
    if ray is not None:
        import_ray()
    given = [inputs] if isinstance(inputs, str | Path) else list(inputs)
    linking = LinkingSettings(mentions, candidates, batch_size)
    values = dict(options or {})
    settings = {
        **asdict(linking),
        "output_format": output_format,
        "shard_size": shard_size,
        "input_format": input_format,
        "options": values,
    }
    with ExitStack() as stack:
        sources = _sources(given, input_format, values, stack)
        devices = [device] * workers if ray is not None else find_devices(device, workers)
        path, fingerprint = stack.enter_context(
            pipeline_folder(pipeline, kb, everywhere=ray not in (None, LOCAL))
        )
        settings |= {"pipeline": fingerprint, "versions": versions(device)}
        folder = stack.enter_context(open_output(output, settings))
        size = sum(source.size for source in sources)
        progress = stack.enter_context(Progress(size))
        worker = ShardWorker(str(path), output_format, linking, strict, devices[0])
        if ray is not None:
            submit = stack.enter_context(ray_actors(ray, worker, workers))
        elif len(devices) == 1:
            submit = stack.enter_context(here(worker))
        else:
            submit = stack.enter_context(processes(worker, devices))
        plan = Plan(sources, folder, progress, shard_size, strict, values)
        ahead = 1 if len(devices) == 1 and ray is None else 2 * len(devices)
        try:
            for record in annotate_shards(plan.jobs(), submit, ahead, folder, progress):
                if on_shard is not None:
                    on_shard(Path(output, record.file))
        except BaseException:
            # A full disk has no room for the manifest either.
            with suppress(AngelError):
                folder.write_manifest(was_read=False)
            raise
        return folder.write_manifest(was_read=plan.was_read)


def _sources(
    paths: Sequence[str | Path],
    format: str | None,
    options: Mapping[str, Any],
    stack: ExitStack,
) -> list[Input]:
    """The inputs. Standard input is stored in a file, so that it can be read twice."""
    sources: list[Input] = []
    for path in paths:
        if str(path) != STREAM:
            sources += plan_inputs([path], format, options)
            continue
        file = Path(stack.enter_context(TemporaryDirectory(prefix="spacy-angel-")), "stdin")
        with file.open("wb") as copy:
            shutil.copyfileobj(sys.stdin.buffer, copy)
        [source] = plan_inputs([file], format or "jsonl", options)
        sources.append(replace(source, name=STREAM))
    return sources
