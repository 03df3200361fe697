"""`spacy-angel relink`: which links of an annotated set change with another vocabulary."""

from pathlib import Path
from typing import Annotated

import typer

from .options import located


def relink(
    annotated: Annotated[Path, typer.Argument(help="Output folder of `annotate`, or one file.")],
    kb: Annotated[Path, typer.Option(help="The new vocabulary.", callback=located)],
    changes: Annotated[Path, typer.Option(help="Table of the links that change.")] = Path(
        "changes.tsv"
    ),
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder that gets the set with its new links."),
    ] = None,
    old: Annotated[
        Path | None,
        typer.Option(help="Vocabulary that the set was linked to; else the pipeline's own."),
    ] = None,
    pipeline: Annotated[
        str | None, typer.Option(help="Pipeline that linked it; else the shipped one.")
    ] = None,
    texts: Annotated[
        Path | None,
        typer.Option(help="What was annotated, for a set in CSV or TSV, which have no texts."),
    ] = None,
    ask_all: Annotated[
        bool, typer.Option("--all", help="Ask the model about every document.")
    ] = False,
) -> None:
    """Tell which links of an annotated set change with another vocabulary.

    The model is asked only about documents with a mention whose link may be another one. Its
    concept is gone or has lost a name, or a similar name leads elsewhere than before.
    """
    from ..annotation.relink import relink as run
    from ..vocabulary.sources.installed import find_vocabulary

    before = None if old is None else find_vocabulary(old)
    result = run(
        annotated,
        kb,
        changes=changes,
        output=output,
        old=before,
        pipeline=pipeline,
        texts=texts,
        ask_all=ask_all,
    )
    counts = result.counts
    kinds = ", ".join(
        f"{counts[kind]:,} {kind}" for kind in ("moved", "linked", "unlinked", "merged")
    )
    typer.echo(
        f"{counts['mentions']:,} mentions in {counts['documents']:,} documents; "
        f"{counts['may_change']:,} might change, the model was asked about "
        f"{counts['asked_documents']:,} documents"
    )
    typer.echo(f"links that change: {kinds}: {result.changes}")
    if output is not None:
        typer.echo(f"The set with its new links: {output}")
