"""`spacy-angel corpus`: convert corpora to the training format, or to that of another tool."""

from pathlib import Path
from typing import Annotated

import typer

from . import options

ToOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--to-option",
        metavar="NAME=VALUE",
        help="Option of the output format, e.g. `results=annotations`; may be repeated.",
    ),
]


def corpus(
    files: Annotated[list[Path], typer.Argument(help="Corpus files.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File or folder to write.")],
    kb: Annotated[
        Path | None,
        typer.Option(help="Vocabulary, for known identifiers and displayed names."),
    ] = None,
    format: options.CorpusFormat = None,
    preprocessing: options.Preset = None,
    abbreviations: options.Abbreviations = None,
    option: options.ReaderOptions = None,
    to: Annotated[
        str, typer.Option(help="Format to write, e.g. `pubtator`, `label_studio` or `brat`.")
    ] = "bioc_json",
    to_option: ToOptions = None,
) -> None:
    """Convert corpora to BioC JSON, or with --to to the format of another tool."""
    from ..corpora.convert import prepare_corpus
    from ..vocabulary.sources.installed import load_vocabulary

    steps = options.preprocessing_steps(preprocessing, abbreviations)
    known = None if kb is None else load_vocabulary(kb)
    reading, writing = options.reader_options(option), options.reader_options(to_option)
    report = prepare_corpus(files, output, format, to, steps, known, reading, writing)
    for key, value in sorted(report.counts.items()):
        typer.echo(f"  {key:<24} {value:,}")
    documents, mentions = (report.counts[f"{what}_written"] for what in ("documents", "mentions"))
    typer.echo(f"{documents:,} documents, {mentions:,} mentions: {output}")
    if not documents:
        typer.echo("The files contain no documents.", err=True)
        raise typer.Exit(1)
