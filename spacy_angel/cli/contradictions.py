"""`spacy-angel contradictions`: where a corpus contradicts itself."""

from pathlib import Path
from typing import Annotated

import typer

from .options import CorpusFormat, ReaderOptions, reader_options


def contradictions(
    files: Annotated[list[Path], typer.Argument(help="Corpus files, read as one corpus.")],
    format: CorpusFormat = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Strings to show.")] = 20,
    option: ReaderOptions = None,
) -> None:
    """Show strings that a corpus gives several identifiers, those within one document first."""
    from itertools import chain

    from ..corpora.contradictions import find_contradictions
    from ..corpora.registry import read_corpus

    options = reader_options(option)
    found = find_contradictions(
        chain.from_iterable(read_corpus(file, format, **options) for file in files)
    )
    within = sum(bool(one.in_one_document) for one in found)
    in_doubt = sum(one.in_doubt for one in found)
    typer.echo(
        f"{len(found):,} strings with several identifiers, {within:,} of them within one document; "
        f"{in_doubt:,} mentions have not the most frequent one of their string."
    )
    for one in found[:limit]:
        label = f" ({one.label})" if one.label else ""
        where = f", both in {', '.join(one.in_one_document[:3])}" if one.in_one_document else ""
        typer.echo(f"“{one.string}”{label}{where}")
        for reading in one.readings:
            documents = ", ".join(reading.documents)
            ids = reading.concept_ids or "no identifier"
            typer.echo(f"  {reading.mentions:>5,} × {ids}  {documents}")
