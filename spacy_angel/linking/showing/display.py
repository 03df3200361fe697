"""The links of a document, as a table for the terminal and as a page for the browser; colors of
entity types and web pages of concepts, for displaCy."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from ...files.atomic import write_text
from ...vocabulary.names.entity_type_table import ENTITY_TYPE_TABLE
from ..mentions.reading import find_spans
from ..types import NIL

if TYPE_CHECKING:
    from spacy.tokens import Doc

    from ..linker import AngelLinker

_HEADER = ("mention", "label", "identifier", "concept", "probability", "log-prob.")

COLORS = {row.name: row.color for row in ENTITY_TYPE_TABLE if row.color}
"""Entity type → background color, under black text; distinguishable with color blindness."""

_OBO = "http://purl.obolibrary.org/obo/{prefix}_{code}"
ADDRESSES: dict[str, str] = {
    "MESH": "https://meshb.nlm.nih.gov/record/ui?ui={code}",
    "OMIM": "https://omim.org/entry/{code}",
    "UMLS": "https://uts.nlm.nih.gov/uts/umls/concept/{code}",
    "SNOMEDCT": "https://browser.ihtsdotools.org/?perspective=full&conceptId1={code}",
    "NCBIGene": "https://www.ncbi.nlm.nih.gov/gene/{code}",
    "NCBITaxon": "https://www.ncbi.nlm.nih.gov/Taxonomy/Browser/wwwtax.cgi?id={code}",
    "ICTV": "https://ictv.global/id/ICTV{code}",
    "CVCL": "https://www.cellosaurus.org/CVCL_{code}",
    "HGNC": "https://www.genenames.org/data/gene-symbol-report/#!/hgnc_id/HGNC:{code}",
    "HP": "https://hpo.jax.org/browse/term/HP:{code}",
    **dict.fromkeys(("DOID", "MONDO", "CHEBI", "GO", "UBERON", "CL", "PR", "SO"), _OBO),
    "DBSNP": "https://www.ncbi.nlm.nih.gov/snp/{code}",
}
"""Prefix of an identifier → address of a concept's page, with `{prefix}` and `{code}` in it.
dbSNP's numbers, `rs113488022`, are written without their prefix."""
_RS_NUMBER = re.compile(r"rs\d{1,12}")


def concept_url(concept_id: str, addresses: Mapping[str, str] = ADDRESSES) -> str:
    """The page of a concept.

    concept_id (str): with its prefix.
    addresses (Mapping[str, str]): as `ADDRESSES`.
    RETURNS (str): e.g. `MESH:D003920` → `https://meshb.nlm.nih.gov/record/ui?ui=D003920`; empty
        where the prefix has no address.
    """
    # Cellosaurus has `CVCL_0030`, without a colon.
    prefix, _, code = concept_id.partition(":" if ":" in concept_id else "_")
    if _RS_NUMBER.fullmatch(concept_id):
        prefix, code = "DBSNP", concept_id
    if not code or prefix not in addresses:
        return ""
    return addresses[prefix].format(prefix=prefix, code=quote(code, safe=""))


class KbUrls:
    """Addresses for displaCy: `displacy.render(doc, style="ent",
    options={"kb_url_template": KbUrls()})`.

    addresses (Mapping[str, str]): as `ADDRESSES`.
    """

    def __init__(self, addresses: Mapping[str, str] = ADDRESSES) -> None:
        self._addresses = addresses

    def format(self, concept_id: str) -> str:
        """concept_id (str): with its prefix. RETURNS (str): its page, escaped for HTML; `#` where
        there is none."""
        return escape(concept_url(concept_id, self._addresses)) or "#"


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
    """Write a self-contained page: the text with its links, by displaCy, and their explanations.

    doc (Doc), linker (AngelLinker): see `link_rows`.
    path (Path): e.g. `demo.html`.
    """
    from spacy import displacy

    key, urls = linker.settings.candidates.span_key, KbUrls()
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
        shown["kb_url"] = urls.format(kb_id)
    # jupyter=False: in a notebook displaCy would otherwise show the HTML and return nothing
    page = displacy.render(
        parsed, style=style, page=True, manual=True, jupyter=False, options=options
    )
    explained = [
        f"<details><summary>{escape(' · '.join(filter(None, row[:4])))}: {escape(e.why)}</summary>"
        f"<pre>{escape(str(e))}</pre></details>"
        for row, e in zip(link_rows(doc, linker), linker.explain_document(doc), strict=True)
    ]
    page = page.replace("<head>", '<head>\n<meta charset="utf-8">', 1)
    body, end, rest = page.rpartition("</body>")
    write_text(path, "\n".join([body, *explained, end + rest]))
