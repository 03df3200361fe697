"""spaCy's factory `abbreviation_detector`, which scispaCy registers, but declares nowhere."""

from typing import TYPE_CHECKING

from spacy.lang.en import English
from spacy.language import Language

from ...component.deferred import defer_factory, import_or_say

if TYPE_CHECKING:
    from .detector import LinearAbbreviationDetector

_NAME = "abbreviation_detector"
_MODULE = "scispacy.abbreviation"


# English has a factory of its own, so that a pipeline is the same whether or not a program imports
# scispaCy's module, which registers its class for all languages.
@English.factory(_NAME)
def make_abbreviation_detector(
    nlp: Language, name: str, make_serializable: bool = False
) -> "LinearAbbreviationDetector":
    """The factory of English pipelines: scispaCy's detector, bounded.

    nlp (Language): the pipeline.
    name (str): the component's name in it.
    make_serializable (bool): `doc._.abbreviations` are dictionaries, which documents that are
        saved, or come from another process, can hold, in the place of spans.
    RETURNS (LinearAbbreviationDetector): the component.
    RAISES (AngelError): scispaCy is not installed.
    """
    import_or_say(
        _MODULE,
        "abbreviation_detector needs the package scispacy: pip install 'scispacy>=0.6.2,<0.7'.",
    )
    from .detector import LinearAbbreviationDetector

    return LinearAbbreviationDetector(nlp, name, make_serializable)


defer_factory(
    _NAME,
    _MODULE,
    "AbbreviationDetector",
    "abbreviation_detector needs the package scispacy: pip install 'scispacy>=0.6.2,<0.7'.",
)
