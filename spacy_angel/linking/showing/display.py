"""displaCy with links: every identifier leads to the page of its own vocabulary."""

import re
from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ...vocabulary.names.entity_type_table import ENTITY_TYPE_TABLE
from ..ranking.concepts import NIL
from .cause import explain_link

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

    from ..linker import AngelLinker

_COLORED = {one.name: one.colors for one in ENTITY_TYPE_TABLE if one.colors}
COLORS = {label: light for label, (light, _) in _COLORED.items()}
"""Entity type → colour of its box, under black text. Computed so that no two are alike, neither to
eyes that lack a kind of cones; a test has the figures."""
DARK_COLORS = {label: dark for label, (_, dark) in _COLORED.items()}
"""The same under white text, on a dark page."""
NO_LINK = "no link"
"""Shown in place of `NIL`."""

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
    "DOID": _OBO,
    "MONDO": _OBO,
    "CHEBI": _OBO,
    "GO": _OBO,
    "UBERON": _OBO,
    "CL": _OBO,
    "PR": _OBO,
    "SO": _OBO,
    "DBSNP": "https://www.ncbi.nlm.nih.gov/snp/{code}",
}
"""Prefix of an identifier → address of a concept's page, with `{prefix}` and `{code}` in it.
dbSNP's numbers, `rs113488022`, are written without theirs."""
_RS_NUMBER = re.compile(r"rs\d{1,12}")

_LINK = ' <a style="color: inherit; font-weight: normal" href="{url}">{text}</a>'
_NOTE = ' <span style="font-weight: normal">{text}</span>'


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
    """Addresses for displaCy's own option: `displacy.render(doc, style="ent",
    options={"kb_url_template": KbUrls()})`.

    addresses (Mapping[str, str]): as `ADDRESSES`.
    """

    def __init__(self, addresses: Mapping[str, str] = ADDRESSES) -> None:
        self._addresses = addresses

    def format(self, concept_id: str) -> str:
        """concept_id (str): with its prefix. RETURNS (str): its page, `#` where there is none;
        fit for HTML."""
        return escape(concept_url(concept_id, self._addresses)) or "#"


def render_links(
    docs: "Doc | Iterable[Doc]",
    *,
    span_key: str | None = None,
    kb_id_attr: str = "kb_id",
    page: bool = False,
    addresses: Mapping[str, str] = ADDRESSES,
    linker: "AngelLinker | None" = None,
    options: Mapping[str, Any] | None = None,
) -> str:
    """HTML of linked documents: displaCy's `ent` style, or its `span` style for a span group,
    whose spans may overlap.

    docs (Doc | Iterable[Doc]): documents that went through `angel_linker`.
    span_key (str | None): the span group to show; None shows `doc.ents`.
    kb_id_attr (str): the span attribute with the identifiers, as the linker was told to name it.
    page (bool): a whole HTML page rather than a piece of one.
    addresses (Mapping[str, str]): more or other addresses, as `ADDRESSES`.
    linker (AngelLinker | None): the one that linked; behind the identifier then stands the
        concept's name, and where the mouse rests on an entity also why it was linked. displaCy's
        spans have no place for it.
    options (Mapping[str, Any] | None): displaCy's own, e.g. `colors` in place of `COLORS`. A
        `template` for entities may have `{link}`, `{note}` (the name, or that there is no link)
        and `{why}` beside displaCy's `{text}`, `{label}`, `{bg}`.
    RETURNS (str): HTML.
    """
    from spacy import displacy
    from spacy.displacy.templates import TPL_ENT
    from spacy.tokens import Doc

    settings: dict[str, Any] = {"colors": COLORS, **(options or {})}
    if span_key is None:
        style, field, parse = "ent", "ents", displacy.parse_ents
    else:
        style, field, parse = "span", "spans", displacy.parse_spans
        settings["spans_key"] = span_key
    template = TPL_ENT.replace("{kb_link}", "{link}{note}")
    if linker is not None:
        template = template.replace("<mark ", '<mark title="{why}" ', 1)
    if span_key is None:
        settings.setdefault("template", template)
    pages, urls = [], KbUrls(addresses)
    for doc in [docs] if isinstance(docs, Doc) else docs:
        parsed = parse(doc, settings)
        spans = doc.ents if span_key is None else doc.spans.get(span_key, ())
        for shown, span in zip(parsed[field], spans, strict=True):
            concept_id = span._.get(kb_id_attr)
            shown["kb_id"] = "" if concept_id == NIL else escape(concept_id)
            shown["kb_url"] = urls.format(concept_id)
            shown["params"] = _described(span, concept_id, addresses, linker)
        pages.append(parsed)
    # jupyter=False: in a notebook displaCy would otherwise show the HTML and return nothing
    return displacy.render(
        pages, style=style, manual=True, page=page, jupyter=False, options=settings
    )


def _described(
    span: "Span", concept_id: str, addresses: Mapping[str, str], linker: "AngelLinker | None"
) -> dict[str, str]:
    """What a template says of a mention beside displaCy's fields, fit for HTML."""
    name = why = ""
    if linker is not None:
        name = linker.kb[concept_id].canonical_name if concept_id in linker.kb else ""
        why = f"{name or NO_LINK}. {explain_link(span, linker).why}"
    url = concept_url(concept_id, addresses)
    shown = "" if concept_id == NIL else concept_id
    link = (_LINK if url else _NOTE).format(url=escape(url), text=escape(shown))
    note = NO_LINK if concept_id == NIL else name
    return {
        "link": link if shown else "",
        "note": _NOTE.format(text=escape(note)) if note else "",
        "why": escape(why),
    }
