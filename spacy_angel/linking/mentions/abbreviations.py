"""spaCy's factory `angel_abbreviations`."""

from typing import TYPE_CHECKING

from spacy.language import Language

from ...errors import AngelError

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
    RAISES (AngelError): scispaCy is not installed.
    """
    try:
        from .detector import LinearAbbreviationDetector
    except ImportError as error:
        raise AngelError(
            "angel_abbreviations needs scispaCy, which has no release for Python 3.13 yet. Install "
            "it there with: pip install --no-deps --ignore-requires-python 'scispacy>=0.6.2,<0.7'"
        ) from error
    return LinearAbbreviationDetector(nlp, name, make_serializable)
