"""Where links stand on a document, and how they come there."""

from collections import defaultdict
from collections.abc import Sequence

from spacy.tokens import Doc, Span, SpanGroup

from ...component.kb_id import store_kb_id
from ...component.probability import NAME as PROBABILITY
from ...component.probability import other_labels_of, probability_of
from ..mentions.labels import links_label
from ..mentions.reading import find_spans
from ..settings.linker_settings import ATTRIBUTES, LinkerSettings
from ..types import NIL, Link
from .extensions import write_values


def read_kb_id(span: Span, settings: LinkerSettings) -> str:
    """span (Span): a mention. settings (LinkerSettings): of the linker. RETURNS (str): the
    identifier that it has from before; empty without one."""
    return span.kb_id_ if settings.is_first else span._.get(settings.outputs.kb_id)


def write_links(doc: Doc, links: Sequence[Link | None], settings: LinkerSettings) -> None:
    """Write links on a document.

    doc (Doc): changed in place.
    links (Sequence[Link | None]): one a mention, in the order of `find_spans`; None where the
        mention stays as it is.
    settings (LinkerSettings): which attributes and span groups.
    """
    if any(link is not None and link.label for link in links):
        _set_labels(doc, links)
    spans = find_spans(doc, settings.candidates.span_key)
    _set_attributes(spans, links, settings)
    kb_ids = [
        read_kb_id(span, settings) if link is None else link.kb_id
        for span, link in zip(spans, links, strict=True)
    ]
    if settings.is_first:
        _set_kb_ids(doc, settings.candidates.span_key, spans, kb_ids)
    dropped = [is_dropped(*pair, settings) for pair in zip(spans, links, strict=True)]
    if any(dropped):
        doc.ents = [ent for ent, goes in zip(doc.ents, dropped, strict=True) if not goes]


def is_dropped(span: Span, link: Link | None, settings: LinkerSettings) -> bool:
    """span (Span): a mention. link (Link | None): found for it. settings (LinkerSettings): of the
    linker. RETURNS (bool): whether it is to go, see `drop_unlinked_below`."""
    limit = settings.decision.drop_unlinked_below
    if not limit or link is None or link.kb_id != NIL or settings.candidates.span_key is not None:
        return False
    probability = probability_of(span)
    is_unlikely = probability is not None and probability < limit
    return is_unlikely and links_label(span.label_, settings)


def _set_labels(doc: Doc, links: Sequence[Link | None]) -> None:
    """Entities that were linked under another label get it, with its probability."""
    ents = list(doc.ents)
    for i, link in enumerate(links):
        if link is not None and link.label:
            ents[i] = Span(doc, ents[i].start, ents[i].end, label=link.label)
            ents[i]._.set(PROBABILITY, other_labels_of(ents[i])[link.label])
    doc.ents = ents


def _set_attributes(
    spans: Sequence[Span], links: Sequence[Link | None], settings: LinkerSettings
) -> None:
    linked: defaultdict[tuple[int, int], list[tuple[Span, Link | None]]] = defaultdict(list)
    for span, link in zip(spans, links, strict=True):
        linked[span.start_char, span.end_char].append((span, link))
    for here in linked.values():
        written = [link for _, link in here if link is not None]
        if not written:
            continue
        shown = written[0]
        for link in written[::-1]:
            shown = link if link.kb_id != NIL else shown
        for attribute in ATTRIBUTES:
            if attribute == "kb_id" and settings.is_first:
                store_kb_id(here[0][0], shown.kb_id)  # and see `_set_kb_ids`
                continue
            values = [(span, getattr(link, attribute, None)) for span, link in here]
            write_values(getattr(settings.outputs, attribute), values, getattr(shown, attribute))


def _set_kb_ids(
    doc: Doc, span_key: str | None, spans: Sequence[Span], kb_ids: Sequence[str]
) -> None:
    """Write `kb_id_` of the mentions; on a span taken from a group it would be lost."""
    if span_key is None:
        for span, kb_id in zip(spans, kb_ids, strict=True):
            for token in span:
                token.ent_kb_id_ = kb_id
    elif span_key in doc.spans:
        group = [
            Span(doc, span.start, span.end, label=span.label, kb_id=kb_id, span_id=span.id)
            for span, kb_id in zip(spans, kb_ids, strict=True)
        ]
        attrs = doc.spans[span_key].attrs
        doc.spans[span_key] = SpanGroup(doc, name=span_key, attrs=attrs, spans=group)
