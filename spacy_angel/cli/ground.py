"""`spacy-angel ground`: a column of a table, with identifiers beside it."""

from pathlib import Path
from typing import Annotated

import typer

from .options import Curation, OtherVocabulary, Pipeline, open_source


def ground(
    table: Annotated[Path, typer.Argument(help="CSV, TSV, Excel or Parquet, with column names.")],
    column: Annotated[str, typer.Option(help="Column with the strings to link.")],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Table to write, or NAME.sssom.tsv for mappings."),
    ],
    pipeline: Pipeline = None,
    kb: OtherVocabulary = None,
    curation: Curation = None,
    context: Annotated[
        str | None, typer.Option(help="Column with a text in which the string stands.")
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(help="Column with entity types, or a type for all strings, e.g. DISEASE."),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Candidates to write for each string.")] = 1,
    wide: Annotated[
        bool, typer.Option("--wide", help="Candidates as columns; else each is a row.")
    ] = False,
    threshold: Annotated[
        float | None, typer.Option(help="Least probability of a link; else the pipeline's.")
    ] = None,
    nil_share: Annotated[
        float, typer.Option(help="Expected share of strings without a concept in the vocabulary.")
    ] = 0.1,
) -> None:
    """Link the strings in a column of a table, and write identifiers and names beside them.

    In the column `accept`, a curator writes `yes`, `no`, or the right identifier; then
    `spacy-angel corrections` makes rules of it.
    """
    from ..pipelines.ground import Grounder
    from ..pipelines.ground_table import ground_table

    nlp, linker = open_source(pipeline, kb, curation)
    grounder = Grounder(nlp, linker, k=top, threshold=threshold, nil_share=nil_share)
    counts = ground_table(
        *(table, output, grounder, column), context=context, label=label, top=top, wide=wide
    )
    typer.echo(
        f"{counts['linked']:,} strings linked, {counts['not linked']:,} without a concept, "
        f"{counts['blank']:,} blank: {output}"
    )
