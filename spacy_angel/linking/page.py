"""The links of a document for a person: a table in the terminal, a page in the browser."""

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from ..files.atomic import replacing
from .display import concept_url, render_links
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
        its probability, log-probability of the best of its names in nats; the last three are
        empty where the mention links to nothing.
    """
    settings = linker.settings
    rows: list[tuple[str, ...]] = []
    for span in find_spans(doc, settings.span_key):
        concept_id = span._.get(settings.kb_id_attr)
        row = (" ".join(span.text.split()), span.label_, concept_id)
        if concept_id in ("", NIL):
            rows.append((*row, "", "", ""))
            continue
        probability = dict(span._.get(settings.kb_ents_attr))[concept_id]
        log_prob = max(
            candidate["log_prob"]
            for candidate in span._.get(settings.candidates_attr)
            if candidate["concept_id"] == concept_id
        )
        name = linker.kb[concept_id].canonical_name
        rows.append((*row, name, f"{probability:.2f}", f"{log_prob:.2f}"))
    return rows


def link_table(doc: "Doc", linker: "AngelLinker") -> str:
    """doc (Doc), linker (AngelLinker): see `link_rows`. RETURNS (str): the rows as text."""
    from wasabi import table

    rows = link_rows(doc, linker)
    return table(rows, header=_HEADER, divider=True, aligns=("l",) * 4 + ("r",) * 2).strip("\n")


def write_page(doc: "Doc", linker: "AngelLinker", path: Path) -> None:
    """Write a page that needs nothing else: the text with its links, and the rows.

    doc (Doc), linker (AngelLinker): see `link_rows`.
    path (Path): e.g. `demo.html`.
    """
    settings = linker.settings
    rows = link_rows(doc, linker)
    page = _PAGE.format(
        n_linked=sum(bool(row[3]) for row in rows),
        n_mentions=len(rows),
        text=render_links(
            doc,
            span_key=settings.span_key,
            kb_id_attr=settings.kb_id_attr,
            options={"colors": _COLORS},
        ),
        header="".join(f"<th>{name}</th>" for name in _HEADER),
        rows="\n".join(map(_html_row, rows)),
    )
    with replacing(path) as file:
        file.write(page.encode("utf8"))


def _html_row(row: tuple[str, ...]) -> str:
    mention, label, concept_id, name, *numbers = map(escape, row)
    if url := concept_url(row[2]):
        concept_id = f'<a href="{escape(url)}">{concept_id}</a>'
    cells = [f"<td>{cell}</td>" for cell in (mention, label, concept_id, name)]
    cells += [f'<td class="number">{number}</td>' for number in numbers]
    return f"<tr>{''.join(cells)}</tr>"
