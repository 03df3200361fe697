"""spaCy's factory `angel_abbreviations`."""

from typing import TYPE_CHECKING

from spacy.language import Language

if TYPE_CHECKING:
    from .detector import LinearAbbreviationDetector


@Language.factory("angel_abbreviations")
def make_angel_abbreviations(
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
