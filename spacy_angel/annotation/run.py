"""A run from end to end: inputs are cut into shards, workers annotate them; what is there already
is left as it is."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ..errors import AngelError, unknown_name
from .document_linker import LinkingSettings, MentionSource
from .folder import OutputFolder
from .inputs import plan_inputs
from .outputs import OUTPUT_FORMATS
from .pipeline_folder import LOCAL, find_devices, pipeline_folder, versions
from .plan import Plan
from .progress import Progress
from .records import ShardRecord
from .shards import BatchDone, WorkerSettings
from .source import Input
from .streams import STREAM, STREAM_FORMAT, standard_input
from .workers import run_here, run_processes

if TYPE_CHECKING:
    from spacy.language import Language

_SOURCES = ("auto", "input", "pipeline")


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
    cache: bool = False,
    shard_size: int = 1000,
    batch_size: int = 64,
    workers: int = 1,
    device: str | None = None,
    ray: str | None = None,
    strict: bool = False,
    options: Mapping[str, Any] | None = None,
    on_shard: Callable[[Path], None] | None = None,
) -> dict[str, Any]:
    """Annotate files into shards; started again with the same settings, it goes on where it was.

    The output is the same, byte for byte, however often the run was interrupted and however many
    workers it had. New inputs may be added to a finished output.

    inputs (str | Path | Sequence[str | Path]): files and folders; `-` is standard input, JSON lines
        unless `input_format` says otherwise.
    pipeline (str | Path | Language | None): folder, package, or a loaded pipeline; None is what
        `spacy_angel.load()` gives.
    output (str | Path): folder, new or that of the run to continue.
    kb (str | Path | None): another vocabulary for the shipped pipeline, see `spacy_angel.load`.
    input_format (str | None): one of `input_formats()`; None: by each file.
    output_format (str): one of OUTPUT_FORMATS.
    mentions (MentionSource): `input` takes the entities of the input, `pipeline` finds them,
        `auto` takes those of the input where a document has any.
    candidates (bool): give out all candidates of a mention.
    cache (bool): search mentions with equal text and context once a shard.
    shard_size (int): documents of a shard.
    batch_size (int): documents that go through the pipeline together.
    workers (int): processes; with the device `cuda`, for each GPU.
    device (str | None): of linker and recogniser, e.g. `cuda:1`; `cuda` is every GPU; None is the
        pipeline's own setting.
    ray (str | None): address of a Ray cluster, `local` for one on this machine.
    strict (bool): stop at the first fault of an input and at a document that fails, instead of
        recording it.
    options (Mapping[str, Any] | None): of the input format, see `inputs.read_input`.
    on_shard (Callable[[Path], None] | None): gets the file of each shard of the output, in the
        order of the manifest, as soon as it and those before it are whole; of an output that was
        begun before, at the end, when none of them is made anew any more.
    RETURNS (dict[str, Any]): the manifest, as in `_manifest.json`, see `records.Manifest`.
    RAISES (AngelError): a setting or file that does not fit, a worker that died; with `strict` a
        document that failed. What was done by then stays.
    """
    _check(output_format, mentions, shard_size, batch_size, workers)
    given = [inputs] if isinstance(inputs, str | Path) else list(inputs)
    linking = LinkingSettings(mentions, candidates, cache, batch_size)
    values = dict(options or {})
    if is_address(output) or any(map(is_address, given)):
        if ray is None or output_format != "parquet" or not all(map(is_address, [output, *given])):
            raise AngelError(
                f"Addresses ({output if is_address(output) else given[0]}) need --ray, with all "
                "inputs and the output as addresses."
            )
        from .ray import annotate_addresses

        return annotate_addresses(
            list(map(str, given)),
            pipeline,
            str(output),
            ray,
            workers,
            device,
            linking,
            values,
            strict,
        )
    settings = {
        **asdict(linking),
        "output_format": output_format,
        "shard_size": shard_size,
        "input_format": input_format,
        "options": values,
    }
    with ExitStack() as stack:
        sources = [
            source for path in given for source in _sources(path, input_format, values, stack)
        ]
        if ray is not None:
            from .ray import connect, run_ray

            device = stack.enter_context(connect(ray, workers, device))
        devices = [device] * workers if ray is not None else find_devices(device, workers)
        everywhere = ray not in (None, LOCAL)
        opened = stack.enter_context(pipeline_folder(pipeline, kb, everywhere=everywhere))
        settings["pipeline"] = opened.fingerprint
        folder = stack.enter_context(OutputFolder(Path(output), settings, versions(device)))
        worker = WorkerSettings(
            str(opened.path), output_format, devices[0], linking, strict, folder.key
        )
        plan = Plan(sources, folder, shard_size, strict, values)
        in_order = _ShardsInOrder(folder, on_shard)
        records: Generator[BatchDone | ShardRecord, None, None]
        try:
            if ray is not None:
                records = run_ray(plan, worker, workers)
            elif len(devices) == 1:
                records = run_here(plan.jobs(), worker, folder.path)
            else:
                records = run_processes(plan.jobs(), worker, folder.path, devices)
            with closing(records), Progress(plan) as progress:
                for record in records:
                    if isinstance(record, ShardRecord):
                        folder.add_shard(record)
                        in_order.go_on()
                    progress.show(record)
            in_order.go_on(is_end=True)
            plan.check_inputs()
        except BaseException:
            # A full disk that stopped the run has no room for this either.
            with suppress(AngelError):
                folder.write_manifest(was_read=False)
            raise
        return folder.write_manifest(was_read=plan.was_read)


class _ShardsInOrder:
    """Hands each shard on when all before it were.

    folder (OutputFolder): knows which are there.
    on_shard (Callable[[Path], None] | None): takes them.
    """

    def __init__(self, folder: OutputFolder, on_shard: Callable[[Path], None] | None) -> None:
        self._folder, self._on_shard = folder, on_shard
        self._next = 0, 0
        self._waits = folder.has_shards()

    def go_on(self, *, is_end: bool = False) -> None:
        """is_end (bool): all shards are whole. Hand on what can be by now."""
        if self._on_shard is None or (self._waits and not is_end):
            return
        for number, shard, path in self._folder.shards_from(*self._next):
            self._on_shard(path)
            self._next = number, shard + 1


def _sources(
    path: str | Path, format: str | None, options: Mapping[str, Any], stack: ExitStack
) -> list[Input]:
    """The inputs that a path stands for; standard input is kept in a file while the run lasts."""
    if str(path) != STREAM:
        return plan_inputs([path], format, options)
    folder = stack.enter_context(TemporaryDirectory(prefix="spacy-angel-"))
    sources = plan_inputs([standard_input(Path(folder))], format or STREAM_FORMAT, options)
    return [replace(source, name=STREAM) for source in sources]


def is_address(path: str | Path) -> bool:
    """RETURNS (bool): whether it is an object store's, such as `s3://bucket/folder`."""
    return "://" in str(path)


def _check(
    output_format: str, mentions: str, shard_size: int, batch_size: int, workers: int
) -> None:
    if output_format not in OUTPUT_FORMATS:
        known = ", ".join(OUTPUT_FORMATS)
        raise AngelError(unknown_name("output format", output_format, known))
    if mentions not in _SOURCES:
        expected = f"one of {', '.join(_SOURCES)}"
        raise AngelError(f"mentions must be {expected}, not {mentions!r}.")
    values = {"shard_size": shard_size, "batch_size": batch_size, "workers": workers}
    for name, value in values.items():
        if value < 1:
            expected = "a whole number from 1"
            raise AngelError(f"{name} must be {expected}, not {value!r}.")
