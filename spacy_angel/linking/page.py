"""The links of a document for a person: a table in the terminal, a page in the browser."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..files.atomic import replacing
from .display import concept_url, render_links
from .explain import Explanation, FoundConcept, explain_link
from .mentions import find_spans
from .ranking import NIL

if TYPE_CHECKING:
    from spacy.tokens import Doc

    from .linker import AngelLinker

_HEADER = ("mention", "label", "identifier", "concept", "probability", "log-prob.")
_COLORS = {"DISEASE": "#f4c7b5", "CHEMICAL": "#bfe0cf"}
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>spacy-angel: links</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 60rem; margin: 3rem auto;
  padding: 0 1.5rem; }}
h1 {{ font-size: 1.3rem; }}
.text {{ background: #fafafa; border: 1px solid #e4e4e4; border-radius: 8px; padding: 1.5rem; }}
/* a mention with its link stays in one piece */
.text mark {{ display: inline-block; }}
table {{ border-collapse: collapse; margin-top: 2rem; width: 100%; }}
th, td {{ text-align: left; padding: .35rem .8rem .35rem 0; border-bottom: 1px solid #e4e4e4; }}
td.number {{ font-variant-numeric: tabular-nums; }}
tr.mention > td {{ border-bottom: 0; padding-bottom: 0; }}
tr.why {{ color: #555; font-size: .9rem; }}
tr.why table {{ margin: .3rem 0 .5rem 1rem; }}
</style>
</head>
<body>
<h1>{n_linked} of {n_mentions} mentions linked</h1>
<div class="text">{text}</div>
<table>
<tr>{header}</tr>
{rows}
</table>
</body>
</html>
"""


def link_rows(doc: "Doc", linker: "AngelLinker") -> list[tuple[str, ...]]:
    """One row a mention.

    doc (Doc): went through the linker. linker (AngelLinker): the one that linked it.
    RETURNS (list[tuple[str, ...]]): mention, label, identifier, canonical name of the concept,
        its probability, log-probability of its most probable name in nats; the last three are
        empty where the mention links to nothing, the last two where it had its identifier before.
    """
    rows: list[tuple[str, ...]] = []
    for span in find_spans(doc, linker.settings.span_key):
        concept_id = span._.get(linker.settings.kb_id_attr)
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


def write_page(doc: "Doc", linker: "AngelLinker", path: Path) -> None:
    """Write a page that needs nothing else: the text with its links, the rows, and for each why
    the link was made, with the concepts that were found.

    doc (Doc), linker (AngelLinker): see `link_rows`.
    path (Path): e.g. `demo.html`.
    """
    settings = linker.settings
    rows = link_rows(doc, linker)
    explained = [explain_link(span, linker) for span in find_spans(doc, settings.span_key)]
    page = _PAGE.format(
        n_linked=sum(row[2] not in ("", NIL) for row in rows),
        n_mentions=len(rows),
        text=render_links(
            doc,
            span_key=settings.span_key,
            kb_id_attr=settings.kb_id_attr,
            linker=linker,
            options={"colors": _COLORS},
        ),
        header="".join(f"<th>{name}</th>" for name in _HEADER),
        rows="\n".join(map(_html_rows, rows, explained)),
    )
    with replacing(path) as file:
        file.write(page.encode("utf8"))


def _html_rows(row: tuple[str, ...], explained: Explanation) -> str:
    """The link, and below it why it was made, with all that was found behind a click."""
    mention, label, concept_id, name, *numbers = row
    cells = [*_cells(mention, label), _linked(concept_id), *_cells(name), *_numbers(*numbers)]
    why = escape(explained.why)
    if explained.concepts:
        concept_rows = "".join(map(_found_row, explained.concepts))
        why = f"<details><summary>{why}</summary><table>{concept_rows}</table></details>"
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
    shown = escape(concept_id)
    if url := concept_url(concept_id):
        shown = f'<a href="{escape(url)}">{shown}</a>'
    return f"<td>{shown}</td>"
