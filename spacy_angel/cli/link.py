"""`spacy-angel link`: a text, and a line for each mention."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import AngelError
from .options import ModelPreset, ModelTokenizer, OtherVocabulary, Pipeline


def link(
    text: Annotated[
        str | None, typer.Argument(help="Text to link; - reads standard input.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(help="Text file to link in place of TEXT."),
    ] = None,
    pipeline: Pipeline = None,
    model: Annotated[
        str | None,
        typer.Option(help="Without --pipeline: another model, a folder or hub name."),
    ] = None,
    tokenizer: ModelTokenizer = None,
    preset: ModelPreset = None,
    kb: OtherVocabulary = None,
    negation: Annotated[
        bool,
        typer.Option(
            "--negation",
            help="Also say which mentions are negated, past or of the family (extra `negation`).",
        ),
    ] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Also say of each mention why: what was read, looked for and found, what each "
            "feature adds, which threshold or rule decided, what the next concept lacks.",
        ),
    ] = False,
    curation: Annotated[
        str | None,
        typer.Option(help="File of rules, as the linker's setting `curation` reads it."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(help="Also write a page with the links and their explanations."),
    ] = None,
) -> None:
    """Link a text and print a line for each mention."""
    from ..about import SHIPPED_NAMES
    from ..files.reading import decoded, pieces
    from ..linking.mentions.reading import find_spans
    from ..linking.showing.page import link_table, write_page
    from ..pipelines.context import add_context, flags_of
    from ..pipelines.open import open_pipeline
    from ..pipelines.shipped import load

    if (text is None) == (file is None):
        raise AngelError("Give one text: link TEXT, or link --file FILE.")
    is_shipped = pipeline in (None, *SHIPPED_NAMES)
    if pipeline is not None and (any((model, tokenizer, preset)) or (kb and not is_shipped)):
        raise AngelError(
            "--pipeline cannot be combined with --model, --tokenizer, --preset or --kb."
        )
    if text == "-":
        text = decoded(typer.get_binary_stream("stdin").read(), Path("standard input"))
    elif file is not None:
        text = decoded(b"".join(piece for _, piece in pieces(file)), file)
    source: Any = pipeline
    if is_shipped:
        source = load(model=model or pipeline, kb=kb, tokenizer=tokenizer, preset=preset)
    nlp, linker = open_pipeline(source)
    if curation is not None:
        linker.settings = linker.settings.changed(curation=curation)
    span_key = linker.settings.span_key
    if negation:
        add_context(nlp, span_key)
    doc = nlp(text or "")
    spans = find_spans(doc, span_key)
    typer.echo(link_table(doc, linker, [flags_of(s) for s in spans] if negation else None))
    for span in spans if explain else ():
        typer.echo(f"\n{linker.explain(span)}")
    if not spans:
        typer.echo(_why_none(nlp, linker, is_shipped=pipeline is None))
    if html is not None:
        write_page(doc, linker, html)
        typer.echo(f"Page with the links: {html}")


def _why_none(nlp: Any, linker: Any, *, is_shipped: bool) -> str:
    """What is told where nothing was found to be linked."""
    from ..pipelines.components import components_before

    if is_shipped:
        return (
            "No mentions found. The recogniser that ships knows diseases and chemicals; names of "
            "your own are found by angel_matcher (docs/how_to/mentions.md)."
        )
    before = components_before(nlp, linker)
    writes = "doc.ents" if linker.span_key is None else "doc.spans"
    if any(writes in nlp.get_pipe_meta(name).assigns for name in before):
        return "No mentions found."
    where = "entities" if linker.span_key is None else f"the span group {linker.span_key!r}"
    return (
        f"No mentions found: no component of this pipeline before the linker writes {where}; it "
        f"has {', '.join(before) or 'none'}. Add a recogniser, or give documents that have their "
        "mentions."
    )
