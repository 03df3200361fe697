"""`spacy-angel corrections`: corrected links as rules, and as pairs for training."""

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from ..errors import AngelError
from .options import (
    Author,
    CorpusFormat,
    OwnPipeline,
    ReaderOptions,
    ReplacedVocabulary,
    reader_options,
)


def corrections(
    pipeline: OwnPipeline,
    corpus: Annotated[Path, typer.Argument(help="Corpus with corrected links.")],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="File of rules; those that it has hold, and stay."),
    ],
    pairs: Annotated[
        Path | None,
        typer.Option(help="Also write the wrong links, for `train negative --data.corrections`."),
    ] = None,
    kb: ReplacedVocabulary = None,
    format: CorpusFormat = None,
    option: ReaderOptions = None,
    author: Author = "",
) -> None:
    """Make rules of links that a person has corrected, measured on documents that they were not
    made from; where they are no better there, nothing is written."""
    from ..corpora.registry import read_corpus
    from ..files.atomic import write_text
    from ..pipelines.corrections import correction_lines, learn_rules
    from ..pipelines.open import open_pipeline
    from ..vocabulary.changes.rule_file import added_rows

    nlp, linker = open_pipeline(pipeline, kb)
    if output.is_file():
        linker.settings = linker.settings.changed(curation=str(output))
    documents = list(read_corpus(corpus, format, **reader_options(option)))
    learned = learn_rules(nlp, linker, documents, author=author, date=date.today().isoformat())
    if pairs is not None:
        write_text(pairs, "".join(correction_lines(documents, learned.decided)))
    n = learned.n_mentions
    typer.echo(
        f"{n:,} mentions, {learned.n_right_before:,} linked right; on documents that the rules "
        f"were not made from {learned.n_right:,} with them."
    )
    if not learned.rules:
        typer.echo("No string is linked wrong more often than right: nothing is written.")
        return
    if learned.n_right < learned.n_right_before:
        raise AngelError(
            f"{output} was not written: the {len(learned.rules):,} rules do more harm than good on "
            "other documents."
        )
    write_text(output, added_rows(output, learned.rules))
    typer.echo(f"{len(learned.rules):,} rules: {output}")
