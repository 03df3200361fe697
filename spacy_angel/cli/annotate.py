"""`spacy-angel annotate`: large document sets."""

import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from .options import (
    OtherVocabulary,
    Pipeline,
    ReaderOptions,
    reader_options,
)

# Exit codes beside 0 and 1: of a run that was interrupted, as the shell's own, and of one that is
# finished though documents are missing.
INTERRUPTED = 130
INCOMPLETE = 3
SHARD_SIZE = 1000


def annotate(
    inputs: Annotated[
        list[str],
        typer.Argument(
            help="Files or folders, `-` for standard input; with --ray also object stores."
        ),
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            help="Folder, new or that of the run to continue; `-` for standard output.",
        ),
    ],
    pipeline: Pipeline = None,
    kb: OtherVocabulary = None,
    curation: Annotated[
        Path | None,
        typer.Option(help="File of rules, as the linker's setting `curation` reads it."),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(help="Format of the inputs; inferred from each if not given."),
    ] = None,
    to: Annotated[
        str,
        typer.Option(help="Output: jsonl, parquet, csv, tsv, pubtator, bioc_json or docbin."),
    ] = "jsonl",
    mentions: Annotated[
        str,
        typer.Option(
            help="Take the entities of the `input`, find them with the `pipeline`, or `auto`: "
            "take them where a document has any."
        ),
    ] = "auto",
    candidates: Annotated[
        bool, typer.Option("--candidates", help="Give out all candidates of a mention.")
    ] = False,
    cache: Annotated[
        bool, typer.Option("--cache", help="Search equal mentions in equal context once a shard.")
    ] = False,
    shard_size: Annotated[
        int | None,
        typer.Option(help="Documents of a shard: 1,000; on standard output those of a batch."),
    ] = None,
    batch_size: Annotated[
        int, typer.Option(help="Documents that go through the pipeline together.")
    ] = 64,
    workers: Annotated[int, typer.Option(help="Processes; with `--device cuda` for each GPU.")] = 1,
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda:1, or cuda for every GPU; else the pipeline's.")
    ] = None,
    ray: Annotated[str | None, typer.Option(help="Address of a Ray cluster, or `local`.")] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at a fault instead of recording it.")
    ] = False,
    option: ReaderOptions = None,
) -> None:
    """Annotate large document sets; started again, it goes on where it was interrupted.

    Exits with 0 where every document is in the output, 3 where all is done but documents or
    mentions are missing. 1 is an error or an input that could not be read to its end, 130 an
    interruption.
    """
    from ..annotation.run import annotate as run
    from ..annotation.run import is_address
    from ..annotation.streams import STREAM, check_stream_format, shard_writer

    source: Any = pipeline
    if curation is not None:
        from ..pipelines.load import load

        source, kb = load(pipeline, kb=kb, curation=str(curation)), None
    with ExitStack() as stack:
        folder = output
        on_shard: Callable[[Path], None] | None = None
        if output == STREAM:
            check_stream_format(to)
            on_shard = shard_writer(to, sys.stdout.buffer)
            shard_size = batch_size if shard_size is None else shard_size
            folder = stack.enter_context(TemporaryDirectory(prefix="spacy-angel-"))
        is_kept = output != STREAM and not is_address(output)
        with _interruptible(Path(folder) if is_kept else None):
            manifest = run(
                inputs,
                source,
                output=folder,
                kb=kb,
                input_format=format,
                output_format=to,
                mentions=mentions,  # type: ignore[arg-type]  # checked by annotate
                candidates=candidates,
                cache=cache,
                shard_size=SHARD_SIZE if shard_size is None else shard_size,
                batch_size=batch_size,
                workers=workers,
                device=device,
                ray=ray,
                strict=strict,
                options=reader_options(option),
                on_shard=on_shard,
            )
    counts = (f"{value:,} {name.replace('_', ' ')}" for name, value in manifest["counts"].items())
    typer.echo(f"{', '.join(counts)}: {output}", err=output == STREAM)
    _tell_missing(manifest)
    if not manifest["finished"]:
        if not any(source["error"] for source in manifest["inputs"]):
            message = "Something that was begun before is not done: start again with all inputs of"
            typer.echo(f"{message} {output}", err=True)
        raise typer.Exit(1)
    if not manifest["complete"]:
        raise typer.Exit(INCOMPLETE)


def _tell_missing(manifest: Mapping[str, Any]) -> None:
    """Say on standard error what is not in the output."""
    for source in manifest.get("inputs", ()):
        if source["error"]:
            typer.echo(f"Not read to its end: {source['error']}", err=True)
        elif faults := source["counts"].get("faults"):
            typer.echo(f"{source['name']}: {faults:,} faults, see the manifest", err=True)
    if failed := manifest["counts"].get("failed"):
        typer.echo(f"{failed:,} documents failed, see the manifest", err=True)


@contextmanager
def _interruptible(folder: Path | None) -> Iterator[None]:
    """End in order on Ctrl-C, the end of the terminal, and a request to end, and say what is kept
    and how to go on.

    folder (Path | None): the output; None where nothing is kept.
    """
    before = {}
    for name in ("SIGHUP", "SIGTERM"):
        number = getattr(signal, name, None)
        # `nohup` has it ignored.
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            before[number] = signal.signal(number, _interrupt)
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"Interrupted. {_kept(folder)}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _kept(folder: Path | None) -> str:
    if folder is None:
        return "Nothing is kept but what was written; with a folder as --output it would be."
    from ..annotation.parts import documents_kept

    whole, begun = documents_kept(folder)
    return (
        f"{whole:,} documents in whole shards and {begun:,} of shards that were begun are kept in "
        f"{folder}: start the same command again, and it goes on from there."
    )
