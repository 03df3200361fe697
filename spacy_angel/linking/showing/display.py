"""Show the links of a document as a table in the terminal or as an HTML page."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from ...files.atomic import write_text
from ...vocabulary.names.entity_type_table import ENTITY_TYPE_TABLE
from ..mentions.reading import find_spans
from ..types import NIL, describe_link

if TYPE_CHECKING:
    from spacy.tokens import Doc

    from ..linker import AngelLinker

COLORS = {row.name: row.color for row in ENTITY_TYPE_TABLE if row.color}
"""Entity type → background color, under black text; distinguishable with color blindness."""
CONCEPT_URL = "https://bioregistry.io/{}"
"""Page of a concept, for displaCy's option `kb_url_template`; Bioregistry forwards an identifier to
the page of its vocabulary."""
_HEADER = ("mention", "label", "identifier", "concept", "probability", "log-prob.", "context")
_ALIGNS: tuple[Literal["l", "r"], ...] = ("l", "l", "l", "l", "r", "r", "l")


def link_table(doc: "Doc", linker: "AngelLinker", notes: Sequence[str] | None = None) -> str:
    """Format the links of a document as a table, with the probability of each and the
    log-probability of its most probable name in nats.

    doc (Doc): a document that was processed by the linker.
    linker (AngelLinker): the linker.
    notes (Sequence[str] | None): values of an additional column, e.g. `negated`, one per mention.
    RETURNS (str): a table with one row per mention; unknown values are left empty.
    """
    from wasabi import table

    outputs = linker.settings.outputs
    rows: list[tuple[str, ...]] = []
    for i, span in enumerate(find_spans(doc, linker.settings.candidates.span_key)):
        kb_id = span._.get(outputs.kb_id)
        name, probability = describe_link(kb_id, span._.get(outputs.kb_ents), linker.kb)
        names = [c for c in span._.get(outputs.candidates) if c["concept_id"] == kb_id]
        best = max(names, key=lambda c: c["probability"], default={"log_prob": None})
        figures = ("" if x is None else f"{x:.2f}" for x in (probability, best["log_prob"]))
        note = () if notes is None else (notes[i],)
        rows.append((" ".join(span.text.split()), span.label_, kb_id, name, *figures, *note))
    n = len(_HEADER) - (notes is None)
    return table(rows, header=_HEADER[:n], divider=True, aligns=_ALIGNS[:n]).strip("\n")


def write_page(doc: "Doc", linker: "AngelLinker", path: Path) -> None:
    """Write a self-contained HTML page: the text with its links, as rendered by displaCy, and the
    explanations of the links.

    doc (Doc), linker (AngelLinker): see `link_table`.
    path (Path): e.g. `demo.html`.
    """
    from spacy import displacy

    key = linker.settings.candidates.span_key
    options: dict[str, Any] = {"colors": COLORS, "spans_key": key}
    # displaCy's style for spans that may overlap, and for those that do not
    if key is None:
        style, field, parsed = "ent", "ents", displacy.parse_ents(doc, options)
    else:
        style, field, parsed = "span", "spans", displacy.parse_spans(doc, options)
    for shown, span in zip(parsed[field], find_spans(doc, key), strict=True):
        kb_id = span._.get(linker.settings.outputs.kb_id)
        shown["label"] = escape(span.label_)
        shown["kb_id"] = "" if kb_id == NIL else escape(kb_id)
        shown["kb_url"] = CONCEPT_URL.format(quote(kb_id, safe=":"))
    # jupyter=False: in a notebook displaCy would otherwise show the HTML and return nothing
    page = displacy.render(
        parsed, style=style, page=True, manual=True, jupyter=False, options=options
    )
    explained = [
        f"<details><summary>{escape(text.partition(chr(10))[0])}</summary>"
        f"<pre>{escape(text)}</pre></details>"
        for text in map(str, linker.explain_document(doc))
    ]
    page = page.replace("<head>", '<head>\n<meta charset="utf-8">', 1)
    body, end, rest = page.rpartition("</body>")
    write_text(path, "\n".join([body, *explained, end + rest]))
