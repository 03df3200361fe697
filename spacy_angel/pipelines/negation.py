"""The context of mentions in notes: negated, uncertain, historical, hypothetical, or about a
relative. The terms are applied by negspacy's NegEx (Chapman et al., 2001); the categories are those
of ConText (Harkema et al., 2009).

A term before or after a mention applies up to the end of the sentence, the line, a semicolon, or a
term that ends its scope. The sections "past medical history" and "family history" apply to all
lines up to the next header. The marks `(-)` and `?` apply to the mention beside them.
"""

import re
from collections.abc import Iterable
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span

from ..files.table import import_optional

CONTEXT = ("negated", "uncertain", "historical", "hypothetical", "experiencer")
"""Columns of a mention; `experiencer` is `patient` or `family`."""

# A line of a note often ends without a period.
_LINE_ENDS = ("\n", "\n\n", "\n\n\n", " \n", " \n\n", "\n ", "\n\n ")
# Added to negspacy's clinical terms.
_TERMS: dict[str, dict[str, tuple[str, ...]]] = {
    "negated": {
        "preceding_negations": (
            *("w/o", "neg for", "nor", "neither", "deny", "unlikely", "lack of", "neg :"),
            *("negative :", "free of", "pertinent negatives"),
        ),
        "following_negations": (
            *(": none", ": negative", ": neg", ": no", ": absent", ": denies", ": denied"),
            *("absent", "is negative", "was negative", "were negative", "ruled out", "not seen"),
        ),
        "pseudo_negations": (
            *("cannot exclude", "could not exclude", "cannot be ruled out", "not able to"),
            *("cannot rule out", "could not rule out"),
            *("could not be ruled out", "to be ruled out", "no relief", "no worsening"),
        ),
        "termination": (
            *("presents", "presenting", "presented", "p/w", "admitted", "complains of", "c/o", "+"),
            *("reports", "has", "admits to", "positive for", "developed", "now", "today", "s/p"),
            *("currently", "(+)", ": positive", ": pos", ": present", ": yes", "due to"),
            "because of",
        ),
    },
    "uncertain": {
        "preceding_negations": (
            *("possible", "possibly", "probable", "probably", "likely", "suspected", "suspicious"),
            *("suspicion of", "suspicion for", "concern for", "concerning for", "evaluate for"),
            *("question of", "questionable", "presumed", "may have", "may be", "might be"),
            "could be",
            *("suggestive of", "suggests", "rule out", "r/o", "ro", "not rule out", "versus"),
            *("vs", "vs.", "cannot exclude", "could not exclude", "to exclude", "suspect"),
            *("differential includes", "differential :", "differential diagnosis", "ddx"),
        ),
        "following_negations": (
            *("is suspected", "was suspected", "is possible", "is likely", "cannot be excluded"),
            *("not excluded", "not ruled out", "not been ruled out", "to be ruled out"),
            *("cannot be ruled out", "could not be ruled out", "versus", "vs", "vs."),
        ),
        "pseudo_negations": (
            *("as soon as possible", "if possible", "less likely to", "not suggestive of"),
            *("not suspicious", "no suspicion of", "no concern for", "not concerning for"),
            *("with differential :", "reason to suspect"),
        ),
        "termination": ("no", "denies", "without", "negative for"),
    },
    "historical": {
        "preceding_negations": (
            *("history of", "h/o", "hx of", "hx :", "prior", "previous", "previously", "s/p"),
            *("status post", "in the past", "past", "pmh", "pmhx"),
        ),
        "following_negations": ("in the past", "years ago", "as a child", "in childhood"),
        "pseudo_negations": ("family history of", "family hx", "history of present illness"),
        "termination": ("presents", "presented", "now", "today", "currently", "admitted"),
    },
    "hypothetical": {
        "preceding_negations": (
            *("if", "return for", "call for", "in case of", "watch for", "as needed for"),
            *("prn", "prn for", "risk of", "risk for", "return to ed for", "return to er for"),
            *("return to the ed for", "monitor for", "screening for"),
        ),
        "pseudo_negations": ("as if",),
    },
    "family": {
        "preceding_negations": (
            *("family history", "mother", "father", "sister", "brother", "aunt", "uncle", "son"),
            *("daughter", "grandmother", "grandfather", "cousin", "parents", "siblings"),
            *("fh", "fhx", "family hx"),
        ),
        "following_negations": ("runs in the family", "in the family"),
        "termination": ("patient", "pt", "he", "she"),
    },
}
# negspacy counts these as negations.
_UNCERTAIN = frozenset(_TERMS["uncertain"]["preceding_negations"])
_SECTIONS = {
    "historical": (
        *("past medical history", "past surgical history", "past history", "medical history"),
        *("pmh", "pmhx", "psh"),
    ),
    "family": ("family history", "family hx", "fh", "fhx"),
}
# A header has a colon or is one of these, and begins a line or follows a sentence.
_LINES = (
    "medications|meds|allergies|social history|hpi|ros|review of systems|vitals|exam|physical exam"
    "|examination|labs|imaging|assessment|plan|a/p|impression|hospital course"
)
_LINES = "|".join((_LINES, *_SECTIONS["historical"], *_SECTIONS["family"]))
_HEADER = re.compile(rf"(?im)(?:^|(?<=[.;]))[ \t]*(?:([a-z][a-z /]{{1,40}}):|({_LINES})[ \t]*$)")
# Marks beside a mention, which is a null character: `(-) fever`, `fever nil`, `| fever | no |`,
# `HIV neg,`, `?PE`.
_NO = r"(no|none|nil|neg(ative)?|absent|denie[sd]|not (seen|present|detected))"
_MARKS = {
    "negated": re.compile(
        r"(?i)(\( ?- ?\)|\b(nil|neg))\s*\0(?!\s*\( ?\+)"
        rf"|\0\s*(\( ?(-|{_NO}) ?\)|nil\b|ha(s|ve) been ruled out)"
        rf"|\0( neg(ative)?| *(\s-|[:=|\t]) *{_NO}) *([|\t\n.,;]|$)"
    ),
    # Not the question mark in `Any pain? Fever`.
    "uncertain": re.compile(r"(^|[\s(,;:])\?\s*\0|\0\?"),
}


class NoteContext:
    """The component that writes `span._.negated`, `uncertain`, `historical`, `hypothetical` and
    `family`, each a truth value.

    nlp (Language): its tokenizer cuts the terms.
    span_key (str | None): the span group with the mentions; None: `doc.ents`.
    RAISES (AngelError): negspacy is not installed (extra `negation`).
    """

    def __init__(self, nlp: Language, span_key: str | None = None) -> None:
        negation = import_optional("negspacy.negation", "negation")
        termsets = import_optional("negspacy.termsets", "negation")
        self.span_key = span_key
        known = termsets.LANGUAGES["en_clinical"]
        keys = None if span_key is None else [span_key]
        self._categories = [
            negation.Negex(nlp, name, _termset(name, known), extension_name=name, span_keys=keys)
            for name in _TERMS
        ]

    def __call__(self, doc: Doc) -> Doc:
        """doc (Doc): with sentences and mentions; their attributes are set. RETURNS (Doc): it."""
        for category in self._categories:
            category(doc)
        spans = doc.ents if self.span_key is None else doc.spans.get(self.span_key, ())
        _set_sections(doc, spans)
        _set_marks(doc, spans)
        return doc


@Language.factory(
    "angel_negation",
    requires=["doc.sents"],
    assigns=[f"span._.{name}" for name in _TERMS],
    default_config={"span_key": None},
)
def make_angel_negation(nlp: Language, name: str, span_key: str | None) -> NoteContext:
    """Make the component, which sets `span._.negated` and the others.

    nlp (Language): the pipeline; it must set sentence boundaries.
    name (str): the component's name.
    span_key (str | None): the span group with the mentions; None: `doc.ents`.
    RETURNS (NoteContext): the component.
    RAISES (AngelError): negspacy is not installed (extra `negation`).
    """
    return NoteContext(nlp, span_key)


def context_of(span: Span) -> dict[str, Any]:
    """span (Span): that `NoteContext` has seen. RETURNS (dict[str, Any]): a value for each name of
    `CONTEXT`."""
    values = {name: bool(span._.get(name)) for name in CONTEXT[:-1]}
    return {**values, "experiencer": "family" if span._.family else "patient"}


def context_note(span: Span) -> str:
    """span (Span): that `NoteContext` has seen. RETURNS (str): what holds, e.g. `negated, family`;
    empty for a plain statement about the patient."""
    return ", ".join(name for name in _TERMS if span._.get(name))


def _termset(name: str, known: dict[str, list[str]]) -> dict[str, list[str]]:
    """known (dict[str, list[str]]): negspacy's terms. RETURNS (dict[str, list[str]]): the terms of
    a category, with the ends of scopes that all share."""
    terms: dict[str, list[str]] = {key: list(_TERMS[name].get(key, ())) for key in known}
    terms["termination"] += [*known["termination"], *_LINE_ENDS, ";"]
    if name == "negated":
        for key in ("pseudo_negations", "preceding_negations", "following_negations"):
            terms[key] += [term for term in known[key] if term not in _UNCERTAIN]
    return terms


def _set_sections(doc: Doc, spans: Iterable[Span]) -> None:
    headers = list(_HEADER.finditer(doc.text))
    borders = [*(header.start() for header in headers), len(doc.text)]
    for header, end in zip(headers, borders[1:], strict=True):
        for category, names in _SECTIONS.items():
            if (header[1] or header[2]).strip().lower() in names:
                for span in spans:
                    if header.end() <= span.start_char < end:
                        span._.set(category, True)


def _set_marks(doc: Doc, spans: Iterable[Span]) -> None:
    text = doc.text
    for span in spans:
        start, end = span.start_char, span.end_char
        beside = f"{text[max(start - 9, 0) : start]}\0{text[end : end + 25]}"
        for category in (name for name, mark in _MARKS.items() if mark.search(beside)):
            span._.set(category, True)


for _name in _TERMS:
    if not Span.has_extension(_name):
        Span.set_extension(_name, default=False)
