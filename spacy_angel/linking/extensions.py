"""Attributes on `span._` and `doc._`: the linker's own, and abbreviations as scispaCy's users read
them."""

from collections.abc import Iterable
from functools import partial
from types import SimpleNamespace
from typing import Any

from spacy.tokens import Doc, Span

from ..errors import AngelError, Errors
from .mentions import ABBREVIATIONS
from .settings import LinkerSettings


class Abbreviation(dict[str, Any]):
    """What scispaCy's detector writes with `make_serializable`, read in both of its ways: as that
    dictionary, and as the span that it writes without: `text`, `start`, `end`, `_.long_form`."""

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

    def __str__(self) -> str:
        return self.text


def set_extensions(settings: LinkerSettings) -> None:
    """Register the attributes that a linker writes; those that exist and can be written are used.
    Where an abbreviation detector has registered `doc._.abbreviations`, its dictionaries are read
    as `Abbreviation`.

    settings (LinkerSettings): with the names.
    RAISES (AngelError): another component computes an attribute of that name.
    """
    for setting in ("kb_id_attr", "kb_ents_attr", "candidates_attr"):
        name = getattr(settings, setting)
        if Span.has_extension(name):
            _, method, getter, setter = Span.get_extension(name)
            if method is not None or (getter is not None and setter is None):
                raise AngelError(Errors.E310.format(name=name, setting=setting))
        elif setting == "kb_ents_attr":
            getter, setter = partial(_read_pairs, name=name), partial(_write, name=name)
            Span.set_extension(name, getter=getter, setter=setter)
        else:
            Span.set_extension(name, default="" if setting == "kb_id_attr" else [])
    if Doc.has_extension("abbreviations"):
        _, method, computed, _ = Doc.get_extension("abbreviations")
        if method is None and computed is None:
            Doc.set_extension(
                "abbreviations", getter=_read_abbreviations, setter=_write_abbreviations, force=True
            )


def _user_data(doc: Doc) -> dict[Any, Any]:
    return doc.user_data


def _place(span: Span, name: str) -> tuple[str, str, int, int]:
    """Where spaCy keeps an attribute of a span."""
    return ("._.", name, span.start_char, span.end_char)


def _read_pairs(span: Span, name: str) -> list[tuple[str, float]]:
    """A document that came out of bytes, as from another process, has lists in place of tuples."""
    pairs: Iterable[Any] = _user_data(span.doc).get(_place(span, name), ())
    return [tuple(pair) for pair in pairs]


def _write(span: Span, value: Any, name: str) -> None:
    _user_data(span.doc)[_place(span, name)] = value


def _read_abbreviations(doc: Doc) -> list[Any]:
    # The detector without `make_serializable` appends its spans to the list that it reads here.
    stored: list[Any] = _user_data(doc).setdefault(ABBREVIATIONS, [])
    if any(isinstance(item, dict) for item in stored):
        return [Abbreviation(item) if isinstance(item, dict) else item for item in stored]
    return stored


def _write_abbreviations(doc: Doc, found: list[Any]) -> None:
    _user_data(doc)[ABBREVIATIONS] = found
