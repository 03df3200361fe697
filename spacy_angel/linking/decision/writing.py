"""Write links to documents. Importing this module registers the attributes on `span._`.

spaCy stores a span attribute by the characters of the span. If a span group has several labels for
the same characters, the values are stored separately for each label, so that each span has its own.
"""

import warnings
from collections import defaultdict
from collections.abc import Sequence
from copy import copy
from functools import partial
from typing import Any

from spacy.tokens import Doc, Span, SpanGroup

from ...component.kb_id import attribute_key, store_kb_id
from ...component.probability import NAME as PROBABILITY
from ...component.probability import other_labels_of, probability_of
from ...errors import AngelError, AngelWarning
from ..mentions.labels import links_label
from ..mentions.reading import find_spans, register_abbreviations
from ..settings.linker_settings import ATTRIBUTES, LinkerSettings
from ..types import NIL, Link

_REGISTERED: dict[str, tuple[Any, ...]] = {}
"""How each attribute was registered when a linker was created."""


def read_kb_id(span: Span, settings: LinkerSettings) -> str:
    """span (Span): a mention. settings (LinkerSettings): settings of the linker. RETURNS (str): its
    current identifier; empty if it has none."""
    return span.kb_id_ if settings.is_first else span._.get(settings.outputs.kb_id)


def write_links(doc: Doc, links: Sequence[Link | None], settings: LinkerSettings) -> None:
    """Write links on a document.

    doc (Doc): changed in place.
    links (Sequence[Link | None]): one per mention, in the order of `find_spans`; None leaves the
        mention unchanged.
    settings (LinkerSettings): settings of the linker.
    """
    if any([link is not None and link.label for link in links]):
        _set_labels(doc, links)
    spans = find_spans(doc, settings.candidates.span_key)
    _set_attributes(spans, links, settings)
    if settings.is_first:
        kb_ids = [
            span.kb_id_ if link is None else link.kb_id
            for span, link in zip(spans, links, strict=True)
        ]
        _set_kb_ids(doc, settings.candidates.span_key, spans, kb_ids)
    dropped = [is_dropped(*pair, settings) for pair in zip(spans, links, strict=True)]
    if any(dropped):
        doc.ents = [ent for ent, goes in zip(doc.ents, dropped, strict=True) if not goes]


def is_dropped(span: Span, link: Link | None, settings: LinkerSettings) -> bool:
    """span (Span): a mention. link (Link | None): its link. settings (LinkerSettings): settings of
    the linker. RETURNS (bool): whether the mention is removed, see `drop_unlinked_below`."""
    limit = settings.decision.drop_unlinked_below
    if not limit or link is None or link.kb_id != NIL or settings.candidates.span_key is not None:
        return False
    probability = probability_of(span)
    is_unlikely = probability is not None and probability < limit
    return is_unlikely and links_label(span.label_, settings)


def _set_labels(doc: Doc, links: Sequence[Link | None]) -> None:
    """Replace the labels of entities that were linked under another label, and set the probability
    of the new label."""
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
            _write_values(getattr(settings.outputs, attribute), attribute, here, shown)


def _set_kb_ids(
    doc: Doc, span_key: str | None, spans: Sequence[Span], kb_ids: Sequence[str]
) -> None:
    """Write `kb_id_` of the mentions. Span groups are replaced, because they return copies of their
    spans."""
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


def register_extensions(names: Sequence[str] = ATTRIBUTES) -> None:
    """Register the attributes, so that stored documents can be read without a linker. Existing
    attributes are kept.

    names (Sequence[str]): in the order of `ATTRIBUTES`.
    """
    for name, attribute in zip(names, ATTRIBUTES, strict=True):
        if not Span.has_extension(name):
            getter = partial(_read, name=name, attribute=attribute)
            Span.set_extension(name, getter=getter, setter=partial(_write, name=name))
    register_abbreviations()


def set_extensions(settings: LinkerSettings) -> None:
    """Register the attributes that a linker writes. Existing attributes are reused if they are
    writable.

    settings (LinkerSettings): settings with the attribute names.
    RAISES (AngelError): another component computes an attribute with the same name.
    """
    names = [getattr(settings.outputs, attribute) for attribute in ATTRIBUTES]
    register_extensions(names)
    for attribute, name in zip(ATTRIBUTES, names, strict=True):
        _, method, getter, setter = Span.get_extension(name)
        if method is not None or (getter is not None and setter is None):
            raise AngelError(
                f"span._.{name} is computed by another component, so angel_linker cannot write it. "
                f"Choose another name with the setting outputs.{attribute}."
            )
        _REGISTERED[name] = Span.get_extension(name)


def warn_replaced(settings: LinkerSettings) -> None:
    """Warn once if another component has overwritten the registration of an attribute that a linker
    writes, as scispaCy's linker does with `kb_ents`. If both are in the same pipeline, the later
    one overwrites the values.

    settings (LinkerSettings): settings with the attribute names.
    """
    for attribute in ATTRIBUTES:
        name = getattr(settings.outputs, attribute)
        now = Span.get_extension(name)
        if _REGISTERED.get(name, now) != now:
            _REGISTERED[name] = now
            warnings.warn(
                f"Another component has registered span._.{name} again, as scispaCy's linker does. "
                "Where both are in one pipeline, the later one overwrites the values. Choose "
                f"another name with angel_linker's setting outputs.{attribute}.",
                AngelWarning,
                stacklevel=2,
            )


def _write_values(
    name: str, attribute: str, here: Sequence[tuple[Span, Link | None]], shown: Link
) -> None:
    """Write an attribute of spans that cover the same characters.

    name (str): name of the attribute on `span._`. attribute (str): field of `Link`.
    here (Sequence[tuple[Span, Link | None]]): mentions that cover the same characters, with their
        links; None keeps the current value.
    shown (Link): the link for spans with another label or none.
    """
    first = here[0][0]
    data: dict[Any, Any] = first.doc.user_data
    of_label = {}
    for span, link in here:
        key = attribute_key(span, f"{name} of {span.label_}")
        of_label[key] = span._.get(name) if link is None else getattr(link, attribute)
        data.pop(key, None)
    first._.set(name, getattr(shown, attribute))
    if len(of_label) > 1:
        data |= of_label


def _read(span: Span, name: str, attribute: str) -> Any:
    data: dict[Any, Any] = span.doc.user_data
    value = data.get(attribute_key(span, f"{name} of {span.label_}"))
    if value is None:
        value = data.get(attribute_key(span, name))
    if value is None:
        return "" if attribute == "kb_id" else []
    # After serialization, tuples are lists.
    return list(map(tuple, value)) if attribute == "kb_ents" else copy(value)


def _write(span: Span, value: Any, name: str) -> None:
    data: dict[Any, Any] = span.doc.user_data
    prefix, _, *characters = key = attribute_key(span, name)
    own = (prefix, f"{name} of {span.label_}", *characters)
    data[own if own in data else key] = value


register_extensions()
