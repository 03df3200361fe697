"""`spacy-angel corrections`: make rules from corrected links."""

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from ..errors import AngelError
from . import options


def corrections(
    pipeline: options.OwnPipeline,
    corpus: Annotated[Path, typer.Argument(help="Corpus with corrected links.")],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="File of rules; those in it apply, and are kept."),
    ],
    kb: options.OtherVocabulary = None,
    format: options.CorpusFormat = None,
    option: options.ReaderOptions = None,
    author: options.Author = "",
) -> None:
    """Make rules from links that a person has corrected, and measure them by cross-validation. If
    fewer links are right with them, nothing is written."""
    from ..corpora.registry import read_corpus
    from ..pipelines.corrections import learn_rules
    from ..vocabulary.changes.rules import append_rules

    nlp, linker = options.open_source(pipeline, kb, output if output.is_file() else None)
    documents = list(read_corpus(corpus, format, **options.reader_options(option)))
    learned, linked, linked_after = learn_rules(nlp, linker, documents)
    before, after = (
        [one.is_right for row in rows for one in row] for rows in (linked, linked_after)
    )
    typer.echo(
        f"{len(before):,} mentions, {sum(before):,} linked right; {sum(after):,} with rules made "
        "from other documents."
    )
    if not learned:
        typer.echo("No string is linked wrong more often than right. Nothing is written.")
    elif sum(after) < sum(before):
        raise AngelError(f"{output} was not written: the rules do more harm than good.")
    else:
        today = date.today().isoformat()
        rules = [replace(rule, author=author, date=today) for rule in learned]
        append_rules(output, rules)
        typer.echo(f"{len(rules):,} rules: {output}")
