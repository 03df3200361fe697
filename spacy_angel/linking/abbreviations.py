"""scispaCy's abbreviation detector, as several threads can use it.

scispaCy's own keeps what the document at hand defines in a matcher that all calls share: of two
threads, one meets the other's long forms (`KeyError`). English pipelines get this one under the
same name, `abbreviation_detector`; spaCy takes a language's own factory before a general one.
"""

from copy import copy
from typing import Any

from scispacy.abbreviation import AbbreviationDetector
from spacy.lang.en import English
from spacy.language import Language
from spacy.matcher import Matcher
from spacy.tokens import Doc, Span

from .extensions import read_abbreviations_alike
from .order import warn_of_late_detectors


class SharedAbbreviationDetector(AbbreviationDetector):
    """scispaCy's detector without a state that a call changes.

    nlp (Language), name (str), make_serializable (bool): as scispaCy's.
    """

    def __init__(
        self,
        nlp: Language,
        name: str = "abbreviation_detector",
        make_serializable: bool = False,
    ) -> None:
        super().__init__(nlp, name, make_serializable)
        # until it first runs
        self._nlp: Language | None = nlp
        # scispaCy's registers `doc._.abbreviations` anew.
        read_abbreviations_alike()

    def __call__(self, doc: Doc) -> Doc:
        """doc (Doc): gets `doc._.abbreviations`. RETURNS (Doc): the same."""
        # Another pipeline may have made scispaCy's own detector since.
        read_abbreviations_alike()
        nlp, self._nlp = self._nlp, None
        if nlp is not None:
            warn_of_late_detectors(nlp)
        return super().__call__(doc)

    def find_matches_for(
        self, filtered: list[tuple[Span, Span]], doc: Doc
    ) -> list[tuple[Span, set[Span]]]:
        """filtered (list[tuple[Span, Span]]): candidates for long and short forms. doc (Doc).
        RETURNS (list[tuple[Span, set[Span]]]): long forms with their short ones."""
        if not filtered:
            return []
        own: Any = copy(self)
        own.global_matcher = Matcher(doc.vocab)
        return AbbreviationDetector.find_matches_for(own, filtered, doc)


@English.factory("abbreviation_detector", default_config={"make_serializable": False})
def make_abbreviation_detector(
    nlp: Language, name: str, make_serializable: bool
) -> SharedAbbreviationDetector:
    """The factory `abbreviation_detector` of English pipelines.

    nlp (Language), name (str), make_serializable (bool): as scispaCy's.
    RETURNS (SharedAbbreviationDetector): the component.
    """
    return SharedAbbreviationDetector(nlp, name, make_serializable)
