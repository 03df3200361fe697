"""The links of a document for a person: a table in the terminal, a page in the browser."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ...files.atomic import replacing
from ..mentions.reading import find_spans
from ..ranking.concepts import NIL
from .cause import Explanation, FoundConcept, explain_link
from .display import COLORS, DARK_COLORS, NO_LINK, concept_url, render_links
from .picture import explanation_svg

if TYPE_CHECKING:
    from spacy.tokens import Doc

    from ..linker import AngelLinker

_HEADER = ("mention", "label", "identifier", "concept", "probability", "log-prob.")
_OTHER = "other"
OTHER_COLORS = ("#e0e0e0", "#3c3c3c")
"""Of boxes of other types, on a light and on a dark page."""
PAGE_COLORS = (("#ffffff", "#1a1a1a", "#555555"), ("#16181a", "#f4f4f4", "#b5b5b5"))
"""Of the page itself, of the text, and of what is less important; likewise."""
# The mention, and below it what it is linked to; in one piece.
_ENTITY = (
    '<mark title="{why}" style="background: {bg}"><span>{text}</span>'
    '<span class="link"><b>{label}</b>{link}{note}</span></mark>'
)
_STYLE = """:root {{ color-scheme: light dark; --line: #dddddd; {light} }}
@media (prefers-color-scheme: dark) {{ :root {{ --line: #44484c; {dark} }} }}
body {{ font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page);
  max-width: 64rem; margin: 2rem auto; padding: 0 1.5rem; }}
h1 {{ font-size: 1.3rem; }}
a {{ color: inherit; }}
.text {{ border: 1px solid var(--line); border-radius: 8px; padding: 1rem 1.5rem; }}
/* its first line stands in that of the text */
.text mark {{ display: inline-flex; flex-direction: column; color: var(--ink); line-height: 1.3;
  border-radius: 6px; padding: .1rem .45rem .2rem; margin: .1rem; }}
.text .link {{ font-size: .72rem; }}
.text .entities {{ line-height: 2 !important; }}
/* marks of direction in a text turn nothing beside it */
.text, .text mark span, td {{ unicode-bidi: isolate; }}
.table {{ overflow-x: auto; }}
table {{ border-collapse: collapse; margin-top: 1.5rem; width: 100%; }}
th, td {{ text-align: left; padding: .35rem .8rem .35rem 0; border-bottom: 1px solid var(--line); }}
td.number {{ font-variant-numeric: tabular-nums; }}
tr.mention > td {{ border-bottom: 0; padding-bottom: 0; }}
tr.why {{ color: var(--soft); font-size: .9rem; }}
tr.why table {{ margin: .3rem 0 .5rem 1rem; }}
@media (max-width: 40rem) {{
  body {{ margin: 1rem auto; padding: 0 .8rem; }}
  .text {{ padding: .6rem .8rem; }}
  /* read without moving the table to the side */
  tr.why summary {{ max-width: calc(100vw - 1.6rem); }}
  table {{ font-size: .85rem; }}
}}
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
    """One row a mention.

    doc (Doc): went through the linker. linker (AngelLinker): the one that linked it.
    RETURNS (list[tuple[str, ...]]): mention, label, identifier, canonical name of the concept,
        its probability, log-probability of its most probable name in nats; the last three are
        empty where the mention links to NIL, the last two where it had its identifier before.
    """
    rows: list[tuple[str, ...]] = []
    for span in find_spans(doc, linker.settings.span_key):
        concept_id = span._.get(linker.settings.outputs.kb_id)
        row = (" ".join(span.text.split()), span.label_, concept_id)
        concepts = {c.concept_id: c for c in explain_link(span, linker).concepts}
        if (concept := concepts.get(concept_id)) is not None:
            figures = (f"{concept.probability:.2f}", _shown(concept.names[0][1]))
            rows.append((*row, concept.canonical_name, *figures))
        elif concept_id in linker.kb:  # it had its identifier before
            rows.append((*row, linker.kb[concept_id].canonical_name, "", ""))
        else:
            rows.append((*row, "", "", ""))
    return rows


def link_table(
    doc: "Doc", linker: "AngelLinker", flags: Sequence[tuple[str, ...]] | None = None
) -> str:
    """The rows as text.

    doc (Doc), linker (AngelLinker): see `link_rows`.
    flags (Sequence[tuple[str, ...]] | None): for each row what else is known of the mention, e.g.
        `("negated",)`; a column more.
    RETURNS (str): a line each.
    """
    from wasabi import table

    rows = link_rows(doc, linker)
    header: tuple[str, ...] = _HEADER
    if flags is not None:
        rows = [(*row, ", ".join(of_row)) for row, of_row in zip(rows, flags, strict=True)]
        header = (*header, "context")
    # Only the two figures stand on the right.
    aligns: list[Literal["l", "r"]] = ["l", "l", "l", "l", "r", "r", "l"]
    return table(rows, header=header, divider=True, aligns=aligns[: len(header)]).strip("\n")


def write_page(
    doc: "Doc", linker: "AngelLinker", path: Path, *, with_pictures: bool = False
) -> None:
    """Write a page that needs nothing else: see `links_html`.

    doc (Doc), linker (AngelLinker): see `link_rows`.
    path (Path): e.g. `demo.html`.
    with_pictures (bool): also draw what each feature adds, for which each mention is linked once
        more.
    """
    links = links_html(doc, linker, with_pictures=with_pictures)
    page = _PAGE.format(style=page_style(), links=links)
    with replacing(path) as file:
        file.write(page.encode("utf8"))


def page_style() -> str:
    """RETURNS (str): the style sheet that `links_html` is made for, light and dark."""
    return _STYLE.format(
        light=_variables(COLORS, OTHER_COLORS[0], PAGE_COLORS[0]),
        dark=_variables(DARK_COLORS, OTHER_COLORS[1], PAGE_COLORS[1]),
    )


def links_html(
    doc: "Doc", linker: "AngelLinker", heading: str = "h1", *, with_pictures: bool = False
) -> str:
    """What a page shows: the text with its links, the rows, and for each why the link was made,
    with the concepts that were found.

    doc (Doc), linker (AngelLinker): see `link_rows`.
    heading (str): the element of the line above, `h2` where the page has a title of its own.
    with_pictures (bool): see `write_page`.
    RETURNS (str): HTML, a piece of a page with the style of `page_style`.
    """
    settings = linker.settings
    rows = link_rows(doc, linker)
    spans = find_spans(doc, settings.span_key)
    explained = [explain_link(span, linker) for span in spans]
    pictures = [explanation_svg(linker.explain(s)) if with_pictures else "" for s in spans]
    options: dict[str, Any] = {
        "colors": {span.label_.upper(): _variable(span.label_.upper()) for span in spans}
    }
    if settings.span_key is None:
        options["template"] = _ENTITY
    return _LINKS.format(
        heading=heading,
        n_linked=sum(row[2] not in ("", NIL) for row in rows),
        n_mentions=len(rows),
        text=render_links(
            doc,
            span_key=settings.span_key,
            kb_id_attr=settings.outputs.kb_id,
            linker=linker,
            options=options,
        ),
        header="".join(f'<th scope="col">{name}</th>' for name in _HEADER),
        rows="\n".join(map(_html_rows, rows, explained, pictures)),
    )


def _variable(label: str) -> str:
    name = label.lower() if label in COLORS else _OTHER
    return f"var(--{name})"


def _variables(colors: Mapping[str, str], other: str, page: Sequence[str]) -> str:
    """Colours of the types, of all others and of the page, for a style sheet."""
    named = {
        **{label.lower(): color for label, color in colors.items()},
        _OTHER: other,
        **dict(zip(("page", "ink", "soft"), page, strict=True)),
    }
    return " ".join(f"--{name}: {color};" for name, color in named.items())


def _html_rows(row: tuple[str, ...], explained: Explanation, picture: str) -> str:
    """The link, and below it why it was made, with all that was found behind a click."""
    mention, label, concept_id, name, *numbers = row
    cells = [*_cells(mention, label), _linked(concept_id), *_cells(name), *_numbers(*numbers)]
    why = escape(explained.why)
    if explained.concepts:
        concept_rows = "".join(map(_found_row, explained.concepts))
        why = f"<details><summary>{why}</summary><table>{concept_rows}</table>{picture}</details>"
    return (
        f'<tr class="mention">{"".join(cells)}</tr>\n'
        f'<tr class="why"><td colspan="{len(cells)}">{why}</td></tr>'
    )


def _found_row(concept: FoundConcept) -> str:
    names = ", ".join(
        f"“{name}”" if log_prob is None else f"“{name}” ({log_prob:.2f})"
        for name, log_prob in concept.names
    )
    cells = [_linked(concept.concept_id), *_cells(concept.canonical_name, names)]
    return f"<tr>{''.join(cells)}{''.join(_numbers(f'{concept.probability:.3f}'))}</tr>"


def _shown(log_prob: float | None) -> str:
    return "" if log_prob is None else f"{log_prob:.2f}"


def _cells(*texts: str) -> list[str]:
    return [f"<td>{escape(text)}</td>" for text in texts]


def _numbers(*texts: str) -> list[str]:
    return [f'<td class="number">{escape(text)}</td>' for text in texts]


def _linked(concept_id: str) -> str:
    shown = escape(NO_LINK if concept_id == NIL else concept_id)
    if url := concept_url(concept_id):
        shown = f'<a href="{escape(url)}">{shown}</a>'
    return f"<td>{shown}</td>"
