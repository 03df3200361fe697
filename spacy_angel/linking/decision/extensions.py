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

from ...component.kb_id import attribute_key
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


def write_values(name: str, values: Sequence[tuple[Span, Any]], shown: Any) -> None:
    """Write an attribute of spans over the same characters.

    name (str): of the attribute.
    values (Sequence[tuple[Span, Any]]): mentions with the same characters, each with its value;
        None: it keeps what it has.
    shown (Any): the value for spans with another label, or without any.
    """
    first = values[0][0]
    data: dict[Any, Any] = first.doc.user_data
    of_label = {}
    for span, value in values:
        own = span._.get(name) if value is None else value
        of_label[attribute_key(span, f"{name} of {span.label_}")] = own
    for key in of_label:
        data.pop(key, None)
    first._.set(name, shown)
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
    own = attribute_key(span, f"{name} of {span.label_}")
    data[own if own in data else attribute_key(span, name)] = value


register_extensions()
