"""`spacy-angel annotate`: large document sets."""

import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from .options import OtherVocabulary, Pipeline, ReaderOptions, reader_options

# Exit codes beside 0 and 1; that of an interruption is the shell's own.
INTERRUPTED = 130
INCOMPLETE = 3


def _verify(folder: Path | None) -> None:
    """Compare the shards of an output with their records, and exit."""
    if folder is None:
        return
    from ..annotation.folder import verify

    changed = verify(folder)
    for name in changed:
        typer.echo(f"Missing or changed: {name}", err=True)
    if not changed:
        typer.echo(f"All shards are unchanged: {folder}")
    raise typer.Exit(bool(changed))


def annotate(
    inputs: Annotated[
        list[str],
        typer.Argument(help="Files or folders, `-` for standard input; object stores with --ray."),
    ],
    output: Annotated[
        str,
        typer.Option(
            *("--output", "-o"),
            help="A new folder, or that of the run to continue; `-` for standard output.",
        ),
    ],
    pipeline: Pipeline = None,
    kb: OtherVocabulary = None,
    curation: Annotated[
        Path | None,
        typer.Option(help="File of rules, as the linker's setting `curation` reads it."),
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="Format of the inputs; by default inferred from each.")
    ] = None,
    to: Annotated[
        str,
        typer.Option(help="Output: jsonl, parquet, csv, tsv, pubtator, bioc_json or docbin."),
    ] = "jsonl",
    mentions: Annotated[
        str,
        typer.Option(
            help="Link the entities of the `input`, find them with the `pipeline`, or `auto`: "
            "take those of the input where a document has any."
        ),
    ] = "auto",
    candidates: Annotated[
        bool, typer.Option("--candidates", help="Write all candidates of each mention.")
    ] = False,
    shard_size: Annotated[
        int | None,
        typer.Option(help="Documents per shard: 1,000; on standard output the batch size."),
    ] = None,
    batch_size: Annotated[
        int, typer.Option(help="Documents that go through the pipeline together.")
    ] = 64,
    workers: Annotated[
        int, typer.Option(help="Processes; with `--device cuda`, for each GPU.")
    ] = 1,
    device: Annotated[
        str | None,
        typer.Option(help="cpu, cuda:1, or cuda for every GPU; by default the pipeline's."),
    ] = None,
    ray: Annotated[str | None, typer.Option(help="Address of a Ray cluster, or `local`.")] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at a fault instead of recording it.")
    ] = False,
    option: ReaderOptions = None,
    verify: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            callback=_verify,
            is_eager=True,
            help="Compare the shards of an output with the digests in their records, and exit.",
        ),
    ] = None,
) -> None:
    """Annotate large document sets. Run again, it continues where it was interrupted.

    Exits with 0 if every document is in the output, and with 3 if the run is finished but documents
    or mentions are missing. 1 is an error or an input that could not be read to its end, and 130 an
    interruption.
    """
    from ..annotation.outputs import shard_writer
    from ..annotation.run import annotate as run
    from ..annotation.run import is_address

    source: Any = pipeline
    if curation is not None:
        from ..pipelines.shipped import load

        source, kb = load(pipeline, kb=kb, curation=str(curation)), None
    is_stream = output == "-"
    with ExitStack() as stack:
        folder, on_shard = output, None
        if is_stream:
            on_shard = shard_writer(to, sys.stdout.buffer)
            folder = stack.enter_context(TemporaryDirectory(prefix="spacy-angel-"))
        is_kept = not is_stream and not is_address(output)
        stack.enter_context(_interruptible(output if is_kept else None))
        manifest = run(
            inputs,
            source,
            output=folder,
            kb=kb,
            input_format=format,
            output_format=to,
            mentions=mentions,  # type: ignore[arg-type]  # checked by annotate
            candidates=candidates,
            shard_size=shard_size or (batch_size if is_stream else 1000),
            batch_size=batch_size,
            workers=workers,
            device=device,
            ray=ray,
            strict=strict,
            options=reader_options(option),
            on_shard=on_shard,
        )
    counts = (f"{value:,} {name.replace('_', ' ')}" for name, value in manifest["counts"].items())
    typer.echo(f"{', '.join(counts)}: {output}", err=is_stream)
    _print_missing(manifest)
    if not manifest["finished"]:
        raise typer.Exit(1)
    if not manifest["complete"]:
        raise typer.Exit(INCOMPLETE)


def _print_missing(manifest: Mapping[str, Any]) -> None:
    """Print to standard error what is not in the output."""
    errors = 0
    for source in manifest.get("inputs", ()):
        if source["error"]:
            errors += 1
            typer.echo(f"Not read to its end: {source['error']}", err=True)
        elif faults := source["counts"].get("faults"):
            typer.echo(f"{source['name']}: {faults:,} faults, see the manifest", err=True)
    if failed := manifest["counts"].get("failed"):
        typer.echo(f"{failed:,} documents failed, see the manifest", err=True)
    if not manifest["finished"] and not errors:
        typer.echo("Inputs of an earlier run are unfinished: run it with all inputs.", err=True)


@contextmanager
def _interruptible(folder: str | None) -> Iterator[None]:
    """Exit in order on Ctrl-C, SIGTERM and the end of the terminal.

    folder (str | None): the output; None where nothing is kept.
    """
    before = {}
    for name in ("SIGHUP", "SIGTERM"):
        number = getattr(signal, name, None)
        # `nohup` ignores SIGHUP.
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            before[number] = signal.signal(number, _interrupt)
    try:
        yield
    except KeyboardInterrupt:
        kept = f"Finished shards are kept in {folder}: run the same command again to continue."
        typer.echo(f"Interrupted. {kept if folder else 'Nothing is kept.'}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
