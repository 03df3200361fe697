"""A mention that links to NIL under its label may link under another: a recogniser that takes a
chemical for a gene is corrected by the vocabulary, which has no such gene."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from spacy.tokens import Span

from ...component.probability import other_labels_of
from ..mentions.labels import links_label
from ..settings.linker_settings import LinkerSettings
from ..types import NIL, Link, Query


class OtherReading(NamedTuple):
    """place (int): of the mention among those of its document. span (Span): with the other label.
    probability (float): of the mention with it, as the recogniser says."""

    place: int
    span: Span
    probability: float


def other_readings(
    spans: Sequence[Span],
    found: Sequence[Query | None],
    links: Sequence[Link | None],
    settings: LinkerSettings,
) -> list[OtherReading]:
    """What the mentions of a document that link to NIL may be besides.

    spans (Sequence[Span]): the mentions.
    found (Sequence[Query | None]), links (Sequence[Link | None]): of each; what a
        rule of curation decided stays.
    settings (LinkerSettings): which labels are linked.
    RETURNS (list[OtherReading]): in their order.
    """
    return [
        OtherReading(i, Span(span.doc, span.start, span.end, label=label), probability)
        for i, (span, names, link) in enumerate(zip(spans, found, links, strict=True))
        if names is not None and names.constraint is None
        if link is not None and link.kb_id == NIL and links_label(span.label_, settings)
        for label, probability in other_labels_of(span).items()
        if links_label(label, settings)
    ]


def with_other_labels(
    links: Sequence[Link | None],
    readings: Sequence[OtherReading],
    their_links: Sequence[Link | None],
) -> list[Link | None]:
    """links (Sequence[Link | None]): of the mentions of a document. readings
        (Sequence[OtherReading]): what some may be besides. their_links (Sequence[Link | None]): of
        each reading.
    RETURNS (list[Link | None]): in the place of a mention's own the link of the reading for which
        the product of both probabilities is highest, of those that link."""
    chosen = list(links)
    best: dict[int, float] = {}
    for (place, span, probability), link in zip(readings, their_links, strict=True):
        if link is None or link.kb_id == NIL:
            continue
        score = probability * link.kb_ents[0][1]
        if score > best.get(place, 0.0):
            best[place] = score
            chosen[place] = replace(link, label=span.label_)
    return chosen
