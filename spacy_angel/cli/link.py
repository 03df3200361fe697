"""`spacy-angel link`: link a text and print a line for each mention."""

from pathlib import Path
from typing import Annotated

import typer

from ..errors import AngelError
from .options import Curation, OtherVocabulary, Pipeline, open_source


def link(
    text: Annotated[
        str | None, typer.Argument(help="Text to link, or - for standard input.")
    ] = None,
    file: Annotated[Path | None, typer.Option(help="Text file to link instead of TEXT.")] = None,
    pipeline: Pipeline = None,
    kb: OtherVocabulary = None,
    curation: Curation = None,
    negation: Annotated[
        bool,
        typer.Option("--negation", help="Also print whether mentions are negated, … (extra)."),
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Also explain each link.")] = False,
    html: Annotated[
        Path | None, typer.Option(help="Also write a page with the links and their explanations.")
    ] = None,
) -> None:
    """Link a text and print one line per mention."""
    from ..files.reading import decoded, pieces
    from ..linking.mentions.reading import find_spans
    from ..linking.showing.display import link_table, write_page
    from ..pipelines.components import components_before
    from ..pipelines.negation import context_note

    if (text is None) == (file is None):
        raise AngelError("Give one text: link TEXT, or link --file FILE.")
    if text == "-":
        text = decoded(typer.get_binary_stream("stdin").read(), Path("standard input"))
    elif file is not None:
        text = decoded(b"".join(piece for _, piece in pieces(file)), file)
    nlp, linker = open_source(pipeline, kb, curation)
    span_key = linker.settings.candidates.span_key
    if negation:
        nlp.add_pipe("angel_negation", config={"span_key": span_key})
    doc = nlp(text or "")
    spans = find_spans(doc, span_key)
    notes = [context_note(span) for span in spans] if negation else None
    typer.echo(link_table(doc, linker, notes))
    for span in spans if explain else ():
        typer.echo(f"\n{linker.explain(span)}")
    if not spans:
        names = ", ".join(components_before(nlp, linker)) or "none"
        typer.echo(f"No mentions found. Components before the linker: {names}.")
    if html is not None:
        write_page(doc, linker, html)
        typer.echo(f"Page with the links: {html}")
