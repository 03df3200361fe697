"""scispaCy's abbreviation detector, in time linear in the length of a text.

scispaCy matches each opening bracket of a document with each closing one behind it, however far
apart, although it keeps only pairs with at most eight words between them; and it searches the
document for short forms with spaCy's `Matcher`, which tries all of its patterns at each token. Ten
thousand brackets, or some thousand definitions, take minutes. Here only near brackets are paired,
and short forms are looked up by their words, so that several threads can use one detector. What is
a definition, scispaCy decides.
"""

import warnings
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scispacy.abbreviation import AbbreviationDetector, filter_matches, find_abbreviation
from spacy.attrs import ORTH
from spacy.language import Language
from spacy.tokens import Doc, Span

from ...component.characters import clean
from ...component.view import in_document, view
from ...errors import AngelWarning
from .reading import register_abbreviations

# As in scispaCy's `filter_matches`.
_MAX_WORDS = 8


class LinearAbbreviationDetector(AbbreviationDetector):
    """scispaCy's detector, bounded: it writes its pairs in the same way into `doc._.abbreviations`
    and `span._.long_form`, except for those that reach from one sentence into another. A short form
    may be defined twice, and the initials of whole words come first.

    nlp (Language): the pipeline.
    name (str): the component's name.
    make_serializable (bool): write plain values, which `DocBin` and several processes need, in
        place of spans.
    """

    def __init__(
        self,
        nlp: Language,
        name: str = "angel_abbreviations",
        make_serializable: bool = False,
    ) -> None:
        super().__init__(nlp, name, make_serializable)
        # until it first runs
        self._nlp: Language | None = nlp
        # scispaCy's registers `doc._.abbreviations` anew.
        register_abbreviations()

    def __call__(self, doc: Doc) -> Doc:
        """Find the abbreviations of one document.

        doc (Doc): changed in place; what has noise is seen as it is read, and written on the
            document's own tokens.
        RETURNS (Doc): the same.
        """
        # Another pipeline may have made scispaCy's own detector since.
        register_abbreviations()
        nlp, self._nlp = self._nlp, None
        if nlp is not None:
            _warn_of_late_detectors(nlp)
        text = clean(doc.text)
        seen = doc if text.is_clean else view(doc, text)
        within = [(match, start + 1, end - 1) for match, start, end in near_brackets(seen)]
        long_forms: dict[Span, Span] = {}
        for long, shorts in self.find_matches_for(filter_matches(within, seen), seen):
            long_form, *places = [long, *shorts]
            if seen is not doc:
                long_form, *places = in_document(doc, text, [long, *shorts])
            for short in places:
                # Two short forms may stand in one token.
                long_forms.setdefault(short, long_form)
        for short, long in long_forms.items():
            short._.long_form = long
        found: list[Any] = sorted(long_forms)
        if self.make_serializable:
            found = list(map(self.make_short_form_serializable, found))
        # Once: a linker has the list looked through whenever it is read.
        doc._.abbreviations = found
        return doc

    def find_matches_for(
        self, filtered: list[tuple[Span, Span]], doc: Doc
    ) -> list[tuple[Span, set[Span]]]:
        """Definitions among candidates, and where their short forms stand.

        filtered (list[tuple[Span, Span]]): candidates for a long and a short form each, as
            scispaCy's `filter_matches` gives them.
        doc (Doc): where they stand.
        RETURNS (list[tuple[Span, set[Span]]]): long forms, each with all places of its short form;
            of equal long forms the first counts. A short form that is defined again has its new
            meaning from there on. Long and short form stand in one sentence, as Schwartz and
            Hearst (2003) have it.
        """
        found: dict[Span, set[Span]] = {}
        seen_long: set[str] = set()
        words: list[int] = doc.to_array(ORTH).tolist()
        meant: dict[tuple[int, ...], list[tuple[int, Span]]] = {}
        for long_candidate, short in filtered:
            long = (
                _by_initials(long_candidate, short) or find_abbreviation(long_candidate, short)[1]
            )
            if long is None or not _is_in_one_sentence(long, short):
                continue
            definitions = meant.get(tuple(words[short.start : short.end]), [])
            if long.text not in seen_long:
                seen_long.add(long.text)
                definitions.append((min(long.start, short.start), long))
                meant[tuple(words[short.start : short.end])] = definitions
                found[long] = {short}
        for start, end, long in _places(words, meant):
            found[long].add(doc[start:end])
        return list(found.items())


def near_brackets(doc: Doc) -> list[tuple[int, int, int]]:
    """Pairs of brackets that can hold a definition.

    doc (Doc): a document.
    RETURNS (list[tuple[int, int, int]]): as spaCy's `Matcher` gives matches, and in its order: 0,
        the place of an opening bracket, the place behind a closing one, with one to eight words
        between; of `( ( a )` (0, 1, 4) and (0, 0, 4).
    """
    opening, closing = (doc.vocab.strings.add(mark) for mark in "()")
    matches: list[tuple[int, int, int]] = []
    opened: deque[int] = deque()
    for i, word in enumerate(doc.to_array(ORTH).tolist()):
        if word == closing:
            while opened and i - opened[0] - 1 > _MAX_WORDS:
                opened.popleft()
            matches += [(0, start, i + 1) for start in reversed(opened) if i - start > 1]
        elif word == opening:
            opened.append(i)
    return matches


def _by_initials(candidate: Span, short: Span) -> Span | None:
    """`malignant mesothelioma (MM)`: scispaCy finds both letters in the last word.

    RETURNS (Span | None): the last words of a candidate whose initials are the short form.
    """
    letters = short.text.lower()
    words = candidate[-len(letters) :]
    is_beside = candidate.end < short.start and short.text.isupper()
    initials = "".join(token.text[0].lower() for token in words)
    return words if is_beside and letters.isalpha() and initials == letters else None


def _places(
    words: Sequence[int], meant: Mapping[tuple[int, ...], Sequence[tuple[int, Span]]]
) -> Iterator[tuple[int, int, Span]]:
    """YIELDS (tuple[int, int, Span]): where the words of a short form stand, and what it means
    there: by the last definition before, or else by the first one."""
    lengths = sorted({len(short) for short in meant})
    for start in range(len(words) if lengths else 0):
        for length in lengths:
            definitions = meant.get(tuple(words[start : start + length]), ())
            if definitions:
                before = (long for place, long in reversed(definitions) if place <= start)
                yield start, start + length, next(before, definitions[0][1])


def _is_in_one_sentence(long: Span, short: Span) -> bool:
    """Where sentences are not marked, everything is in one."""
    between = long.doc[min(long.start, short.start) + 1 : max(long.end, short.end)]
    return not any(token.is_sent_start for token in between)


def _warn_of_late_detectors(nlp: Language) -> None:
    """Warn of linkers that come before the detector."""
    before: list[str] = []
    for name in nlp.pipe_names:
        factory = nlp.get_pipe_meta(name).factory
        if factory == "angel_linker":
            before.append(name)
        elif factory in ("angel_abbreviations", "abbreviation_detector"):  # ours, scispaCy's
            for linker in before:
                warnings.warn(
                    f"{name} must come before {linker}: nlp.add_pipe(..., before={linker!r}).",
                    AngelWarning,
                    stacklevel=3,
                )
            # One detector before the linkers is enough.
            return
