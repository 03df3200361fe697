"""`spacy-angel annotate`: large document sets."""

import signal
from typing import Annotated, Any

import typer

from ..errors import AngelError
from . import options

# Exit codes in addition to 0 and 1. The code for an interruption follows the shell's convention.
INTERRUPTED = 130
INCOMPLETE = 3


def annotate(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(help="Files, folders, or fsspec addresses."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="Folder or fsspec address to write to."),
    ] = None,
    pipeline: options.Pipeline = None,
    kb: options.OtherVocabulary = None,
    curation: options.Curation = None,
    format: Annotated[
        str | None, typer.Option(help="Format of the inputs; inferred for each if not given.")
    ] = None,
    to: Annotated[str, typer.Option(help="Output format: jsonl, parquet, csv, or tsv.")] = "jsonl",
    mentions: Annotated[
        str,
        typer.Option(help="Which mentions to link: of the `input`, of the `pipeline`, or `auto`."),
    ] = "auto",
    candidates: Annotated[
        bool, typer.Option("--candidates", help="Also write all candidates.")
    ] = False,
    negation: Annotated[
        bool,
        typer.Option("--negation", help="Also write which mentions are negated, … (extra)."),
    ] = False,
    shard_size: Annotated[int, typer.Option(help="Documents per shard.")] = 1000,
    batch_size: Annotated[int, typer.Option(help="Documents per batch of the pipeline.")] = 64,
    workers: Annotated[int, typer.Option(help="Processes, or processes per GPU.")] = 1,
    device: Annotated[
        str | None,
        typer.Option(help="cpu, cuda:1, or cuda for all GPUs; that of the pipeline if not given."),
    ] = None,
    ray: Annotated[str | None, typer.Option(help="Address of a Ray cluster, or `local`.")] = None,
    option: options.ReaderOptions = None,
    verify: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Check the shards of a finished output instead."),
    ] = None,
) -> None:
    """Annotate large document sets. To continue an interrupted run, run the same command again.

    Exits with 0 if all documents were annotated, 3 if some documents or mentions were skipped, 1
    if an error occurred, an input could not be read to the end, or, with --verify, a shard has
    changed, and 130 if the run was interrupted.
    """
    if verify is not None:
        _verify(verify)
        return
    if not inputs or output is None:
        raise AngelError("annotate needs at least one input, and a folder: --output FOLDER.")
    from ..annotation.run import annotate as run

    source: Any = pipeline
    if kb is not None or curation is not None:
        source, _ = options.open_source(pipeline, kb, curation)
    for name in ("SIGHUP", "SIGTERM"):
        # `nohup` ignores SIGHUP.
        if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is signal.SIG_DFL:
            signal.signal(getattr(signal, name), signal.default_int_handler)
    try:
        manifest = run(
            inputs,
            source,
            output=output,
            input_format=format,
            output_format=to,
            mentions=mentions,  # type: ignore[arg-type]  # checked by annotate
            candidates=candidates,
            negation=negation,
            shard_size=shard_size,
            batch_size=batch_size,
            workers=workers,
            device=device,
            ray=ray,
            options=options.reader_options(option),
        )
    except KeyboardInterrupt:
        typer.echo("Interrupted. Run the same command again to continue.", err=True)
        raise typer.Exit(INTERRUPTED) from None
    counts = (f"{value:,} {name.replace('_', ' ')}" for name, value in manifest["counts"].items())
    typer.echo(f"{', '.join(counts)}: {output}")
    for entry in manifest["inputs"]:
        if entry["error"]:
            typer.echo(f"Not read to the end: {entry['error']}", err=True)
        elif faults := entry["counts"].get("faults"):
            shown = f"{faults:,} faults, see the manifest, e.g. {entry['notes'][0]}"
            typer.echo(f"{entry['name']}: {shown}", err=True)
    if not manifest["finished"]:
        typer.echo("Not finished: run the same command again, with all inputs.", err=True)
        raise typer.Exit(1)
    if not manifest["complete"]:
        raise typer.Exit(INCOMPLETE)


def _verify(folder: str) -> None:
    from ..annotation.folder import verify

    n_shards, changed = verify(folder)
    for name in changed:
        typer.echo(f"{folder}/{name} has changed, is missing, or is not in the manifest.", err=True)
    if changed:
        typer.echo("Delete these files and run `annotate` again with all inputs.", err=True)
        raise typer.Exit(1)
    typer.echo(f"{n_shards:,} shards are unchanged: {folder}")
