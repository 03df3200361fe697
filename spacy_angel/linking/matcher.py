"""The component `angel_matcher`, which finds names of the vocabulary in addition to the mentions
that a recognizer finds."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from rapidfuzz.distance import OSA
from spacy.lang.en.stop_words import STOP_WORDS
from spacy.language import Language
from spacy.tokens import Doc, Span, Token

from ..component.characters import CleanText, clean
from ..component.checked import CheckedSettings, Name
from ..component.pipe import DocumentPipe
from ..component.probability import NAME as PROBABILITY
from ..component.probability import PossibleMention, possible_mentions_of, probability_of
from ..errors import AngelError
from ..vocabulary.lookup.words import LONGEST, common_words
from ..vocabulary.names.entity_type_table import ENTITY_TYPE_TABLE
from ..vocabulary.names.entity_types import is_disease, label_of
from ..vocabulary.names.labels import wider_entity_types_of
from ..vocabulary.storage.compiled import COMPILING
from .candidates.names import NameReader
from .linker import AngelLinker

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
_MAX_ADDED = 4  # tokens on either side
_MAX_WORDS = 6  # tokens of a possible name
# Not a number alone, which may be a value: `albumin 1`; or an enzyme: `lactate dehydrogenase`.
_TYPE = re.compile(
    r"[IVX]{1,4}[ABC]?|[A-E]|(?:type|stage|grade|class) (?:[IVX]{1,4}|\d{1,2}|[A-E])[A-Ea-e]?"
    r"|(?i:[a-z]{4,}ases?)"
)
_CONJUNCTIONS = frozenset(("and", "or", "and/or", "/", "&"))
_MAX_BETWEEN = 3  # tokens between two coordinated mentions
_BORDER = re.compile(r"[()\[\],;:.|\n<>&*_]")
_BRAND = re.compile(r"[A-Z][a-z]{5,}")
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
    pipeline is in use; extends mentions to longer names, see `_longer_names`; and adds names that
    the recognizer finds possible, see `_possible_names`. If the linker reads a span group, mentions
    are added to that group.

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
                around = (one.probability for one in possible if _is_within(span, one))
                span._.set(PROBABILITY, next(around, None))
            covered = {token: span for span in found for token in range(span.start, span.end)}
            # An extended mention keeps its probability; of several, that of the first one.
            for mention in reversed(before):
                longer = covered.get(mention.start)
                if longer is not None and longer.label == mention.label:
                    longer._.set(PROBABILITY, probability_of(mention))
            mentions = sorted([*_beside(before, found), *found])
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
        spans += _beside(_longer_names(doc, text, mentions, inner, names), spans)
        spans += _possible_names(doc, text, [*mentions, *spans], names)
        if self.settings.misspelled:
            found = find_misspelled(text.text, kb)
            labeled = self._labeled_spans(doc, text, found, kb, types_by_label)
            spans += _beside(labeled, [*mentions, *spans])
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


def _longer_names(
    doc: Doc, text: CleanText, mentions: Sequence[Span], inner: Collection[int], names: NameReader
) -> list[Span]:
    """Find names of the vocabulary that contain a mention: a recognizer may find only `host
    disease` in `graft versus host disease`. A disease is extended by up to four tokens on either
    side; other mentions stay within a possible mention (`possible_mentions_of`), or are extended
    by a type, a stage, or the name of an enzyme (`type IV`, `dehydrogenase`).

    doc (Doc): a document.
    text (CleanText): its cleaned text.
    mentions (Sequence[Span]): the mentions of the document.
    inner (Collection[int]): indices of the tokens of mentions, without their first tokens.
    names (NameReader): reads the vocabulary.
    RETURNS (list[Span]): for each mention, the longest name of a concept that its label allows, if
        any, in the order of the text. Names do not overlap each other, and contain other mentions
        entirely or not at all.
    """
    found: list[Span] = []
    for mention, after in zip(mentions, [*mentions[1:], None], strict=False):
        label = mention.label_
        wide = _coordinations(mention, after)
        for start, end in [*wide, *_around(mention)]:
            if (found and start < found[-1].end) or start in inner or end in inner:
                continue
            added = doc[start : mention.start].text + doc[mention.end : end].text
            written = _read(text, doc[start:end])
            is_known = not _BORDER.search(added) and names.is_name(written, label)
            # `thrombus formation` is no other concept than `thrombus`.
            if is_known and start == mention.start and is_disease(label):
                is_known = not names.share_concepts(_read(text, mention), written)
            if not is_known and (start, end) in wide:
                is_known = bool(names.coordinated(written, label))
                # `muscle wasting and weakness` are two mentions.
                if is_known and after is not None and end == after.end:
                    is_known = not names.is_name(_read(text, mention), label)
            if is_known:
                found.append(Span(doc, start, end, label=label))
                break
    return found


def _possible_names(
    doc: Doc, text: CleanText, mentions: Iterable[Span], names: NameReader
) -> list[Span]:
    """Find names in the possible mentions of a document: names of diseases with two or more words,
    and chemicals that look like brand names (`Trulicity`). For these names, a low probability is
    enough: in clinical notes, a recognizer that has mostly seen abstracts may give `aortic
    dissection` a probability of 0.2. Names with three or more words may extend beyond the possible
    mention.

    doc (Doc): a document.
    text (CleanText): its cleaned text.
    mentions (Iterable[Span]): its mentions.
    names (NameReader): reads the vocabulary.
    RETURNS (list[Span]): names that overlap neither each other nor a mention, the longest name of
        each possible mention first.
    """
    found: list[Span] = []
    covered = {token for span in mentions for token in range(span.start, span.end)}
    for first, last, label, _ in possible_mentions_of(doc):
        if covered.issuperset(range(first, last)):
            continue
        ends = [
            (start, end)
            for start in range(max(first - _MAX_ADDED, 0), last)
            for end in range(max(first, start) + 1, min(last + _MAX_ADDED, len(doc)) + 1)
            if (first <= start and end <= last) or end - start > 2
            if end - start <= _MAX_WORDS and covered.isdisjoint(range(start, end))
        ]
        for start, end in sorted(ends, key=lambda span: span[0] - span[1]):
            span = Span(doc, start, end, label=label)
            is_free = covered.isdisjoint(range(start, end)) and _is_distinctive(span, label)
            if is_free and names.is_name(_read(text, span), label):
                found.append(span)
                covered.update(range(start, end))
    return found


def _is_distinctive(span: Span, label: str) -> bool:
    """RETURNS (bool): whether a low probability is enough for a name, see `_possible_names`."""
    if is_disease(label):
        is_whole = _is_word(span[0], span[-1]) and not _BORDER.search(span.text)
        return len(span) > 1 and is_whole
    is_brand = "CHEMICAL" in wider_entity_types_of(label) and _BRAND.fullmatch(span.text)
    return bool(is_brand) and span.text.lower() not in common_words()


def _read(text: CleanText, span: Span) -> str:
    start, end = text.from_source(span.start_char, span.end_char)
    return text.text[start:end]


def _around(mention: Span) -> Iterable[tuple[int, int]]:
    """RETURNS (Iterable[tuple[int, int]]): token offsets of longer spans that begin and end with a
    word, longest first."""
    first, last = mention.start, mention.end
    if is_disease(mention.label_):
        first, last = max(first - _MAX_ADDED, 0), min(last + _MAX_ADDED, len(mention.doc))
    for one in possible_mentions_of(mention.doc):
        if _is_within(mention, one):
            first, last = min(first, one.start), max(last, one.end)
    for end in (mention.end + 1, mention.end + 2):
        if _TYPE.fullmatch(mention.doc[mention.end : end].text):
            last = max(last, end)
    spans = [
        (start, end)
        for start in range(max(first, mention.start - _MAX_ADDED), mention.start + 1)
        for end in range(mention.end, min(last, mention.end + _MAX_ADDED) + 1)
        if end - start > len(mention) and _is_word(mention.doc[start], mention.doc[end - 1])
    ]
    return sorted(spans, key=lambda span: span[0] - span[1])


def _coordinations(mention: Span, after: Span | None) -> list[tuple[int, int]]:
    """RETURNS (list[tuple[int, int]]): token offsets of spans in which a mention may be coordinated
    with the next mention, or with one or two words beside it."""
    doc, start, end = mention.doc, mention.start, mention.end
    spans = []
    if after is not None and after.label == mention.label and after.start - end < _MAX_BETWEEN:
        spans.append((start, after.end))
    if start > 1 and doc[start - 1].lower_ in _CONJUNCTIONS:
        spans += [(first, end) for first in (start - 3, start - 2) if first >= 0]
    # spaCy joins a single letter and the period of its sentence.
    is_followed = end + 1 < len(doc) and doc[end].lower_ in _CONJUNCTIONS
    if is_followed and not doc[end + 1].text.endswith("."):
        spans.append((start, end + 2))
    return [(first, last) for first, last in spans if _is_word(doc[first], doc[last - 1])]


def _is_word(*tokens: Token) -> bool:
    return all(any(map(str.isalnum, token.text)) for token in tokens)


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


def _is_within(span: Span, possible: PossibleMention) -> bool:
    is_inside = possible.start <= span.start and span.end <= possible.end
    return is_inside and span.label_ == possible.label


def _mentions(doc: Doc, key: str | None) -> list[Span]:
    if key is None:
        return list(doc.ents)
    return list(doc.spans[key]) if key in doc.spans else []


def _beside(spans: Iterable[Span], others: Iterable[Span]) -> list[Span]:
    """RETURNS (list[Span]): the spans that overlap none of the others."""
    covered = {token for span in others for token in range(span.start, span.end)}
    return [span for span in spans if covered.isdisjoint(range(span.start, span.end))]
