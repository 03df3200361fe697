"""Flag mentions that a note negates, with negspacy's NegEx (Chapman et al., 2001).

A negation before or after a mention applies up to the end of the sentence, the line, or a term that
ends its scope.
"""

from contextlib import suppress

from spacy.language import Language

from ..errors import AngelError, missing_package

# spaCy imports this module with every pipeline, so that saved ones with `negex` can be opened.
with suppress(ImportError):
    import negspacy.negation  # noqa: F401  # registers the component

# Added to negspacy's clinical terms. A line of a note often ends without a period.
_TERMS = {
    "preceding_negations": ["w/o", "neg for", "nor", "deny", "negative"],
    "termination": [
        *("\n", "\n\n", "\n\n\n", " \n", " \n\n", "\n ", "\n\n "),
        *("presents", "presenting", "presented", "p/w", "admitted", "complains of", "c/o", "s/p"),
        *("reports", "has", "admits to", "positive for", "developed", "now", "today", "currently"),
    ],
}


def add_negation(nlp: Language, span_key: str | None = None) -> None:
    """Add the component `negated`, which writes `span._.negated`.

    nlp (Language): gets the component at its end; must have sentences.
    span_key (str | None): the span group with the mentions; None: `doc.ents`.
    RAISES (AngelError): negspacy is not installed (extra `negation`).
    """
    try:
        from negspacy.termsets import LANGUAGES
    except ImportError as error:
        what = "Flagging negated mentions"
        raise AngelError(missing_package(what, "negspacy", "negation")) from error
    terms = {key: [*known, *_TERMS.get(key, ())] for key, known in LANGUAGES["en_clinical"].items()}
    groups = None if span_key is None else [span_key]
    config = {"neg_termset": terms, "extension_name": "negated", "span_keys": groups}
    nlp.add_pipe("negex", name="negated", config=config)
