"""What a note says about a mention: that it is negated, past, or another person's.

Three negspacy components behind the linker, each with terms of its own and a span attribute of its
own: NegEx (Chapman et al., 2001) for negation, and the same rule for history and family, as ConText
does (Harkema et al., 2009). A term before a mention, or one behind it, counts up to the end of the
sentence, the line, or a term that ends it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import AngelError

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Span

FLAGS = ("negated", "historical", "family")
"""Span attributes, and the names of the components that write them."""

# A sentence of a note may have no stop at the end of its line.
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
        import negspacy.negation  # noqa: F401  # registers its component
        from negspacy.termsets import LANGUAGES
    except ImportError as error:
        raise AngelError(
            "Negation, history and family need the package negspacy: pip install "
            "'spacy-angel[negation]'."
        ) from error
    clinical = LANGUAGES["en_clinical"]
    terms: tuple[dict[str, Any], ...] = (
        {key: sorted({*clinical[key], *_NEGATIONS.get(key, ())}) for key in clinical},
        _HISTORY,
        _FAMILY,
    )
    for flag, termset in zip(FLAGS, terms, strict=True):
        config: dict[str, Any] = {"neg_termset": termset, "extension_name": flag}
        if span_key is not None:
            config["span_keys"] = [span_key]
        nlp.add_pipe("negex", name=flag, config=config)


def flags_of(span: "Span", flags: Sequence[str] = FLAGS) -> tuple[str, ...]:
    """span (Span): of a document that went through the components. RETURNS (tuple[str, ...]):
    those of the flags that are raised, e.g. `("negated", "family")`."""
    return tuple(flag for flag in flags if span._.get(flag))
