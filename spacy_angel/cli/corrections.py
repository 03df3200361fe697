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
        typer.Option("--output", "-o", help="File of rules; existing rules are applied and kept."),
    ],
    kb: options.OtherVocabulary = None,
    format: options.CorpusFormat = None,
    option: options.ReaderOptions = None,
    author: options.Author = "",
) -> None:
    """Derive curation rules from corrected links and evaluate them by cross-validation.

    If the rules lower the number of correct links, nothing is written.
    """
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
        f"{len(before):,} mentions, {sum(before):,} linked correctly; {sum(after):,} with rules "
        "from other documents."
    )
    if not learned:
        typer.echo("No string is linked wrongly more often than correctly. Nothing is written.")
    elif sum(after) < sum(before):
        raise AngelError(f"{output} was not written: fewer links are correct with the rules.")
    else:
        today = date.today().isoformat()
        rules = [replace(rule, author=author, date=today) for rule in learned]
        append_rules(output, rules)
        typer.echo(f"{len(rules):,} rules: {output}")
