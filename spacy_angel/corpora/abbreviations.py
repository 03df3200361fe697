"""Detectors for abbreviations defined in a text: scispaCy's, and Ab3P, which the papers used."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

from ..files.table import import_optional

Detector = Callable[[str], list[tuple[str, str]]]
"""Function from a text to pairs of short and long form, in the order of the text."""


@contextmanager
def quiet_scispacy() -> Iterator[None]:
    """Silence W036: scispaCy's matcher is empty and issues this warning for each text without
    abbreviations."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"\[W036\]")
        yield


@cache
def scispacy_detector() -> Detector:
    """Detect abbreviations with scispaCy's detector (Schwartz and Hearst, 2003), using spaCy's
    English tokenizer.

    RETURNS (Detector): text → pairs of short and long form, in the order of the text.
    """
    import spacy
    from scispacy.abbreviation import AbbreviationDetector

    nlp = spacy.blank("en")
    detector = AbbreviationDetector(nlp)

    def detect(text: str) -> list[tuple[str, str]]:
        with quiet_scispacy():
            abbreviations = detector(nlp.make_doc(" ".join(text.split())))._.abbreviations
        abbreviations.sort(key=lambda short: (short._.long_form.start, short.start))
        return list(dict.fromkeys((short.text, short._.long_form.text) for short in abbreviations))

    return detect


@cache
def ab3p_detector() -> Detector:
    """Detect abbreviations with Ab3P (Sohn et al., 2008), which the papers used.

    RETURNS (Detector): text → pairs of short and long form, in the order of the text.
    RAISES (AngelError): if pyab3p is not installed.
    """
    ab3p = import_optional("pyab3p", "ab3p").Ab3p()

    def detect(text: str) -> list[tuple[str, str]]:
        # Ab3P fails on sentences with consecutive spaces and reports this only on stderr.
        abbreviations = ab3p.get_abbrs(" ".join(text.split()))
        return [(item.short_form, item.long_form) for item in abbreviations]

    return detect


DETECTORS: dict[str, Callable[[], Detector]] = {
    "scispacy": scispacy_detector,
    "ab3p": ab3p_detector,
}
