"""scispaCy's abbreviation detector, with a running time that is linear in the length of the text.

scispaCy pairs each opening parenthesis with every later closing one, at any distance, although it
only keeps pairs with at most eight words between them. It also searches for short forms with
spaCy's `Matcher`, which tries every pattern at every token. Ten thousand parentheses, or several
thousand definitions, take minutes. This detector only pairs nearby parentheses and looks up short
forms by their words, so that several threads can share a detector. It uses scispaCy's algorithm to
identify definitions.
"""

import re
from bisect import insort
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from scispacy.abbreviation import AbbreviationDetector, filter_matches, find_abbreviation
from spacy.attrs import ORTH
from spacy.language import Language
from spacy.tokens import Doc, Span

from ...component.characters import clean
from ...component.view import in_document, view
from .reading import register_abbreviations

# As in scispaCy's `filter_matches`.
_MAX_WORDS = 8
_MAX_SHORT_WORDS = 3
_END = frozenset(";,")
_MAX_LETTERS = 6
# `CPs` is a short form if `CP` is one, and the reverse.
_PLURAL = re.compile(r"(?<=[A-Z]{2})s$")


class LinearAbbreviationDetector(AbbreviationDetector):
    """scispaCy's detector in linear time. Like the original, it writes its results to
    `doc._.abbreviations` and `span._.long_form`. Unlike the original, it ignores definitions that
    cross a sentence boundary, allows a short form to be redefined, and prefers long forms whose
    initials make up the short form. It also finds definitions in square brackets or followed by
    other text, e.g. `[MS]` and `(MS; n = 12)`, and long forms of one to three words in brackets,
    e.g. `MS (mitral stenosis)`.

    nlp (Language): the pipeline.
    name (str): the component's name.
    make_serializable (bool): write plain values instead of spans, as required by `DocBin` and
        multiprocessing.
    """

    def __init__(
        self,
        nlp: Language,
        name: str = "angel_abbreviations",
        make_serializable: bool = False,
    ) -> None:
        super().__init__(nlp, name, make_serializable)
        # scispaCy's constructor has overwritten `doc._.abbreviations`.
        register_abbreviations()

    def __call__(self, doc: Doc) -> Doc:
        """Find the abbreviations of a document.

        doc (Doc): the document, changed in place. Abbreviations are detected in its cleaned text,
            and written to the original tokens.
        RETURNS (Doc): the same document.
        """
        # Another pipeline may have created scispaCy's own detector in the meantime.
        register_abbreviations()
        text = clean(doc.text)
        seen = doc if text.is_clean else view(doc, text)
        # Up to a comma or semicolon.
        within = [
            (
                0,
                start + 1,
                next((i for i in range(start + 2, end) if seen[i].text in _END), end - 1),
            )
            for _, start, end in near_brackets(seen)
        ]
        long_forms: dict[Span, Span] = {}
        for long, shorts in self.find_matches_for(
            filter_matches(within, seen) + _reversed_definitions(within, seen), seen
        ):
            forms = [long, *shorts]
            long_form, *short_forms = forms if seen is doc else in_document(doc, text, forms)
            for short in short_forms:
                # A token may contain two short forms.
                long_forms.setdefault(short, long_form)
        for short, long in long_forms.items():
            short._.long_form = long
        found: list[Any] = sorted(long_forms)
        if self.make_serializable:
            found = list(map(self.make_short_form_serializable, found))
        # Assign the list once: every read of the attribute scans it.
        doc._.abbreviations = found
        return doc

    def find_matches_for(
        self, filtered: list[tuple[Span, Span]], doc: Doc
    ) -> list[tuple[Span, set[Span]]]:
        """Find the definitions among the candidates, and all occurrences of their short forms.

        filtered (list[tuple[Span, Span]]): candidate pairs of a long and a short form, as returned
            by scispaCy's `filter_matches`.
        doc (Doc): the document that contains them.
        RETURNS (list[tuple[Span, set[Span]]]): each long form with all occurrences of its short
            form; only the first of several equal long forms is used. If a short form is redefined,
            the new meaning applies from that point on. Long and short form must be in the same
            sentence, as in Schwartz and Hearst (2003).
        """
        found: dict[Span, set[Span]] = {}
        seen_long: set[str] = set()
        words = [_PLURAL.sub("", token.text) for token in doc]
        meant: dict[tuple[str, ...], list[tuple[int, Span]]] = {}
        for long_candidate, short in filtered:
            long = (
                _by_initials(long_candidate, short)
                or find_abbreviation(long_candidate, short)[1]
                or _by_initials(long_candidate, short, sorted)
            )
            # `times [<5 times for patients with liver metastasis]` is no definition.
            is_word = short.text.islower() and short.start < long_candidate.start
            if long is None or is_word or not _is_in_one_sentence(long, short):
                continue
            definitions = meant.get(tuple(words[short.start : short.end]), [])
            if long.text not in seen_long:
                seen_long.add(long.text)
                insort(definitions, (min(long.start, short.start), long), key=itemgetter(0))
                meant[tuple(words[short.start : short.end])] = definitions
                found[long] = {short}
        for start, end, long in _occurrences(words, meant):
            found[long].add(doc[start:end])
        return list(found.items())


def near_brackets(doc: Doc) -> list[tuple[int, int, int]]:
    """Find pairs of brackets that may enclose an abbreviation or its long form.

    doc (Doc): a document.
    RETURNS (list[tuple[int, int, int]]): matches in the format and order of spaCy's `Matcher`: 0,
        the index of an opening bracket, and the index after a closing one, with one to eight tokens
        in between; (0, 1, 4) and (0, 0, 4) for `( ( a )`.
    """
    opening, closing = ({doc.vocab.strings.add(mark) for mark in marks} for marks in ("([", ")]"))
    matches: list[tuple[int, int, int]] = []
    opened: deque[int] = deque()
    for i, word in enumerate(doc.to_array(ORTH).tolist()):
        if word in closing:
            while opened and i - opened[0] - 1 > _MAX_WORDS:
                opened.popleft()
            matches += [(0, start, i + 1) for start in reversed(opened) if i - start > 1]
        elif word in opening:
            opened.append(i)
    return matches


def _reversed_definitions(
    within: Sequence[tuple[int, int, int]], doc: Doc
) -> list[tuple[Span, Span]]:
    """Find candidates for definitions in which a long form of up to three words follows the short
    form, e.g. `MS (mitral stenosis)`. scispaCy only considers longer ones.

    RETURNS (list[tuple[Span, Span]]): pairs of a long and a short form, in the format of
        `filter_matches`.
    """
    pairs = []
    for _, start, end in within:
        if start < 2 or end - start > _MAX_SHORT_WORDS:
            continue
        long, short = doc[start:end], doc[start - 2 : start - 1]
        letters = short.text
        is_short = letters.isalpha() and sum(map(str.isupper, letters)) > 1
        if is_short and len(letters) <= _MAX_LETTERS and long[0].text[1:].islower():
            pairs.append((long, short))
    return pairs


def _by_initials(
    candidate: Span, short: Span, arrange: Callable[[str], Sequence[str]] = str
) -> Span | None:
    """Find a long form by its initials. In `malignant mesothelioma (MM)`, scispaCy's algorithm
    finds both letters in the last word.

    candidate (Span): text beside a short form.
    short (Span): the short form.
    arrange (Callable): applied to both before they are compared: `sorted` for `myotonic dystrophy
        (DM)`.
    RETURNS (Span | None): the words of the candidate beside the short form, if their initials
        make up the short form.
    """
    letters = short.text.lower()
    is_before = candidate.end < short.start
    words = candidate[-len(letters) :] if is_before else candidate[: len(letters)]
    initials = "".join(token.text[0].lower() for token in words)
    is_form = short.text.isupper() and letters.isalpha()
    return words if is_form and arrange(initials) == arrange(letters) else None


def _occurrences(
    words: Sequence[str], meant: Mapping[tuple[str, ...], Sequence[tuple[int, Span]]]
) -> Iterator[tuple[int, int, Span]]:
    """YIELDS (tuple[int, int, Span]): start and end of each occurrence of a short form, and its
    long form according to the last definition before it, or else the first definition."""
    lengths = sorted({len(short) for short in meant})
    for start in range(len(words) if lengths else 0):
        for length in lengths:
            definitions = meant.get(tuple(words[start : start + length]), ())
            if definitions:
                before = (long for index, long in reversed(definitions) if index <= start)
                yield start, start + length, next(before, definitions[0][1])


def _is_in_one_sentence(long: Span, short: Span) -> bool:
    """Without sentence boundaries, the whole document counts as one sentence."""
    between = long.doc[min(long.start, short.start) + 1 : max(long.end, short.end)]
    return not any(token.is_sent_start for token in between)
