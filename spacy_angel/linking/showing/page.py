"""The links of a document: a table for the terminal, a page for the browser."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ...files.atomic import write_text
from ..mentions.reading import find_spans
from ..ranking.concepts import NIL
from .display import COLORS, KbUrls, concept_url

if TYPE_CHECKING:
    from spacy.tokens import Doc

    from ..linker import AngelLinker
    from .explanation import LinkExplanation

_HEADER = ("mention", "label", "identifier", "concept", "probability", "log-prob.")
_STYLE = """:root { color-scheme: light dark;
  --page: #ffffff; --ink: #1a1a1a; --soft: #555555; --line: #dddddd; }
@media (prefers-color-scheme: dark) { :root {
  --page: #16181a; --ink: #f4f4f4; --soft: #b5b5b5; --line: #44484c; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page);
  max-width: 64rem; margin: 2rem auto; padding: 0 1.5rem; }
h1 { font-size: 1.3rem; }
a { color: inherit; }
.text { border: 1px solid var(--line); border-radius: 8px; padding: 1rem 1.5rem; }
.text mark { color: #1a1a1a; }
/* Direction marks in a text do not affect the rest. */
.text, .text mark, td { unicode-bidi: isolate; }
.table { overflow-x: auto; }
table { border-collapse: collapse; margin-top: 1.5rem; width: 100%; }
th, td { text-align: left; padding: .35rem .8rem .35rem 0; border-bottom: 1px solid var(--line); }
tr.mention > td { border-bottom: 0; padding-bottom: 0; }
tr.why { color: var(--soft); font-size: .9rem; }
pre { overflow-x: auto; }
"""
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>spacy-angel: links</title>
<style>
{style}</style>
</head>
<body>
{links}
</body>
</html>
"""
_LINKS = """<{heading}>{n_linked} of {n_mentions} mentions linked</{heading}>
<div class="text">{text}</div>
<div class="table" role="region" aria-label="Mentions" tabindex="0"><table>
<tr>{header}</tr>
{rows}
</table></div>"""


def link_rows(doc: "Doc", linker: "AngelLinker") -> list[tuple[str, ...]]:
    """One row per mention.

    doc (Doc): processed by the linker. linker (AngelLinker): the one that linked it.
    RETURNS (list[tuple[str, ...]]): mention, label, identifier, canonical name of the concept,
        its probability, log-probability of its most probable name in nats; empty where unknown.
    """
    outputs = linker.settings.outputs
    rows: list[tuple[str, ...]] = []
    for span in find_spans(doc, linker.settings.candidates.span_key):
        kb_id = span._.get(outputs.kb_id)
        concept = linker.kb.get(kb_id)
        probability = dict(span._.get(outputs.kb_ents)).get(kb_id)
        names = [c for c in span._.get(outputs.candidates) if c["concept_id"] == kb_id]
        best = max(names, key=lambda c: c["probability"], default=None)
        log_prob = None if best is None else best["log_prob"]
        rows.append(
            (
                " ".join(span.text.split()),
                span.label_,
                kb_id,
                "" if concept is None else concept.canonical_name,
                "" if probability is None else f"{probability:.2f}",
                "" if log_prob is None else f"{log_prob:.2f}",
            )
        )
    return rows


def link_table(doc: "Doc", linker: "AngelLinker", notes: Sequence[str] | None = None) -> str:
    """The rows as text.

    doc (Doc), linker (AngelLinker): see `link_rows`.
    notes (Sequence[str] | None): a further column, e.g. `negated`, one per row.
    RETURNS (str): a line per row.
    """
    from wasabi import table

    rows = link_rows(doc, linker)
    header: tuple[str, ...] = _HEADER
    if notes is not None:
        rows = [(*row, note) for row, note in zip(rows, notes, strict=True)]
        header = (*header, "context")
    aligns: list[Literal["l", "r"]] = ["l", "l", "l", "l", "r", "r", "l"]
    return table(rows, header=header, divider=True, aligns=aligns[: len(header)]).strip("\n")


def write_page(doc: "Doc", linker: "AngelLinker", path: Path) -> None:
    """Write a self-contained page, see `links_html`.

    doc (Doc), linker (AngelLinker): see `link_rows`.
    path (Path): e.g. `demo.html`.
    """
    write_text(path, _PAGE.format(style=page_style(), links=links_html(doc, linker)))


def page_style() -> str:
    """RETURNS (str): the style sheet for `links_html`, light and dark."""
    return _STYLE


def links_html(doc: "Doc", linker: "AngelLinker", heading: str = "h1") -> str:
    """The text with its links, by displaCy, and a table of them, each with its explanation.

    doc (Doc), linker (AngelLinker): see `link_rows`.
    heading (str): element of the heading, `h2` where the page has a title of its own.
    RETURNS (str): HTML, part of a page with the style of `page_style`.
    """
    rows = link_rows(doc, linker)
    return _LINKS.format(
        heading=heading,
        n_linked=sum(row[2] not in ("", NIL) for row in rows),
        n_mentions=len(rows),
        text=_text_html(doc, linker),
        header="".join(f'<th scope="col">{name}</th>' for name in _HEADER),
        rows="\n".join(map(_row_html, rows, linker.explain_document(doc))),
    )


def _text_html(doc: "Doc", linker: "AngelLinker") -> str:
    """displaCy's `ent` style, or its `span` style for a span group, whose spans may overlap."""
    from spacy import displacy

    key, urls = linker.settings.candidates.span_key, KbUrls()
    options: dict[str, Any] = {"colors": COLORS, "spans_key": key}
    if key is None:
        style, field, parsed = "ent", "ents", displacy.parse_ents(doc, options)
    else:
        style, field, parsed = "span", "spans", displacy.parse_spans(doc, options)
    for shown, span in zip(parsed[field], find_spans(doc, key), strict=True):
        kb_id = span._.get(linker.settings.outputs.kb_id)
        shown["label"] = escape(span.label_)
        shown["kb_id"] = "" if kb_id == NIL else escape(kb_id)
        shown["kb_url"] = urls.format(kb_id)
    # jupyter=False: in a notebook displaCy would otherwise show the HTML and return nothing
    return displacy.render(parsed, style=style, manual=True, jupyter=False, options=options)


def _row_html(row: tuple[str, ...], explained: "LinkExplanation") -> str:
    cells = [f"<td>{escape(text)}</td>" for text in row]
    if url := concept_url(row[2]):
        cells[2] = f'<td><a href="{escape(url)}">{escape(row[2])}</a></td>'
    return (
        f'<tr class="mention">{"".join(cells)}</tr>\n'
        f'<tr class="why"><td colspan="{len(cells)}"><details><summary>{escape(explained.why)}'
        f"</summary><pre>{escape(str(explained))}</pre></details></td></tr>"
    )
