"""`spacy-angel corpus`: corpora as training, or another tool, reads them."""

from pathlib import Path
from typing import Annotated

import typer

from ..errors import AngelError
from .options import (
    Abbreviations,
    CorpusFormat,
    Preset,
    ReaderOptions,
    preprocessing_steps,
    reader_options,
)


def corpus(
    files: Annotated[list[Path], typer.Argument(help="Corpus files, one after the other.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File or folder to write.")],
    kb: Annotated[
        Path | None,
        typer.Option(
            help="Vocabulary, a folder or file, that says which mentions are known, and the names "
            "that an annotation tool shows."
        ),
    ] = None,
    format: CorpusFormat = None,
    preprocessing: Preset = None,
    abbreviations: Abbreviations = None,
    option: ReaderOptions = None,
    to: Annotated[
        str,
        typer.Option(
            help="Format to write: `bioc_json`, as training reads it, or e.g. `pubtator`, "
            "`label_studio`, `brat`, `uima_json`."
        ),
    ] = "bioc_json",
    to_option: Annotated[
        list[str] | None,
        typer.Option(
            "--to-option",
            metavar="NAME=VALUE",
            help="Option of the format's writer, e.g. `results=annotations` for Label Studio; may "
            "be repeated.",
        ),
    ] = None,
) -> None:
    """Convert corpora: to what training reads, or with --to to what an annotation tool reads."""
    from ..corpora.convert import prepare_corpus
    from ..linking.settings.loaders import load_vocabulary

    steps = preprocessing_steps(preprocessing, abbreviations)
    if kb is None and steps is not None and steps.unknown == "drop":
        raise AngelError(f"The preprocessing {preprocessing!r} needs the vocabulary: --kb.")
    known = None if kb is None else load_vocabulary(kb)

    def name_of(concept_id: str) -> str:
        concept = None if known is None else known.get(concept_id)
        return "" if concept is None else concept.canonical_name

    report = prepare_corpus(
        files,
        output,
        format=format,
        to=to,
        steps=steps,
        known=known,
        options=reader_options(option),
        to_options=reader_options(to_option),
        names=None if known is None else name_of,
    )
    for key, value in sorted(report.counts.items()):
        typer.echo(f"  {key:<24} {value:,}")
    typer.echo(
        f"{report.counts['documents_written']:,} documents, "
        f"{report.counts['mentions_written']:,} mentions: {output}"
    )
