"""Annotate files into a folder of shards; continuing a run keeps finished shards."""

import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import ExitStack, suppress
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

from spacy.language import Language
from tqdm import tqdm

from ..errors import AngelError, unknown_name
from ..files.table import import_optional
from .document_linker import LinkingSettings, MentionSource
from .folder import open_output
from .inputs import plan_inputs
from .jobs import shard_jobs
from .outputs import OUTPUT_FORMATS
from .pipeline_folder import LOCAL, find_devices, pipeline_folder, versions
from .shards import ShardAnnotator
from .workers import open_workers


def annotate(
    inputs: str | Path | Sequence[str | Path],
    pipeline: str | Path | Language | None = None,
    *,
    output: str | Path,
    input_format: str | None = None,
    output_format: str = "jsonl",
    mentions: MentionSource = "auto",
    candidates: bool = False,
    negation: bool = False,
    shard_size: int = 1000,
    batch_size: int = 64,
    workers: int = 1,
    device: str | None = None,
    ray: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Annotate files into shards. Called again with the same settings, it continues.

    The output is the same, byte for byte, however often the run was interrupted and however many
    workers it had. New inputs can be added to a finished output.

    inputs (str | Path | Sequence[str | Path]): files and folders, or addresses of them that fsspec
        knows (`s3://bucket/folder`).
    pipeline (str | Path | Language | None): folder, package, or a loaded pipeline, e.g.
        `spacy_angel.load(kb=…)`; None is the pipeline that `spacy_angel.load()` returns.
    output (str | Path): a new folder, or that of the run to continue; or its address.
    input_format (str | None): one of `input_formats()`; None infers it from each file.
    output_format (str): one of OUTPUT_FORMATS.
    mentions (MentionSource): `input` links the entities of the input, `pipeline` finds them, and
        `auto` takes those of the input where a document has any.
    candidates (bool): write all candidates of each mention.
    negation (bool): write whether each mention is negated, uncertain, historical or hypothetical,
        and who has it; needs the extra `negation`.
    shard_size (int): documents per shard.
    batch_size (int): documents that go through the pipeline together.
    workers (int): number of processes; with the device `cuda`, for each GPU.
    device (str | None): of linker and recognizer, e.g. `cuda:1`; `cuda` is every GPU; None is the
        pipeline's own setting.
    ray (str | None): address of a Ray cluster; `local` starts one on this machine.
    options (Mapping[str, Any] | None): of the input format, see `inputs.read_input`.
    RETURNS (dict[str, Any]): the manifest, as in `_manifest.json`.
    RAISES (AngelError): a setting or file does not fit, or a worker was killed. Finished
        shards stay.
    """
    if output_format not in OUTPUT_FORMATS:
        raise AngelError(unknown_name("output format", output_format, ", ".join(OUTPUT_FORMATS)))
    if str(output) == "-":
        raise AngelError(
            "The output must be a folder or a URL: annotate does not write to standard output. "
            "For a single text use `spacy-angel link`."
        )
    if mentions not in ("auto", "input", "pipeline"):
        raise AngelError(f"mentions must be auto, input or pipeline, not {mentions!r}.")
    numbers = {"shard_size": shard_size, "batch_size": batch_size, "workers": workers}
    for name, value in numbers.items():
        if value < 1:
            raise AngelError(f"{name} must be a whole number from 1, not {value!r}.")
    # A missing package ends the run before anything is read.
    if output_format == "parquet":
        import_optional("pyarrow.parquet", "parquet")
    if ray is not None:
        import_optional("ray", "ray")
    linking = LinkingSettings(mentions, candidates, negation, batch_size)
    values = dict(options or {})
    settings = {
        **asdict(linking),
        "output_format": output_format,
        "shard_size": shard_size,
        "input_format": input_format,
        "options": values,
    }
    paths = [inputs] if isinstance(inputs, str | Path) else inputs
    sources = plan_inputs(paths, input_format, values)
    devices = [device] * workers if ray is not None else find_devices(device, workers)
    with ExitStack() as stack:
        path, fingerprint = stack.enter_context(
            pipeline_folder(pipeline, everywhere=ray not in (None, LOCAL))
        )
        settings |= {"pipeline": fingerprint, "versions": versions(device)}
        folder = stack.enter_context(open_output(output, settings))
        bar = stack.enter_context(_progress_bar(sum(source.size for source in sources)))
        annotator = ShardAnnotator(str(path), output_format, linking, device)
        submit = stack.enter_context(open_workers(annotator, devices, ray))
        jobs = shard_jobs(sources, folder, bar, shard_size=shard_size, options=values)
        # Shards that are with workers at a time.
        ahead = 1 if len(devices) == 1 and ray is None else 2 * len(devices)
        pending = {}
        try:
            for job in chain(jobs, [None]):
                if job is not None:
                    pending[submit(job)] = job.size
                while len(pending) >= (1 if job is None else ahead):
                    for future in wait(pending, None, FIRST_COMPLETED).done:
                        data, record = future.result()
                        folder.write_shard(data, record)
                        bar.update(pending.pop(future))
        except BaseException:
            # A full disk has no room for the manifest either.
            with suppress(AngelError):
                folder.write_manifest(was_read=False)
            raise
        return folder.write_manifest(was_read=True)


def _progress_bar(size: int) -> "tqdm[Any]":
    """A bar of the bytes of the inputs; in a log, drawn every half minute."""
    interval = 0.1 if sys.stderr.isatty() else 30
    return tqdm(total=size, unit="B", unit_scale=True, smoothing=0, mininterval=interval)
