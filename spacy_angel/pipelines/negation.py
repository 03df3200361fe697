"""The component `angel_negation`: negspacy's NegEx (Chapman et al., 2001) with terms of notes.

A negation before or after a mention applies up to the end of the sentence, the line, or a term that
ends its scope.
"""

from typing import TYPE_CHECKING

from spacy.language import Language
from spacy.tokens import Span

from ..errors import AngelError, missing_package

if TYPE_CHECKING:
    from negspacy.negation import Negex

# Added to negspacy's clinical terms. A line of a note often ends without a period.
_TERMS = {
    "preceding_negations": ["w/o", "neg for", "nor", "deny", "negative"],
    "termination": [
        *("\n", "\n\n", "\n\n\n", " \n", " \n\n", "\n ", "\n\n "),
        *("presents", "presenting", "presented", "p/w", "admitted", "complains of", "c/o", "s/p"),
        *("reports", "has", "admits to", "positive for", "developed", "now", "today", "currently"),
    ],
}


@Language.factory(
    "angel_negation",
    requires=["doc.sents"],
    assigns=["span._.negated"],
    default_config={"span_key": None},
)
def make_angel_negation(nlp: Language, name: str, span_key: str | None) -> "Negex":
    """Make the component, which sets `span._.negated`.

    nlp (Language): the pipeline; it must set sentence boundaries.
    name (str): the component's name.
    span_key (str | None): the span group with the mentions; None: `doc.ents`.
    RETURNS (Negex): negspacy's component.
    RAISES (AngelError): negspacy is not installed (extra `negation`).
    """
    try:
        from negspacy.negation import Negex
        from negspacy.termsets import LANGUAGES
    except ImportError as error:
        what = "Flagging negated mentions"
        raise AngelError(missing_package(what, "negspacy", "negation")) from error
    terms = {key: [*known, *_TERMS.get(key, ())] for key, known in LANGUAGES["en_clinical"].items()}
    groups = None if span_key is None else [span_key]
    return Negex(nlp, name, terms, extension_name="negated", span_keys=groups)


if not Span.has_extension("negated"):
    Span.set_extension("negated", default=False)
