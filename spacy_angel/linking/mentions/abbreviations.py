"""spaCy's factory `abbreviation_detector` of English pipelines."""

from typing import TYPE_CHECKING

from spacy.lang.en import English
from spacy.language import Language

if TYPE_CHECKING:
    from .detector import LinearAbbreviationDetector


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
