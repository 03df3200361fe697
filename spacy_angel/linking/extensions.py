"""Attributes on `span._` and `doc._`: the linker's own, and abbreviations as scispaCy's users read
them.

spaCy keeps an attribute of a span by the span's characters. Where a span group has the same
characters under several labels, each label's value is kept beside that one, under a name of its
own, so that each span shows what it was linked to.
"""

from collections.abc import Iterable, Sequence
from copy import copy
from functools import partial
from types import SimpleNamespace
from typing import Any

from spacy.tokens import Doc, Span

from ..errors import AngelError, Errors
from .mentions import ABBREVIATIONS
from .settings import LinkerSettings

_SETTINGS = ("kb_id_attr", "kb_ents_attr", "candidates_attr")


class Abbreviation(dict[str, Any]):
    """What scispaCy's detector writes with `make_serializable`, read in both of its ways: as that
    dictionary, and as the span that it writes without, with all of its attributes: `text`, `start`,
    `start_char`, `label_`, `sent`, … and `_.long_form`, a string.

    item (dict[str, Any]): `short_text`, `short_start`, `short_end`, `long_text` and more.
    doc (Doc | None): where it stands; None: only `text`, `start`, `end` and `_` can be read.
    """

    def __init__(self, item: dict[str, Any], doc: Doc | None = None) -> None:
        super().__init__(item)
        self.doc = doc

    def __reduce__(self) -> Any:
        # As what it is written for: a document's data without the document.
        return Abbreviation, (dict(self),)

    @property
    def text(self) -> str:
        """RETURNS (str): the short form."""
        return self["short_text"]

    @property
    def start(self) -> int:
        """RETURNS (int): the short form's first token."""
        return self["short_start"]

    @property
    def end(self) -> int:
        """RETURNS (int): the token after the short form."""
        return self["short_end"]

    @property
    def _(self) -> SimpleNamespace:
        """RETURNS (SimpleNamespace): `long_form`, a string."""
        return SimpleNamespace(long_form=self["long_text"])

    def __getattr__(self, name: str) -> Any:
        """The rest is the span's."""
        doc = self.__dict__.get("doc")
        if doc is None or name.startswith("__"):
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        return getattr(doc[self.start : self.end], name)

    def __str__(self) -> str:
        return self.text


def register_extensions() -> None:
    """Register the attributes under the names that they have by default, so that documents of
    another process can be read before there is a linker. What others registered stays."""
    defaults = LinkerSettings()
    for setting in _SETTINGS:
        name: str = getattr(defaults, setting)
        if not Span.has_extension(name):
            _register(name, setting)
    if Doc.has_extension("abbreviations"):
        read_abbreviations_alike()
    else:
        _register_abbreviations()


def set_extensions(settings: LinkerSettings) -> None:
    """Register the attributes that a linker writes; those that exist and can be written are used.
    Where an abbreviation detector has registered `doc._.abbreviations`, its dictionaries are read
    as `Abbreviation`.

    settings (LinkerSettings): with the names.
    RAISES (AngelError): another component computes an attribute of that name.
    """
    for setting in _SETTINGS:
        name = getattr(settings, setting)
        if Span.has_extension(name):
            _, method, getter, setter = Span.get_extension(name)
            if method is not None or (getter is not None and setter is None):
                raise AngelError(Errors.E310.format(name=name, setting=setting))
        else:
            _register(name, setting)
    read_abbreviations_alike()


def read_abbreviations_alike() -> None:
    """Where an abbreviation detector has registered `doc._.abbreviations`, which it does anew with
    every one that is made, have its dictionaries read as `Abbreviation`."""
    if Doc.has_extension("abbreviations"):
        _, method, computed, _ = Doc.get_extension("abbreviations")
        if method is None and computed is None:
            _register_abbreviations()


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


def _register(name: str, setting: str) -> None:
    default: Any = "" if setting == "kb_id_attr" else []
    as_pairs = setting == "kb_ents_attr"
    getter = partial(_read, name=name, default=default, as_pairs=as_pairs)
    Span.set_extension(name, getter=getter, setter=partial(_write, name=name))


def _register_abbreviations() -> None:
    Doc.set_extension(
        "abbreviations", getter=_read_abbreviations, setter=_write_abbreviations, force=True
    )


def _has_label(span: Span) -> bool:
    return bool(span.label)


def _user_data(doc: Doc) -> dict[Any, Any]:
    return doc.user_data


def _place(span: Span, name: str, label: str = "") -> tuple[str, str, int, int]:
    """Where spaCy keeps an attribute of a span; with a label, where that label's own value is."""
    own = f"{name} of {label}" if label else name
    return ("._.", own, span.start_char, span.end_char)


def _read(span: Span, name: str, default: Any, as_pairs: bool) -> Any:
    """A document that came out of bytes, as from another process, has lists in place of tuples."""
    data = _user_data(span.doc)
    value = data.get(_place(span, name, span.label_))
    if value is None:
        value = data.get(_place(span, name))
    if as_pairs:
        pairs: Iterable[Any] = value or ()
        return [tuple(pair) for pair in pairs]
    return copy(default) if value is None else value


def _write(span: Span, value: Any, name: str) -> None:
    data = _user_data(span.doc)
    own = _place(span, name, span.label_)
    data[own if own in data else _place(span, name)] = value


def _read_abbreviations(doc: Doc) -> list[Any]:
    # The detector without `make_serializable` appends its spans to the list that it reads here.
    stored: list[Any] = _user_data(doc).setdefault(ABBREVIATIONS, [])
    if any(isinstance(item, dict) for item in stored):
        return [_of(doc, item) if isinstance(item, dict) else item for item in stored]
    return stored


def _of(doc: Doc, item: dict[str, Any]) -> Abbreviation:
    is_read = isinstance(item, Abbreviation) and item.doc is doc
    return item if is_read else Abbreviation(item, doc)  # type: ignore[return-value]


def _write_abbreviations(doc: Doc, found: list[Any]) -> None:
    _user_data(doc)[ABBREVIATIONS] = found
