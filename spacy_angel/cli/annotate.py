"""`spacy-angel annotate`: large document sets."""

from typing import Annotated

import typer

from .options import (
    ReaderOptions,
    reader_options,
)


def annotate(
    inputs: Annotated[
        list[str], typer.Argument(help="Files or folders; with --ray also object stores.")
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="Folder, new or that of the run to continue.")
    ],
    pipeline: Annotated[
        str | None,
        typer.Option(help="Pipeline with angel_linker: folder or package; else the shipped one."),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(help="Format of the inputs; inferred from each if not given."),
    ] = None,
    to: Annotated[
        str, typer.Option(help="Output: jsonl, parquet, pubtator, bioc_json or docbin.")
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
    shard_size: Annotated[int, typer.Option(help="Documents of a shard.")] = 1000,
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
    """Annotate large document sets; started again, it goes on where it was interrupted."""
    from ..annotation.run import annotate as run

    manifest = run(
        inputs,
        pipeline,
        output=output,
        input_format=format,
        output_format=to,
        mentions=mentions,  # type: ignore[arg-type]  # checked by annotate
        candidates=candidates,
        cache=cache,
        shard_size=shard_size,
        batch_size=batch_size,
        workers=workers,
        device=device,
        ray=ray,
        strict=strict,
        options=reader_options(option),
    )
    counts = ", ".join(f"{value:,} {name}" for name, value in manifest["counts"].items())
    typer.echo(f"{counts}: {output}")
    broken = [source for source in manifest.get("inputs", ()) if source.get("error")]
    for source in manifest.get("inputs", ()):
        if source.get("error"):
            typer.echo(f"Not read to its end: {source['error']}", err=True)
        elif faults := source.get("counts", {}).get("faults"):
            typer.echo(f"{source['name']}: {faults:,} faults, see the manifest", err=True)
    if broken:
        raise typer.Exit(1)
