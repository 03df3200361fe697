"""`doc._.abbreviations`, as scispaCy's users read it."""

from types import SimpleNamespace
from typing import Any

from spacy.tokens import Doc

from .reading import ABBREVIATIONS


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


def register_abbreviations() -> None:
    """Register the attribute, so that documents of another process can be read before there is a
    detector. What a detector registered is read as `Abbreviation`."""
    if Doc.has_extension("abbreviations"):
        read_as_abbreviations()
    else:
        _register()


def read_as_abbreviations() -> None:
    """Where an abbreviation detector has registered `doc._.abbreviations`, which it does anew with
    every one that is made, have its dictionaries read as `Abbreviation`."""
    if Doc.has_extension("abbreviations"):
        _, method, computed, _ = Doc.get_extension("abbreviations")
        if method is None and computed is None:
            _register()


def _register() -> None:
    Doc.set_extension(
        "abbreviations", getter=_read_abbreviations, setter=_write_abbreviations, force=True
    )


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


def _user_data(doc: Doc) -> dict[Any, Any]:
    return doc.user_data
