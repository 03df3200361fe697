"""`spacy-angel ground`: link the strings in a column of a table."""

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
        str | None, typer.Option(help="Column with texts that contain the strings.")
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(help="Column with entity types, or a type for all strings, e.g. DISEASE."),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Candidates to write for each string.")] = 1,
    wide: Annotated[
        bool, typer.Option("--wide", help="Write candidates as columns instead of rows.")
    ] = False,
    threshold: Annotated[
        float | None,
        typer.Option(help="Minimum probability of a link; that of the pipeline if not given."),
    ] = None,
    nil_share: Annotated[
        float, typer.Option(help="Expected share of strings without a concept.")
    ] = 0.1,
) -> None:
    """Link the strings in a column of a table, and add columns with identifiers and names.

    To review the links, enter `yes`, `no`, or the correct identifier in the column `accept`;
    `spacy-angel corrections` turns these into rules.
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
