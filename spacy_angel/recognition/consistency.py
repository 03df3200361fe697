"""One text in a document, one kind of thing: mentions that are passed over although the same words
are found elsewhere in it, and short forms of what was found."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any

from pydantic import Field
from spacy.attrs import ORTH
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from ..component.block import takes
from ..component.characters import clean
from ..component.checked import CheckedSettings, Name
from ..component.pipe import DocumentPipe
from ..component.probability import NAME as PROBABILITY
from ..component.probability import probability_of
from .found import TokenSpan, scored_spans, set_scored_spans

_ABBREVIATIONS = ("._.", "abbreviations", None, None)
_SHORTEST = 2  # characters
_LONGEST = 32  # tokens


class ConsistencySettings(CheckedSettings):
    """The settings of `angel_consistency`; the type of each carries its meaning.

    RAISES (AngelError): a value that does not fit; the message names setting, expectation, value.
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
    short_forms: Annotated[
        bool, Field(description="give abbreviations the label of their long form")
    ] = True
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
    """Makes the mentions of a document consistent; it follows whatever finds them, and scispaCy's
    abbreviation detector if there is one.

    name (str): the component's name.
    settings (ConsistencySettings): see there.
    """

    def __init__(
        self,
        vocab: Vocab,
        name: str = "angel_consistency",
        *,
        settings: ConsistencySettings = ConsistencySettings(),  # noqa: B008 (frozen)
    ) -> None:
        self.vocab = vocab
        self.name = name
        self.settings = settings

    def predict(self, docs: Sequence[Doc]) -> list[tuple[list[TokenSpan], list[TokenSpan] | None]]:
        """docs (Sequence[Doc]): documents. RETURNS (list[tuple[list[TokenSpan], list[TokenSpan] |
        None]]): of each the entities, and the mentions of the group, if it has it."""
        return [self._predict(doc) for doc in docs]

    def set_annotations(
        self,
        docs: Sequence[Doc],
        predicted: Sequence[tuple[Sequence[TokenSpan], Sequence[TokenSpan] | None]],
    ) -> None:
        """docs (Sequence[Doc]): as given to `predict`, changed in place. predicted (Sequence[tuple[
        Sequence[TokenSpan], Sequence[TokenSpan] | None]]): as it returned them."""
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
        entities = consistent(doc, entities, self.settings, may_overlap=False)
        key = self.settings.span_key
        if key is None or key not in doc.spans:
            return entities, None
        grouped = [
            TokenSpan(span.start, span.end, span.label_, score)
            for span, score in scored_spans(doc, key)
        ]
        return entities, consistent(doc, grouped, self.settings, may_overlap=True)


def consistent(
    doc: Doc, mentions: Iterable[TokenSpan], settings: ConsistencySettings, *, may_overlap: bool
) -> list[TokenSpan]:
    """doc (Doc): a document. mentions (Iterable[TokenSpan]): in it. settings
    (ConsistencySettings): what is done. may_overlap (bool): whether mentions of different labels
    may. RETURNS (list[TokenSpan]): by place; a new one is as probable as the least probable that
    it follows from."""
    layer = _Layer(mentions, may_overlap=may_overlap)
    _repeat(doc, layer, settings)
    if settings.short_forms:
        ending: defaultdict[int, list[TokenSpan]] = defaultdict(list)
        for one in layer.mentions():
            ending[one.end].append(one)
        for long_end, short in _abbreviations(doc):
            for one in ending.get(long_end, ()):
                layer.add(TokenSpan(short.start, short.end, one.label, one.probability))
    return layer.mentions()


def _probability(entity: Span) -> float:
    own = probability_of(entity)
    return 1.0 if own is None else own


class _Layer:
    """Mentions of which no two share a token, or none of one label."""

    def __init__(self, mentions: Iterable[TokenSpan], *, may_overlap: bool) -> None:
        self._may_overlap = may_overlap
        self._mentions: dict[tuple[int, int, str], TokenSpan] = {}
        self._taken: set[tuple[int, str]] = set()
        for one in mentions:
            self._keep(one)

    def mentions(self) -> list[TokenSpan]:
        return sorted(self._mentions.values())

    def is_free(self, start: int, end: int, label: str) -> bool:
        """Whether no mention of the label is there."""
        return all((token, label) not in self._taken for token in range(start, end))

    def add(self, one: TokenSpan) -> None:
        """Where its place is taken nothing happens."""
        label = one.label if self._may_overlap else ""
        if self.is_free(one.start, one.end, label):
            self._keep(one)

    def drop(self, one: TokenSpan) -> None:
        del self._mentions[one[:3]]
        self._taken -= self._tokens(one)

    def _keep(self, one: TokenSpan) -> None:
        self._mentions[one[:3]] = one
        self._taken |= self._tokens(one)

    @staticmethod
    def _tokens(one: TokenSpan) -> set[tuple[int, str]]:
        # Under its label and under none.
        return {(token, label) for token in range(one.start, one.end) for label in (one.label, "")}


def _repeat(doc: Doc, layer: _Layer, settings: ConsistencySettings) -> None:
    words = _words(doc)
    same: defaultdict[tuple[str, tuple[int, ...]], list[TokenSpan]] = defaultdict(list)
    for one in layer.mentions():
        is_long = one.end - one.start > _LONGEST
        if not is_long and len(doc[one.start : one.end].text) >= _SHORTEST:
            same[one.label, tuple(words[one.start : one.end])].append(one)
    wanted = {own for _, own in same}
    places: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    for length in {len(own) for own in wanted}:
        for start in range(len(words) - length + 1):
            if (own := tuple(words[start : start + length])) in wanted:
                places[own].append(start)
    missed: list[TokenSpan] = []
    for (label, own), found in same.items():
        others = [
            (start, start + len(own))
            for start in places[own]
            if layer.is_free(start, start + len(own), label)
        ]
        share = len(found) / (len(found) + len(others))
        if share >= settings.add_from:
            least = min(one.probability for one in found)
            missed += [TokenSpan(*place, label, least) for place in others]
        elif share < settings.drop_below:
            for one in found:
                layer.drop(one)
    # What is dropped makes room.
    for one in missed:
        layer.add(one)


def _words(doc: Doc) -> list[int]:
    """RETURNS (list[int]): a number a token, the same for those that are read the same."""
    words: list[int] = doc.to_array(ORTH).tolist()
    if clean(doc.text).is_clean:
        return words
    return [doc.vocab.strings.add(clean(token.text).text) for token in doc]


def _abbreviations(doc: Doc) -> Iterator[tuple[int, Span]]:
    """YIELDS (tuple[int, Span]): the token behind a long form where it is defined, and a short form
    of it. Long forms that are text alone stand nowhere."""
    # Not `doc._.abbreviations`: without the detector the attribute is unknown.
    user_data: dict[Any, Any] = doc.user_data
    for item in user_data.get(_ABBREVIATIONS, ()):
        if isinstance(item, Span):
            if isinstance(item._.long_form, Span):
                yield item._.long_form.end, item
        elif "long_end" in item:
            yield item["long_end"], doc[item["short_start"] : item["short_end"]]


DEFAULT_CONFIG = ConsistencySettings().to_dict()


@takes(DEFAULT_CONFIG)
def make_angel_consistency(nlp: Language, name: str, **settings: Any) -> AngelConsistency:
    """The factory `angel_consistency`.

    nlp (Language): the pipeline. name (str): the component's name in it.
    settings (Any): the fields of `ConsistencySettings`.
    RETURNS (AngelConsistency): the component.
    RAISES (AngelError): a setting that does not fit.
    """
    return AngelConsistency(nlp.vocab, name, settings=ConsistencySettings.from_dict(settings))


Language.factory(
    "angel_consistency",
    assigns=["doc.ents", "doc.spans"],
    requires=["doc.ents"],
    default_config=DEFAULT_CONFIG,
    func=make_angel_consistency,
)
