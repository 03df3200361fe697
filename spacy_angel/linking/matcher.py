"""The component `angel_matcher`, which finds names of the vocabulary in addition to the mentions
that a recognizer finds."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from rapidfuzz.distance import OSA
from spacy.lang.en.stop_words import STOP_WORDS
from spacy.language import Language
from spacy.tokens import Doc, Span

from ..component.characters import CleanText, clean
from ..component.checked import CheckedSettings, Name
from ..component.pipe import DocumentPipe
from ..component.probability import NAME as PROBABILITY
from ..component.probability import possible_mentions_of, probability_of
from ..errors import AngelError
from ..vocabulary.lookup.words import LONGEST
from ..vocabulary.names.entity_type_table import ENTITY_TYPE_TABLE
from ..vocabulary.names.entity_types import label_of
from ..vocabulary.storage.compiled import COMPILING
from .candidates.names import NameReader
from .linker import AngelLinker
from .longer_names import beside, find_longer_names, is_within

if TYPE_CHECKING:
    from ..vocabulary.kb import ConceptKB
    from ..vocabulary.lookup.dictionary_matcher import DictionaryMatcher, Occurrence

NameChoice = Literal["own", "all", "none"]

NEUTRAL_LABEL = "CONCEPT"

# MeSH names that are among the most frequent words in 2,000 abstracts and are nearly always used in
# their everyday meaning.
_EVERYDAY = (
    "affect association attention base character efficiency goal hand impact intention lead light "
    "method observation orientation others paper play power report respect rest role set solution "
    "suggestion time transfer work"
)
# Names that consist only of these words, in lower case or capitalized, are not matched unless they
# were added.
_STOP_WORDS = frozenset(STOP_WORDS).union(_EVERYDAY.split())

# Words that may be misspelled names. Capitalized words are excluded: they may be names of people
# and places, which are missing from word lists and resemble many words.
_WORD = re.compile(rf"(?<![\w'’-])[a-z]{{6,{LONGEST}}}(?![\w'’-])")
_MIN_CHANGED = 7
# Minimum number of letters and digits in a name, except for added names.
_MIN_LENGTH = 3
_MISSPELLED_LABELS = frozenset(row.name for row in ENTITY_TYPE_TABLE if row.is_word)


class MatcherSettings(CheckedSettings):
    """The settings of `angel_matcher`; the type of each carries its meaning.

    RAISES (AngelError): a value that does not fit; the message names setting, expectation, value.

    names (NameChoice): names to match: `own`, names added with `kb.add` and `kb.add_names`, even
        before the vocabulary was saved; `all`, all names in the vocabulary; `none`, only
        misspelled names
    misspelled (bool): also find misspelled names of diseases and chemicals (`athsma`): words of
        six or more lower-case letters outside other mentions that occur neither in the vocabulary
        nor in biomedical text and are one typo away from a name
    label (Name | None): label of all mentions found; null: the label whose types in the linker's
        `types_by_label` include those of the concept; if that table is empty, one of DISEASE,
        CHEMICAL, GENE, SPECIES, and CELL_LINE; otherwise CONCEPT
    """

    COMPONENT = "angel_matcher"

    names: NameChoice = "own"
    misspelled: bool = False
    label: Name | None = None


class AngelMatcher(DocumentPipe):
    """Finds names in the vocabulary of the next linker after it, including names added while the
    pipeline is in use; extends mentions to longer names, and adds names that the recognizer finds
    possible, see `find_longer_names`. If the linker reads a span group, mentions are added to that
    group.

    nlp (Language): the pipeline, which contains the linker.
    name (str): the component's name.
    settings (MatcherSettings): all other settings, as given in the pipeline's config.
    """

    def __init__(
        self,
        nlp: Language,
        name: str = "angel_matcher",
        *,
        settings: MatcherSettings = MatcherSettings(),  # noqa: B008 (frozen)
    ) -> None:
        self.name = name
        self._nlp = nlp
        self.settings = settings
        self._matcher: tuple[ConceptKB, DictionaryMatcher] | None = None

    @property
    def linker(self) -> AngelLinker | None:
        """RETURNS (AngelLinker | None): the next linker after this component; None if there is
        none."""
        components = [component for _, component in self._nlp.components]
        after = components[components.index(self) + 1 :] if self in components else components
        return next((c for c in after if isinstance(c, AngelLinker)), None)

    def predict(self, docs: Sequence[Doc]) -> list[list[Span]]:
        """Find names without changing the documents.

        docs (Sequence[Doc]): documents.
        RETURNS (list[list[Span]]): the new mentions of each document. They are aligned with tokens,
            and overlap neither each other nor existing mentions that are kept.
        RAISES (AngelError): the pipeline has no linker after this component.
        """
        linker = self.linker
        if linker is None:
            if self.settings.names == "none":
                # The pipeline was loaded without its linker.
                return [[] for _ in docs]
            raise AngelError(
                f"{self.name} needs an angel_linker after it: nlp.add_pipe({self.name!r}, "
                "before='angel_linker')."
            )
        with linker.kb.reading():
            # Includes names that are added by curation rules.
            names = NameReader(linker.effective_kb(), linker.settings)
            return [self._spans(doc, linker, names) for doc in docs]

    def set_annotations(self, docs: Sequence[Doc], spans: Sequence[Sequence[Span]]) -> None:
        """Write mentions to the documents, replacing existing mentions that they overlap.

        docs (Sequence[Doc]): the documents passed to `predict`.
        spans (Sequence[Sequence[Span]]): the result of `predict`.
        """
        key = None if self.linker is None else self.linker.settings.candidates.span_key
        for doc, found in zip(docs, spans, strict=True):
            if not found and (key is None or key in doc.spans):
                continue
            before = _mentions(doc, key)
            possible = possible_mentions_of(doc)
            for span in found:
                around = (one.probability for one in possible if is_within(span, one))
                span._.set(PROBABILITY, next(around, None))
            covered = {token: span for span in found for token in range(span.start, span.end)}
            # An extended mention keeps its probability; of several, that of the first one.
            for mention in reversed(before):
                longer = covered.get(mention.start)
                if longer is not None and longer.label == mention.label:
                    longer._.set(PROBABILITY, probability_of(mention))
            mentions = sorted([*beside(before, found), *found])
            if key is None:
                doc.ents = mentions
            else:
                doc.spans[key] = mentions

    def _spans(self, doc: Doc, linker: AngelLinker, names: NameReader) -> list[Span]:
        kb = names.kb
        mentions = _mentions(doc, linker.settings.candidates.span_key)
        text = clean(doc.text)
        types_by_label = linker.settings.candidates.types_by_label or {}
        found: Iterable[Occurrence] = ()
        if self.settings.names != "none":
            found = self._dictionary(kb).find(text.text)
        labeled = self._labeled_spans(doc, text, found, kb, types_by_label)
        # A name replaces mentions if it contains all of their words and more.
        own = {(m.start, m.end) for m in mentions}
        inner = {token for m in mentions for token in range(m.start + 1, m.end)}
        spans = [
            s for s in labeled if inner.isdisjoint(ends := (s.start, s.end)) and ends not in own
        ]
        spans += beside(find_longer_names(doc, text, mentions, names), spans)
        if self.settings.misspelled:
            found = find_misspelled(text.text, kb)
            labeled = self._labeled_spans(doc, text, found, kb, types_by_label)
            spans += beside(labeled, [*mentions, *spans])
        return sorted(spans)

    def _labeled_spans(
        self,
        doc: Doc,
        text: CleanText,
        found: "Iterable[Occurrence]",
        kb: "ConceptKB",
        types_by_label: Mapping[str, Collection[str]],
    ) -> Iterator[Span]:
        """Turn occurrences of names into labeled spans. Occurrences that are not aligned with
        tokens are skipped; if the text was cleaned, they are expanded to whole tokens instead."""
        end = 0
        for occurrence in found:
            label = self.settings.label
            if label is None:
                types = kb.types_of(kb.concept_ids_of(occurrence.name)[0])
                label = choose_label(types, types_by_label)
            offsets = text.to_source(occurrence.start, occurrence.end)
            mode = "strict" if text.is_clean else "expand"
            span = doc.char_span(*offsets, label=label, alignment_mode=mode)
            # A token may contain two names.
            if span is not None and span.start >= end:
                end = span.end
                yield span

    def _dictionary(self, kb: "ConceptKB") -> "DictionaryMatcher":
        from ..vocabulary.lookup.dictionary_matcher import DictionaryMatcher

        with COMPILING:
            if self._matcher is None or self._matcher[0] is not kb:
                matcher = DictionaryMatcher(
                    kb,
                    everything=self.settings.names == "all",
                    min_length=_MIN_LENGTH,
                    stop_words=_STOP_WORDS,
                )
                self._matcher = kb, matcher
            return self._matcher[1]


def find_misspelled(text: str, kb: "ConceptKB") -> "Iterator[Occurrence]":
    """Find misspelled names of diseases and chemicals: words that occur neither in the vocabulary
    nor in biomedical text and are one typo away from a name. A typo is a change in the order of the
    letters or, in names of seven or more letters, one changed, added or missing letter. The first
    and last letters must be the same.

    text (str): text of a document.
    kb (ConceptKB): the vocabulary.
    YIELDS (Occurrence): a misspelled word and the name it stands for.
    """
    from ..vocabulary.lookup.dictionary_matcher import Occurrence

    for found in _WORD.finditer(text):
        word = found[0]
        meant = kb.words.corrections(word)[0]
        if meant == word or (meant[0], meant[-1]) != (word[0], word[-1]):
            continue
        is_moved = sorted(word) == sorted(meant)
        if not is_moved and (len(meant) < _MIN_CHANGED or OSA.distance(word, meant) > 1):
            continue
        name = kb.name_index(meant)
        is_plural = word[-1] == "s" and kb.words.count(word[:-1]) > 0
        types = () if name is None else kb.types_of(kb.concept_ids_of(name)[0])
        if name is not None and not is_plural and label_of(types) in _MISSPELLED_LABELS:
            yield Occurrence(found.start(), found.end(), name)


def choose_label(types: Sequence[str], types_by_label: Mapping[str, Collection[str]]) -> str:
    """Choose a label under which the linker can link a concept.

    types (Sequence[str]): semantic types of the concept.
    types_by_label (Mapping[str, Collection[str]]): the linker's setting: label → allowed types.
    RETURNS (str): the first label that allows one of the types; if `types_by_label` is empty, the
        entity type of the concept; otherwise a neutral label, which can link to any concept.
    """
    for label, allowed in types_by_label.items():
        if not set(allowed).isdisjoint(types):
            return label
    return NEUTRAL_LABEL if types_by_label else label_of(types) or NEUTRAL_LABEL


def _mentions(doc: Doc, key: str | None) -> list[Span]:
    if key is None:
        return list(doc.ents)
    return list(doc.spans[key]) if key in doc.spans else []
