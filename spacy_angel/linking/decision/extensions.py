"""Attributes on `span._` that the linker writes.

spaCy keeps an attribute of a span by the span's characters. Where a span group has the same
characters under several labels, each label's value is kept beside that one, under a name of its
own, so that each span shows what it was linked to.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from spacy.tokens import Doc, Span

from ...errors import AngelError
from ..mentions.abbreviated import read_as_abbreviations, register_abbreviations
from ..settings.attributes import ATTRIBUTES, SpanAttribute
from ..settings.linker_settings import LinkerSettings


def register_extensions() -> None:
    """Register the attributes under the names that they have by default, so that documents of
    another process can be read before there is a linker. What others registered stays."""
    defaults = LinkerSettings()
    for attribute in ATTRIBUTES:
        name = attribute.name_in(defaults)
        if not Span.has_extension(name):
            _register(name, attribute)
    register_abbreviations()


def set_extensions(settings: LinkerSettings) -> None:
    """Register the attributes that a linker writes; those that exist and can be written are used.
    Where an abbreviation detector has registered `doc._.abbreviations`, its dictionaries are read
    as `Abbreviation`.

    settings (LinkerSettings): with the names.
    RAISES (AngelError): another component computes an attribute of that name.
    """
    for attribute in ATTRIBUTES:
        name = attribute.name_in(settings)
        if Span.has_extension(name):
            _, method, getter, setter = Span.get_extension(name)
            if method is not None or (getter is not None and setter is None):
                raise AngelError(
                    f"span._.{name} is computed by another component. Choose another name for "
                    f"outputs.{attribute.name}."
                )
        else:
            _register(name, attribute)
    read_as_abbreviations()


def write_values(spans: Sequence[Span], values: Sequence[Any], name: str, shown: Any) -> None:
    """Write an attribute of spans over the same characters.

    spans (Sequence[Span]): mentions with the same characters.
    values (Sequence[Any]): of each; None: it keeps the one that it has.
    name (str): of the attribute.
    shown (Any): stands there for spans with another label, or without any.
    """
    data = _user_data(spans[0].doc)
    kept = [
        span._.get(name) if value is None else value
        for span, value in zip(spans, values, strict=True)
    ]
    for span in filter(_has_label, spans):
        data.pop(_place(span, name, span.label_), None)
    spans[0]._.set(name, shown)
    if len({span.label for span in spans}) > 1:
        for span, value in zip(spans, kept, strict=True):
            data[_place(span, name, span.label_)] = value


def _register(name: str, attribute: SpanAttribute) -> None:
    getter = partial(_read, name=name, attribute=attribute)
    Span.set_extension(name, getter=getter, setter=partial(_write, name=name))


def _has_label(span: Span) -> bool:
    return bool(span.label)


def _user_data(doc: Doc) -> dict[Any, Any]:
    return doc.user_data


def _place(span: Span, name: str, label: str = "") -> tuple[str, str, int, int]:
    """Where spaCy keeps an attribute of a span; with a label, where that label's own value is."""
    own = f"{name} of {label}" if label else name
    return ("._.", own, span.start_char, span.end_char)


def _read(span: Span, name: str, attribute: SpanAttribute) -> Any:
    data = _user_data(span.doc)
    value = data.get(_place(span, name, span.label_))
    if value is None:
        value = data.get(_place(span, name))
    return attribute.getter(attribute.default if value is None else value)


def _write(span: Span, value: Any, name: str) -> None:
    data = _user_data(span.doc)
    own = _place(span, name, span.label_)
    data[own if own in data else _place(span, name)] = value
