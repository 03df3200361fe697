"""`spacy-angel long-forms`: what a document set's short forms stand for."""

from pathlib import Path
from typing import Annotated

import typer

from .options import CorpusFormat, ReaderOptions, reader_options


def long_forms(
    files: Annotated[list[Path], typer.Argument(help="Documents, one file after the other.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="TSV to write.")],
    format: CorpusFormat = None,
    min_documents: Annotated[
        int, typer.Option(min=1, help="Documents that define a short form so, at least.")
    ] = 1,
    min_share: Annotated[
        float,
        typer.Option(min=0, max=1, help="Share of those that define it at all, at least."),
    ] = 0.8,
    detector: Annotated[
        str, typer.Option(help="Who finds what a document defines: scispacy or ab3p.")
    ] = "scispacy",
    option: ReaderOptions = None,
) -> None:
    """Collect the long forms that documents define, for `reading.long_forms` of the linker."""
    from itertools import chain

    from tqdm import tqdm

    from ..corpora.abbreviations import DETECTORS
    from ..corpora.long_forms import collect_long_forms, write_long_forms
    from ..corpora.registry import read_corpus

    if detector not in DETECTORS:
        raise typer.BadParameter(f"{detector} is none of {', '.join(DETECTORS)}.")
    options = reader_options(option)
    documents = chain.from_iterable(read_corpus(file, format, **options) for file in files)
    texts = (d.text for d in tqdm(documents, desc="Long forms", unit=" documents", disable=None))
    forms = collect_long_forms(texts, DETECTORS[detector]())
    n_written = write_long_forms(forms, output, min_documents=min_documents, min_share=min_share)
    left_out = len(forms) - n_written
    typer.echo(f"{n_written:,} short forms, {left_out:,} that are not certain left out: {output}")
