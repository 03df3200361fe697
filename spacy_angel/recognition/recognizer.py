"""The component `angel_recogniser`, which finds mentions in documents."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from spacy import util
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from ..component.characters import CleanText, clean
from ..component.forks import use_one_thread_in_forks
from ..component.pipe import DocumentPipe
from ..component.probability import LABELS, POSSIBLE
from ..component.probability import NAME as PROBABILITY
from ..component.running import OPENING
from ..errors import AngelError
from .finder import MentionFinder, TaggedText
from .found import FoundMention, TokenSpan, in_source, set_scored_spans, without_overlaps
from .settings import RecognizerSettings
from .variants.component import place_variants


class Recognized(NamedTuple):
    """The predictions for a document.

    mentions (list[TokenSpan]): the mentions found, sorted by position.
    entities (list[float | None]): probability of each existing entity that may be kept, see
        `TaggedText.probability`.
    possible (list[TokenSpan]): see `TaggedText.possible_mentions`.
    """

    mentions: list[TokenSpan]
    entities: list[float | None]
    possible: list[TokenSpan]


class AngelRecognizer(DocumentPipe):
    """Finds mentions with an encoder that tags each word separately for each label.

    A mention that ends inside a token of the pipeline is extended to the whole token. The component
    sets `span._.mention_probability` of entities, including existing ones whose label the model
    knows. If it finds mentions with other labels at the position of an entity, it stores these
    labels with their probabilities in `span._.mention_labels`.

    vocab (Vocab): the vocab of the pipeline.
    name (str): the name of the component.
    settings (RecognizerSettings): the settings.
    model (str | None): folder written by `spacy-angel train recogniser`, opened at first use; None
        if the model is loaded by `from_disk` or `from_bytes`.
    scorer (Callable | None): the scoring function.
    """

    def __init__(
        self,
        vocab: Vocab,
        name: str,
        settings: RecognizerSettings,
        model: str | None,
        scorer: Callable | None,
    ) -> None:
        self.vocab, self.name, self.settings = vocab, name, settings
        self.scorer = scorer
        self._model_source = model
        self._finder: MentionFinder | None = None

    @property
    def finder(self) -> MentionFinder:
        """RETURNS (MentionFinder): the model, opened at first use. It can be replaced. RAISES
        (AngelError): there is no model, or it cannot be opened."""
        if self._finder is None:
            if self._model_source is None:
                raise AngelError(
                    f"The component {self.name!r} has no model: set `model` in its config."
                )
            with OPENING:
                if self._finder is None:
                    self.finder = self._open(Path(self._model_source))
            assert self._finder is not None
        return self._finder

    @finder.setter
    def finder(self, finder: MentionFinder) -> None:
        if unknown := sorted(set(self.settings.labels or ()) - set(finder.labels)):
            raise AngelError(
                f"The recognizer does not know the labels {unknown}. Known: {list(finder.labels)}."
            )
        use_one_thread_in_forks()
        self._finder = finder

    @property
    def labels(self) -> tuple[str, ...]:
        """RETURNS (tuple[str, ...]): the labels to find. Empty if all are to be found and the model
        is not open yet: spaCy asks for the labels before it loads the model."""
        if self._finder is None and self._model_source is None:
            return self.settings.labels or ()
        return self.settings.labels or self.finder.labels

    def predict(self, docs: Sequence[Doc]) -> list[Recognized]:
        """Find mentions without changing the documents.

        docs (Sequence[Doc]): documents.
        RETURNS (list[Recognized]): one for each document.
        """
        recognized: list[Recognized] = []
        for batch in util.minibatch(docs, size=self.settings.batch_size):
            texts = [clean(doc.text) for doc in batch]
            tagged = self.finder.read([text.text for text in texts])
            recognized += map(self._recognized, batch, texts, tagged)
        return recognized

    def set_annotations(self, docs: Sequence[Doc], predicted: Sequence[Recognized]) -> None:
        """Write the mentions to the documents.

        docs (Sequence[Doc]): the documents given to `predict`.
        predicted (Sequence[Recognized]): the result of `predict`.
        """
        key, labels = self.settings.span_key, self.settings.span_labels
        for doc, (mentions, probabilities, possible) in zip(docs, predicted, strict=True):
            doc._.set(POSSIBLE, list(map(tuple, possible)))
            if key is not None:
                grouped = [m for m in mentions if labels is None or m.label in labels]
                rows = [(Span(doc, *m[:2], label=m.label), m.probability) for m in grouped]
                set_scored_spans(doc, key, rows, {"scores": []})
            if self.settings.set_ents:
                earlier = [] if self.settings.overwrite else list(doc.ents)
                kept = list(zip(earlier, probabilities, strict=True))
                taken = [TokenSpan(e.start, e.end, e.label_, 1.0) for e, _ in kept]
                chosen = without_overlaps(mentions, self._order, taken)
                found = [(Span(doc, m.start, m.end, label=m.label), m.probability) for m in chosen]
                doc.ents = [entity for entity, _ in (*kept, *found)]
                for entity, probability in (*kept, *found):
                    entity._.set(PROBABILITY, probability)
                by_place: dict[tuple[int, int], dict[str, float]] = defaultdict(dict)
                for m in mentions:
                    by_place[m.start, m.end][m.label] = m.probability
                for entity, _ in found:
                    others = dict(by_place[entity.start, entity.end])
                    del others[entity.label_]
                    entity._.set(LABELS, others)

    def _order(self, one: TokenSpan) -> tuple[bool, float, int, int]:
        """Of overlapping mentions, prefer the more probable one, then the longer, then the first;
        mentions with a secondary label come last."""
        is_secondary = one.label in self.settings.secondary
        return is_secondary, -one.probability, one.start - one.end, one.start

    def _recognized(self, doc: Doc, text: CleanText, tagged: TaggedText) -> Recognized:
        earlier = () if self.settings.overwrite else doc.ents
        probabilities = [
            tagged.probability(*text.from_source(e.start_char, e.end_char), e.label_)
            for e in earlier
        ]
        spans = self._spans(doc, in_source(text, tagged.mentions), self.settings.threshold)
        possible = self._spans(doc, in_source(text, tagged.possible_mentions()), 0.0)
        variants = place_variants(doc) if self.settings.skip_variants else []
        mentions = [
            one
            for one in spans
            if not any(v.start <= one.start and one.end <= v.end for v in variants)
        ]
        return Recognized(mentions, probabilities, possible)

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """path (str | Path): folder to which the model is saved. exclude (Iterable[str]): `model`
        to leave it out."""
        util.to_disk(path, {"model": lambda p: self.finder.to_disk(p)}, exclude)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "AngelRecognizer":
        """path (str | Path): a folder. exclude (Iterable[str]): as in `to_disk`. RETURNS
        (AngelRecognizer): this component. RAISES (AngelError): the model cannot be opened."""
        readers = {"model": lambda p: setattr(self, "finder", self._open(p))}
        util.from_disk(path, readers, exclude)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """exclude (Iterable[str]): as in `to_disk`. RETURNS (bytes): the serialized model."""
        return util.to_bytes({"model": lambda: self.finder.to_bytes()}, exclude)

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "AngelRecognizer":
        """data (bytes): the result of `to_bytes`. exclude (Iterable[str]): as in `to_disk`. RETURNS
        (AngelRecognizer): this component."""

        def read_model(data: bytes) -> None:
            settings = self.settings
            self.finder = MentionFinder.from_bytes(data, settings.device, settings.dtype)

        util.from_bytes(data, {"model": read_model}, exclude)
        return self

    def _open(self, folder: Path) -> MentionFinder:
        return MentionFinder.from_disk(folder, self.settings.device, self.settings.dtype)

    def _spans(
        self, doc: Doc, mentions: Iterable[FoundMention], threshold: float
    ) -> list[TokenSpan]:
        """RETURNS (list[TokenSpan]): the mentions with at least the given probability, in whole
        tokens; of those that become the same span, the most probable one."""
        labels = frozenset(self.labels)
        best: dict[tuple[int, int, str], float] = {}
        for mention in mentions:
            if mention.label not in labels or mention.probability < threshold:
                continue
            if tokens := _tokens(doc, mention.start, mention.end):
                key = (*tokens, mention.label)
                best[key] = max(mention.probability, best.get(key, 0.0))
        return sorted(TokenSpan(*key, probability) for key, probability in best.items())


def _tokens(doc: Doc, start: int, end: int) -> tuple[int, int] | None:
    """start (int), end (int): characters. RETURNS (tuple[int, int] | None): the tokens of which
    they have a part."""
    span = doc.char_span(start, end, alignment_mode="expand")
    return None if span is None else (span.start, span.end)
