"""Makes repeated words of a document consistent: occurrences that the recognizer missed become
mentions, and abbreviations get the label of their long form."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Annotated, Any

from pydantic import Field
from spacy.attrs import ORTH
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from ..component.characters import clean
from ..component.checked import CheckedSettings, Name
from ..component.pipe import DocumentPipe
from ..component.probability import NAME as PROBABILITY
from ..component.probability import probability_of
from ..component.view import visible_words
from .found import TokenSpan, scored_spans, set_scored_spans, without_overlaps

_ABBREVIATIONS = ("._.", "abbreviations", None, None)
# Stands for the probability of a mention whose component gives none.
_UNKNOWN = 1.0
_MIN_CHARACTERS = 2
_MAX_TOKENS = 32

Words = tuple[int, ...]


class ConsistencySettings(CheckedSettings):
    """The settings of `angel_consistency`. The annotation of each field describes it.

    RAISES (AngelError): a value is invalid; the message names the setting, the expected values, and
        the given value.
    """

    COMPONENT = "angel_consistency"

    add_from: Annotated[
        float,
        Field(
            gt=0,
            le=1,
            description="if at least this share of the occurrences of the same words are mentions "
            "of a label, the others become mentions",
        ),
    ] = 0.7
    drop_below: Annotated[
        float,
        Field(ge=0, lt=1, description="if less than this share are mentions, all are removed"),
    ] = 0.35
    sure_from: Annotated[
        float,
        Field(
            gt=0,
            le=1,
            description="if one occurrence is a mention with at least this "
            "`mention_probability`, the others become mentions regardless of their share",
        ),
    ] = 0.95
    span_key: Annotated[
        Name | None,
        Field(
            description="span group that is made consistent as well; its mentions may overlap if "
            "their labels differ"
        ),
    ] = None

    def check(self) -> None:
        self.expect("drop_below", self.drop_below <= self.add_from, "at most `add_from`")


class AngelConsistency(DocumentPipe):
    """Makes the mentions of a document consistent. It runs after the components that find mentions
    and after the abbreviation detector, if there is one.

    vocab (Vocab): the vocab of the pipeline.
    name (str): the name of the component.
    settings (ConsistencySettings): the thresholds.
    """

    def __init__(self, vocab: Vocab, name: str, settings: ConsistencySettings) -> None:
        self.vocab, self.name, self.settings = vocab, name, settings

    def predict(self, docs: Sequence[Doc]) -> list[tuple[list[TokenSpan], list[TokenSpan] | None]]:
        """docs (Sequence[Doc]): documents. RETURNS (list[tuple[list[TokenSpan], list[TokenSpan] |
        None]]): the entities of each document, and the mentions of its span group, or None if it
        has no such group."""
        return [self._predict(doc) for doc in docs]

    def set_annotations(
        self,
        docs: Sequence[Doc],
        predicted: Sequence[tuple[Sequence[TokenSpan], Sequence[TokenSpan] | None]],
    ) -> None:
        """docs (Sequence[Doc]): the documents given to `predict`, changed in place. predicted
        (Sequence[tuple[Sequence[TokenSpan], Sequence[TokenSpan] | None]]): the result of
        `predict`."""
        for doc, (entities, grouped) in zip(docs, predicted, strict=True):
            before = {(e.start, e.end, e.label_): e for e in doc.ents}
            doc.ents = [
                before.get(one[:3]) or Span(doc, *one[:2], label=one.label) for one in entities
            ]
            for entity, one in zip(doc.ents, entities, strict=True):
                if one[:3] not in before:
                    entity._.set(PROBABILITY, one.probability)
            key = self.settings.span_key
            if key is not None and grouped is not None:
                rows = [(Span(doc, *one[:2], label=one.label), one.probability) for one in grouped]
                set_scored_spans(doc, key, rows, dict(doc.spans[key].attrs))

    def _predict(self, doc: Doc) -> tuple[list[TokenSpan], list[TokenSpan] | None]:
        entities = [TokenSpan(e.start, e.end, e.label_, _probability(e)) for e in doc.ents]
        entities = make_consistent(doc, entities, self.settings)
        key = self.settings.span_key
        if key is None or key not in doc.spans:
            return entities, None
        by_label: defaultdict[str, list[TokenSpan]] = defaultdict(list)
        for span, score in scored_spans(doc, key):
            by_label[span.label_].append(TokenSpan(span.start, span.end, span.label_, score))
        made = (make_consistent(doc, own, self.settings) for own in by_label.values())
        return entities, sorted(one for own in made for one in own)


def make_consistent(
    doc: Doc, mentions: Sequence[TokenSpan], settings: ConsistencySettings
) -> list[TokenSpan]:
    """doc (Doc): a document. mentions (Sequence[TokenSpan]): mentions that do not overlap. settings
    (ConsistencySettings): the thresholds. RETURNS (list[TokenSpan]): sorted by position, without
    overlaps. The probability of a new mention is the lowest of the mentions from which it was
    derived."""
    kept, missed = _repeated(doc, mentions, settings)
    kept = _with(kept, missed)
    ending: defaultdict[int, list[TokenSpan]] = defaultdict(list)
    for one in kept:
        ending[one.end].append(one)
    # An abbreviation is as probable as the most probable mention of it or of its long form.
    probability: dict[tuple[int, str], float] = {}
    abbreviations = [
        (long_end, short, long_form)
        for long_end, short in _abbreviations(doc)
        for long_form in ending[long_end]
    ]
    by_place = {one[:3]: one.probability for one in kept}
    for long_end, short, (_, _, label, least) in abbreviations:
        own = by_place.get((short.start, short.end, label), 0.0)
        best = max(least, own, probability.get((long_end, label), 0.0))
        probability[long_end, label] = best
    short_forms = [
        TokenSpan(short.start, short.end, label, probability[long_end, label])
        for long_end, short, (_, _, label, _) in abbreviations
    ]
    # A mention with another label gives way to a more probable long form.
    better = {one[:2]: one for one in short_forms}
    kept = [
        one
        for one in kept
        if (other := better.get(one[:2], one)).label == one.label
        or other.probability <= one.probability
    ]
    return _with(kept, short_forms)


def _with(kept: Sequence[TokenSpan], new: Iterable[TokenSpan]) -> list[TokenSpan]:
    """RETURNS (list[TokenSpan]): the mentions and those new ones that do not overlap any of them or
    an earlier new one, sorted by position."""
    return sorted([*kept, *without_overlaps(new, lambda one: 0, kept)])


def _probability(entity: Span) -> float:
    own = probability_of(entity)
    return _UNKNOWN if own is None else own


def _repeated(
    doc: Doc, mentions: Sequence[TokenSpan], settings: ConsistencySettings
) -> tuple[list[TokenSpan], list[TokenSpan]]:
    """RETURNS (tuple[list[TokenSpan], list[TokenSpan]]): the mentions that are kept, and other
    occurrences of their words that become mentions."""
    visible = visible_words(doc, clean(doc.text))
    # Equal words have the same number.
    words: list[int] = visible.words.to_array(ORTH).tolist()
    same: defaultdict[tuple[str, Words], list[TokenSpan]] = defaultdict(list)
    taken: defaultdict[str, set[int]] = defaultdict(set)
    for one in mentions:
        taken[one.label].update(range(one.start, one.end))
        start, end = visible.within(one.start, one.end)
        is_long = end - start > _MAX_TOKENS
        if not is_long and len(visible.words[start:end].text) >= _MIN_CHARACTERS:
            same[one.label, tuple(words[start:end])].append(one)
    places = _places(words, {own for _, own in same})
    missed: list[TokenSpan] = []
    dropped: set[TokenSpan] = set()
    for (label, own), found in same.items():
        spans = [visible.to_source(place, place + len(own)) for place in places[own]]
        others = [span for span in spans if taken[label].isdisjoint(range(*span))]
        share = len(found) / (len(found) + len(others))
        is_sure = any(settings.sure_from <= one.probability < _UNKNOWN for one in found)
        if is_sure or share >= settings.add_from:
            least = min(one.probability for one in found)
            missed += [TokenSpan(*span, label, least) for span in others]
        elif share < settings.drop_below:
            dropped.update(found)
    return [one for one in mentions if one not in dropped], missed


def _places(words: Sequence[int], wanted: Collection[Words]) -> dict[Words, list[int]]:
    """RETURNS (dict[Words, list[int]]): where each sequence of words begins."""
    places: dict[Words, list[int]] = {own: [] for own in wanted}
    for length in {len(own) for own in wanted}:
        for start in range(len(words) - length + 1):
            if (own := tuple(words[start : start + length])) in places:
                places[own].append(start)
    return places


def _abbreviations(doc: Doc) -> Iterator[tuple[int, Span]]:
    """YIELDS (tuple[int, Span]): the token index at which a long form ends where it is defined, and
    one of its short forms. Long forms that are only strings are left out."""
    # Not `doc._.abbreviations`: without the detector the attribute is unknown.
    user_data: dict[Any, Any] = doc.user_data
    for item in user_data.get(_ABBREVIATIONS, ()):
        if isinstance(item, Span):
            if isinstance(item._.long_form, Span):
                yield item._.long_form.end, item
        elif "long_end" in item:
            yield item["long_end"], doc[item["short_start"] : item["short_end"]]


@Language.factory(
    "angel_consistency",
    assigns=["doc.ents", "doc.spans"],
    requires=["doc.ents"],
    default_config=ConsistencySettings().to_dict(),
)
def make_angel_consistency(
    nlp: Language,
    name: str,
    add_from: float,
    drop_below: float,
    sure_from: float,
    span_key: str | None,
) -> AngelConsistency:
    """Create the component.

    nlp (Language): the pipeline.
    name (str): the name of the component.
    add_from (float), drop_below (float), sure_from (float), span_key (str | None): see
        `ConsistencySettings`.
    RETURNS (AngelConsistency): the component.
    RAISES (AngelError): a setting is invalid.
    """
    settings = ConsistencySettings(
        add_from=add_from, drop_below=drop_below, sure_from=sure_from, span_key=span_key
    )
    return AngelConsistency(nlp.vocab, name, settings)
