"""Whether a note says that a mention is negated, past, or of the patient's family.

Three negspacy components follow the linker, each with its own terms and its own span attribute:
NegEx (Chapman et al., 2001) for negation, and the same rule for history and family, as in ConText
(Harkema et al., 2009). A term before or after a mention applies up to the end of the sentence, the
line, or a term that ends its scope.
"""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..errors import AngelError, missing_package

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Span

# spaCy imports this module with every pipeline, so that saved ones with `negex` can be opened.
NEGEX = "negex"
with suppress(ImportError):
    import negspacy.negation  # noqa: F401  # registers the component

FLAGS = ("negated", "historical", "family")
"""Span attributes, and the names of the components that write them."""

# A line of a note often ends without a period.
_LINES = ["\n", "\n\n", "\n\n\n", " \n", " \n\n", "\n ", "\n\n "]
_PRESENT = [
    *("but", "however", "although", "though", "except", "presents", "presenting", "presented"),
    *("p/w", "admitted", "complains of", "c/o", "reports", "has", "admits to", "positive for"),
    *("developed", "now", "today", "currently", "started on"),
]
_NEGATIONS = {
    "preceding_negations": ["w/o", "neg for", "nor", "deny", "no known", "negative"],
    "termination": [*_LINES, *_PRESENT, "s/p"],
}
_HISTORY = {
    "pseudo_negations": [
        *("history of present illness", "social history", "family history", "family hx"),
        *("history and physical", "no history of", "no h/o", "no hx of"),
    ],
    "preceding_negations": [
        *("history of", "h/o", "hx of", "hx", "pmh", "pmhx", "past medical history"),
        *("past history", "medical history", "s/p", "status post", "previous", "previously"),
        *("prior", "past", "remote", "childhood"),
    ],
    "following_negations": ["in the past", "years ago", "months ago", "in childhood", "resolved"],
    "termination": [*_LINES, *_PRESENT, "due to", "2/2"],
}
_FAMILY = {
    "pseudo_negations": ["lives with", "mother and child"],
    "preceding_negations": [
        *("family history", "family hx", "family", "fh", "fhx", "mother", "father", "brother"),
        *("brothers", "sister", "sisters", "sibling", "siblings", "son", "daughter", "parents"),
        *("aunt", "uncle", "cousin", "grandmother", "grandfather", "maternal", "paternal"),
    ],
    "following_negations": [
        *("in his father", "in her father", "in his mother", "in her mother", "in his family"),
        *("in her family", "in the family", "runs in the family"),
    ],
    "termination": [*_LINES, "but", "however", "patient", "pt", "she has", "he has"],
}


def add_context(nlp: "Language", span_key: str | None = None) -> None:
    """Add the components that write `span._.negated`, `span._.historical` and `span._.family`.

    nlp (Language): gets the components at its end; must have sentences.
    span_key (str | None): the span group with the mentions; None: `doc.ents`.
    RAISES (AngelError): negspacy is not installed (extra `negation`).
    """
    try:
        from negspacy.termsets import LANGUAGES
    except ImportError as error:
        raise AngelError(missing_package("add_context", "negspacy", "negation")) from error
    clinical = LANGUAGES["en_clinical"]
    negations = {key: sorted({*clinical[key], *_NEGATIONS.get(key, ())}) for key in clinical}
    for flag, termset in zip(FLAGS, (negations, _HISTORY, _FAMILY), strict=True):
        config: dict[str, Any] = {"neg_termset": termset, "extension_name": flag}
        if span_key is not None:
            config["span_keys"] = [span_key]
        nlp.add_pipe(NEGEX, name=flag, config=config)


def flags_of(span: "Span") -> tuple[str, ...]:
    """span (Span): of a document that went through the components. RETURNS (tuple[str, ...]):
    its attributes of `FLAGS` that are true, e.g. `("negated", "family")`."""
    return tuple(flag for flag in FLAGS if span._.get(flag))
