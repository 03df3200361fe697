"""Write links to documents. Importing this module registers the attributes on `span._`.

spaCy stores a span attribute by the characters of the span. If a span group has several labels for
the same characters, the values are stored separately for each label, so that each span has its own.
"""

import warnings
from collections import Counter
from collections.abc import Sequence
from copy import copy
from functools import partial
from typing import Any

from spacy.tokens import Doc, Span

from ...component.kb_id import NAME as KB_ID
from ...component.kb_id import attribute_key
from ...component.probability import NAME as PROBABILITY
from ...component.probability import other_labels_of, probability_of
from ...errors import AngelError, AngelWarning
from ..mentions.labels import links_label
from ..mentions.reading import find_spans, register_abbreviations
from ..settings.linker_settings import ATTRIBUTES, LinkerSettings
from ..types import NIL, Link


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
    n_labels = Counter([(span.start_char, span.end_char) for span in spans])
    # Of several links over the same characters, spans with other labels read the first one.
    for i, (span, link) in reversed(list(enumerate(zip(spans, links, strict=True)))):
        if link is not None:
            has_others = n_labels[span.start_char, span.end_char] > 1
            _set_attributes(span, link, settings, i, has_others=has_others)
    if settings.decision.drop_unlinked_below and settings.candidates.span_key is None:
        pairs = zip(doc.ents, links, strict=True)
        doc.ents = [ent for ent, link in pairs if not is_dropped(ent, link, settings)]


def is_dropped(span: Span, link: Link | None, settings: LinkerSettings) -> bool:
    """span (Span): a mention. link (Link | None): its link. settings (LinkerSettings): settings of
    the linker. RETURNS (bool): whether the mention is removed, see `drop_unlinked_below`."""
    if link is None or link.kb_id != NIL or settings.candidates.span_key is not None:
        return False
    probability = probability_of(span)
    is_unlikely = probability is not None and probability < settings.decision.drop_unlinked_below
    return is_unlikely and links_label(span.label_, settings)


def _set_labels(doc: Doc, links: Sequence[Link | None]) -> None:
    """Replace the labels of entities that were linked under another label, and set the probability
    of the new label."""
    ents = list(doc.ents)
    for i, link in enumerate(links):
        if link is not None and link.label:
            probability = other_labels_of(ents[i]).get(link.label, probability_of(ents[i]))
            ents[i] = Span(doc, ents[i].start, ents[i].end, label=link.label)
            ents[i]._.set(PROBABILITY, probability)
    doc.ents = ents


def _set_attributes(
    span: Span, link: Link, settings: LinkerSettings, index: int, *, has_others: bool
) -> None:
    """index (int): index of the span in its group. has_others (bool): whether there are spans with
    other labels over the same characters."""
    doc, span_key = span.doc, settings.candidates.span_key
    data: dict[Any, Any] = doc.user_data
    for attribute in ATTRIBUTES:
        name, value = getattr(settings.outputs, attribute), getattr(link, attribute)
        data[attribute_key(span, name)] = value
        if name != KB_ID:
            own = _key_of_label(span, name)
            if has_others or own in data:
                data[own] = value
        elif span_key is None:
            for token in span:
                token.ent_kb_id_ = value
        else:
            span.kb_id_ = value
            doc.spans[span_key][index] = span


def set_extensions(settings: LinkerSettings) -> None:
    """Register the attributes that a linker writes, unless they are registered. Warn if another
    component has registered one of them, as scispaCy's linker does with `kb_ents`.

    settings (LinkerSettings): settings with the attribute names.
    RAISES (AngelError): another component computes an attribute with the same name.
    """
    register_abbreviations()
    for attribute in ATTRIBUTES:
        name = getattr(settings.outputs, attribute)
        if not Span.has_extension(name):
            _register(name, attribute)
            continue
        _, method, getter, _ = Span.get_extension(name)
        if name == KB_ID or (isinstance(getter, partial) and getter.func is _read):
            continue
        if method is not None or getter is not None:
            raise AngelError(
                f"span._.{name} is computed by another component, so angel_linker cannot write it. "
                f"Choose another name with the setting outputs.{attribute}."
            )
        _register(name, attribute)
        warnings.warn(
            f"Another component has registered span._.{name}, as scispaCy's linker does. In one "
            "pipeline, the later one overwrites the values. Choose another name with "
            f"angel_linker's setting outputs.{attribute}.",
            AngelWarning,
            stacklevel=2,
        )


def _register(name: str, attribute: str) -> None:
    getter = partial(_read, name=name, attribute=attribute)
    Span.set_extension(name, getter=getter, setter=partial(_write, name=name), force=True)


def _key_of_label(span: Span, name: str) -> tuple[str, str, int, int]:
    """RETURNS (tuple[str, str, int, int]): key in `doc.user_data` of an attribute of spans with the
    same characters and label."""
    return attribute_key(span, f"{name} of {span.label_}")


def _read(span: Span, name: str, attribute: str) -> Any:
    data: dict[Any, Any] = span.doc.user_data
    value = data.get(_key_of_label(span, name), data.get(attribute_key(span, name)))
    if value is None:
        return "" if attribute == "kb_id" else []
    # After serialization, tuples are lists.
    return list(map(tuple, value)) if attribute == "kb_ents" else copy(value)


def _write(span: Span, value: Any, name: str) -> None:
    data: dict[Any, Any] = span.doc.user_data
    own = _key_of_label(span, name)
    data[own if own in data else attribute_key(span, name)] = value


# Stored documents can be read without a linker.
for _name in ATTRIBUTES:
    if not Span.has_extension(_name):
        _register(_name, _name)
register_abbreviations()
