"""Attributes on `span._` that the linker writes; importing this module registers them.

spaCy stores a span attribute by the span's characters. Where a span group has the same characters
under several labels, the value of each label is stored beside it under a name of its own, so that
each span shows what it was linked to.
"""

import warnings
from collections.abc import Sequence
from copy import copy
from functools import partial
from typing import Any

from spacy.tokens import Span

from ...component import kb_id as kb_id
from ...errors import AngelError, AngelWarning
from ..mentions.reading import register_abbreviations
from ..settings.linker_settings import ATTRIBUTES, LinkerSettings

_REGISTERED: dict[str, tuple[Any, ...]] = {}
"""How each attribute was registered when a linker was made."""


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
    """Register the attributes that a linker writes; existing ones that can be written are used.

    settings (LinkerSettings): with the names.
    RAISES (AngelError): another component computes an attribute of that name.
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
    """Warn once if another component has registered an attribute again that a linker writes, as
    scispaCy's linker does with `kb_ents`: of two in one pipeline the later overwrites the values.

    settings (LinkerSettings): with the names.
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


def write_values(spans: Sequence[Span], values: Sequence[Any], name: str, shown: Any) -> None:
    """Write an attribute of spans over the same characters.

    spans (Sequence[Span]): mentions with the same characters.
    values (Sequence[Any]): one a span; None: it keeps its value.
    name (str): of the attribute.
    shown (Any): the value for spans with another label, or without any.
    """
    data: dict[Any, Any] = spans[0].doc.user_data
    kept = [
        span._.get(name) if value is None else value
        for span, value in zip(spans, values, strict=True)
    ]
    for span in spans:
        if span.label:
            data.pop(_key(span, name, span.label_), None)
    spans[0]._.set(name, shown)
    if len({span.label for span in spans}) > 1:
        for span, value in zip(spans, kept, strict=True):
            data[_key(span, name, span.label_)] = value


def _key(span: Span, name: str, label: str = "") -> tuple[str, str, int, int]:
    """Where spaCy stores a span attribute; with a label, where that label's own value is."""
    own = f"{name} of {label}" if label else name
    return ("._.", own, span.start_char, span.end_char)


def _read(span: Span, name: str, attribute: str) -> Any:
    data: dict[Any, Any] = span.doc.user_data
    value = data.get(_key(span, name, span.label_))
    if value is None:
        value = data.get(_key(span, name))
    if value is None:
        return "" if attribute == "kb_id" else []
    # After serialization, tuples are lists.
    return list(map(tuple, value)) if attribute == "kb_ents" else copy(value)


def _write(span: Span, value: Any, name: str) -> None:
    data: dict[Any, Any] = span.doc.user_data
    own = _key(span, name, span.label_)
    data[own if own in data else _key(span, name)] = value


register_extensions()
