"""`spacy-angel corrections`: make rules, and pairs for training, from corrected links."""

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from ..errors import AngelError
from .options import (
    Author,
    CorpusFormat,
    OtherVocabulary,
    OwnPipeline,
    ReaderOptions,
    open_source,
    reader_options,
)


def corrections(
    pipeline: OwnPipeline,
    corpus: Annotated[Path, typer.Argument(help="Corpus with corrected links.")],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="File of rules; those in it apply, and are kept."),
    ],
    pairs: Annotated[
        Path | None,
        typer.Option(help="Also write the wrong links, for `train negative --data.corrections`."),
    ] = None,
    kb: OtherVocabulary = None,
    format: CorpusFormat = None,
    option: ReaderOptions = None,
    author: Author = "",
) -> None:
    """Make rules from links that a person has corrected, and measure them by cross-validation. If
    fewer links are right with them, nothing is written."""
    from ..corpora.registry import read_corpus
    from ..files.atomic import write_text
    from ..pipelines.corrections import correction_lines, learn_rules
    from ..vocabulary.changes.rule_file import added_rows

    nlp, linker = open_source(pipeline, kb, output if output.is_file() else None)
    documents = list(read_corpus(corpus, format, **reader_options(option)))
    learned = learn_rules(nlp, linker, documents, author=author, date=date.today().isoformat())
    if pairs is not None:
        write_text(pairs, "".join(correction_lines(documents, learned.decided)))
    n = learned.n_mentions
    typer.echo(
        f"{n:,} mentions, {learned.n_right_before:,} linked right; {learned.n_right:,} with rules "
        "made from other documents."
    )
    if not learned.rules:
        typer.echo("No string is linked wrong more often than right. Nothing is written.")
        return
    if learned.n_right < learned.n_right_before:
        raise AngelError(
            f"{output} was not written: the {len(learned.rules):,} rules do more harm than good on "
            "other documents."
        )
    write_text(output, added_rows(output, learned.rules))
    typer.echo(f"{len(learned.rules):,} rules: {output}")
