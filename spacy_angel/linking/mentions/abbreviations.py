"""`doc._.abbreviations`, and the factory `abbreviation_detector` of English pipelines."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from spacy.lang.en import English
from spacy.language import Language
from spacy.tokens import Doc

from .reading import ABBREVIATIONS

if TYPE_CHECKING:
    from .detector import LinearAbbreviationDetector


class Abbreviation(dict[str, Any]):
    """A dictionary as scispaCy's detector writes it with `make_serializable`, which can also be
    used as the span that the detector writes without: it has the span's attributes (`text`,
    `start`, `sent`, …) and `_.long_form`, a string.

    item (dict[str, Any]): `short_text`, `short_start`, `short_end`, `long_text` and more.
    doc (Doc): the document.
    """

    def __init__(self, item: dict[str, Any], doc: Doc) -> None:
        super().__init__(item)
        self.span = doc[item["short_start"] : item["short_end"]]

    @property
    def _(self) -> SimpleNamespace:
        """RETURNS (SimpleNamespace): `long_form`, a string."""
        return SimpleNamespace(long_form=self["long_text"])

    def __getattr__(self, name: str) -> Any:
        if name == "span" or name.startswith("__"):
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        return getattr(self.span, name)

    def __str__(self) -> str:
        return self["short_text"]


def register_abbreviations() -> None:
    """Register the attribute, so that its dictionaries are read as `Abbreviation`, also in a
    process without a detector. Every detector of scispaCy's that is made registers it again."""
    if Doc.has_extension("abbreviations"):
        _, method, getter, _ = Doc.get_extension("abbreviations")
        if method is not None or getter is not None:
            return
    Doc.set_extension("abbreviations", getter=_read, setter=_write, force=True)


def _read(doc: Doc) -> list[Any]:
    data: dict[Any, Any] = doc.user_data
    # Without `make_serializable`, the detector appends its spans to the list that it reads here.
    stored: list[Any] = data.setdefault(ABBREVIATIONS, [])
    if any(isinstance(item, dict) for item in stored):
        return [Abbreviation(item, doc) if isinstance(item, dict) else item for item in stored]
    return stored


def _write(doc: Doc, found: list[Any]) -> None:
    data: dict[Any, Any] = doc.user_data
    data[ABBREVIATIONS] = [dict(one) if isinstance(one, dict) else one for one in found]


# For English alone: scispaCy's module registers its own for all languages when it is imported.
@English.factory("abbreviation_detector")
def make_abbreviation_detector(
    nlp: Language, name: str, make_serializable: bool = False
) -> "LinearAbbreviationDetector":
    """The factory: scispaCy's detector, in linear time.

    nlp (Language): the pipeline.
    name (str): the component's name in it.
    make_serializable (bool): write dictionaries instead of spans, which `DocBin` and several
        processes need.
    RETURNS (LinearAbbreviationDetector): the component.
    """
    from .detector import LinearAbbreviationDetector

    return LinearAbbreviationDetector(nlp, name, make_serializable)
