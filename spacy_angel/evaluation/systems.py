"""Systems that answer with ranked names and concepts, and the documents that go through them.

A system is a function from documents to answers: a pipeline with `angel_linker`, or a baseline.
"""

import math
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

from ..corpora.composites import split_composite
from ..corpora.documents import CorpusDocument, GoldMention
from ..corpora.entity_types import entity_type
from ..linking.mentions.reading import find_spans
from ..linking.ranking.concepts import NIL
from ..model.mention import Mention, mention_at
from ..pipelines.components import components_before, given_doc, name_of
from ..vocabulary.names.identifiers import split_ids
from .baselines import Baseline
from .counts import MentionResult, Ranking
from .protocols import LinkedSpan

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Span

    from ..linking.linker import AngelLinker

_BATCH = 64  # documents
_SENTENCE_CHARS = 300
_SENTENCE_END = re.compile(r"[.!?]\s+(?=[A-Z(\[])|\n+")
_NO_RANKING = Ranking()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a system says of one gold mention.

    prompt (Mention): the mention as the system read it.
    ranking (Ranking): names and concepts.
    linked (bool), found (bool), kb_ids (tuple[str, ...]): as in `MentionResult`.
    """

    prompt: Mention
    ranking: Ranking = _NO_RANKING
    linked: bool = True
    found: bool = True
    kb_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentAnswers:
    """What a system says of one document.

    answers (list[Answer]): one a gold mention, in their order.
    spurious_linked (Counter[str]), spurious_nil (Counter[str]): its mentions on other characters,
        by their type (see `entity_types.entity_type`).
    found (tuple[LinkedSpan, ...]): all its mentions, gold or not; without identifiers those that it
        links to NIL.
    """

    answers: list[Answer]
    spurious_linked: Counter[str] = field(default_factory=Counter)
    spurious_nil: Counter[str] = field(default_factory=Counter)
    found: tuple[LinkedSpan, ...] = ()

    @property
    def links(self) -> tuple[LinkedSpan, ...]:
        """RETURNS (tuple[LinkedSpan, ...]): those that it links."""
        return tuple(span for span in self.found if span.ids)


System = Callable[[Iterable[CorpusDocument]], Iterator[DocumentAnswers]]
"""Documents in, answers out, one for each document and in the same order."""


def baseline_system(baseline: Baseline, k: int) -> System:
    """A baseline as a system.

    baseline (Baseline): e.g. one of `BASELINES`.
    k (int): ranks wanted.
    RETURNS (System): the system.
    """

    def answer(documents: Iterable[CorpusDocument]) -> Iterator[DocumentAnswers]:
        stream = iter(documents)
        while batch := list(islice(stream, _BATCH)):
            prompts = [
                [mention_at(d.text, m.start, m.end, read_as=m.read_as) for m in d.mentions]
                for d in batch
            ]
            rankings = iter(baseline.link([p.text for row in prompts for p in row], k))
            for document, row in zip(batch, prompts, strict=True):
                answers = []
                for prompt in row:
                    ranking = next(rankings)
                    answers.append(Answer(prompt, ranking, kb_ids=_highest(ranking.concepts)))
                found = (
                    LinkedSpan(mention.start, mention.end, mention.label, answer.kb_ids)
                    for mention, answer in zip(document.mentions, answers, strict=True)
                )
                yield DocumentAnswers(answers, found=tuple(found))

    return answer


def _highest(concepts: Sequence[tuple[str, float]]) -> tuple[str, ...]:
    """The identifiers of the highest score, best first as the concepts are."""
    return tuple(concept for concept, score in concepts if score == concepts[0][1])


def pipeline_system(
    nlp: "Language",
    linker: "AngelLinker",
    *,
    predicted: bool = False,
) -> System:
    """A pipeline with an `angel_linker` as a system; what comes after the linker does not run.

    nlp (Language): the pipeline.
    linker (AngelLinker): its linker; with gold mentions it must read the span group `gold`.
    predicted (bool): the pipeline finds the mentions itself; else it is given the gold ones, and
        other components that write entities do not run.
    RETURNS (System): the system.
    """
    before = components_before(nlp, linker, given_mentions=not predicted)
    disable = set(nlp.pipe_names).difference(before, [name_of(nlp, linker)])

    def answer(documents: Iterable[CorpusDocument]) -> Iterator[DocumentAnswers]:
        pending: deque[CorpusDocument] = deque()

        def requests() -> Iterator[Any]:
            for document in documents:
                pending.append(document)
                yield document.text if predicted else _given(document, nlp)

        for doc in nlp.pipe(requests(), batch_size=_BATCH, disable=disable):
            document = pending.popleft()
            spans = find_spans(doc, linker.settings.span_key)
            prompts = linker.read_mentions(doc, spans)
            answers = [
                _read_span(span, prompt, linker)
                for span, prompt in zip(spans, prompts, strict=True)
            ]
            by_characters = {
                (span.start_char, span.end_char): answer
                for span, answer in zip(spans, answers, strict=True)
            }
            gold = [(mention.start, mention.end) for mention in document.mentions]
            spurious = [
                (entity_type(span.label_), answer.linked)
                for span, answer in zip(spans, answers, strict=True)
                if (span.start_char, span.end_char) not in gold
            ]
            found = (
                LinkedSpan(span.start_char, span.end_char, span.label_, answer.kb_ids)
                for span, answer in zip(spans, answers, strict=True)
            )
            yield DocumentAnswers(
                [
                    by_characters.get(key) or Answer(mention_at(document.text, *key), found=False)
                    for key in gold
                ],
                spurious_linked=Counter(kind for kind, is_linked in spurious if is_linked),
                spurious_nil=Counter(kind for kind, is_linked in spurious if not is_linked),
                found=tuple(found),
            )

    return answer


def _given(document: CorpusDocument, nlp: "Language") -> "Doc":
    """The document with its gold mentions, and what is read in their places. Without identifiers: a
    linker that does not overwrite would hand the gold ones back."""
    return given_doc(document.without_ids(), nlp)


def _read_span(span: "Span", prompt: Mention, linker: "AngelLinker") -> Answer:
    settings = linker.settings
    candidates = span._.get(settings.outputs.candidates)
    names, name_ids, scores = [], [], []
    for name, group in groupby(candidates, key=lambda c: c["name"]):
        alike = list(group)
        names.append(name)
        name_ids.append(tuple(candidate["concept_id"] for candidate in alike))
        log_prob = alike[0]["log_prob"]
        # Of a name that was taken unsearched the link's own probability.
        scores.append(math.log(alike[0]["probability"]) if log_prob is None else log_prob)
    # The order is judged whatever the thresholds; `linked` tells what they leave.
    concepts = tuple(linker.rank(candidates))
    ranking = Ranking(tuple(names), tuple(name_ids), tuple(scores), concepts)
    kb_id = span._.get(settings.outputs.kb_id)
    kb_ids = () if kb_id in ("", NIL) else (kb_id,)
    return Answer(prompt, ranking, linked=bool(kb_ids), kb_ids=kb_ids)


@dataclass(frozen=True, slots=True)
class DocumentResults:
    """A document, its gold mentions beside what the system made of them.

    mentions (list[tuple[MentionResult, Mention]]): each gold mention, and as it was read.
    answers (DocumentAnswers): what it made of the whole document.
    text (str): of the document.
    gold (tuple[LinkedSpan, ...]): the gold mentions with their canonical identifiers.
    """

    mentions: list[tuple[MentionResult, Mention]]
    answers: DocumentAnswers
    text: str
    gold: tuple[LinkedSpan, ...]


def answer_documents(
    documents: Iterable[CorpusDocument],
    system: System,
    resolve: Callable[[str], str | None],
    *,
    split_composites: bool = True,
) -> Iterator[DocumentResults]:
    """Send documents through a system.

    documents (Iterable[CorpusDocument]): with gold mentions; streamed.
    system (System): what links.
    resolve (Callable[[str], str | None]): canonical identifier, None where the vocabulary lacks it.
    split_composites (bool): look the parts of a composite up as well, each in the mention's place.
    RETURNS (Iterator[DocumentResults]): one a document.
    """
    pending: deque[tuple[CorpusDocument, list[list[CorpusDocument]]]] = deque()

    def requests() -> Iterator[CorpusDocument]:
        for document in documents:
            variants = [
                _parts_in_place(document, mention, resolve) if split_composites else []
                for mention in document.mentions
            ]
            pending.append((document, variants))
            yield document
            for parts in variants:
                yield from parts

    responses = system(requests())
    for response in responses:
        document, variants = pending.popleft()
        results = []
        for mention, answer, parts in zip(
            document.mentions, response.answers, variants, strict=True
        ):
            rankings = tuple(next(responses).answers[0].ranking for _ in parts)
            gold, known = _gold(mention, resolve)
            left, right = sentence_around(document.text, mention.start, mention.end)
            result = MentionResult(
                doc_id=document.doc_id,
                start=mention.start,
                end=mention.end,
                mention=mention.text,
                label=mention.label,
                left=left,
                right=right,
                annotated=mention.concept_ids,
                gold=gold,
                known=known,
                ranking=answer.ranking,
                parts=rankings,
                queries=tuple(part.mentions[0].text for part in parts),
                linked=answer.linked,
                found=answer.found,
                kb_ids=answer.kb_ids,
            )
            results.append((result, answer.prompt))
        yield DocumentResults(
            results,
            response,
            document.text,
            gold=tuple(
                LinkedSpan(result.start, result.end, result.label, result.gold)
                for result, _ in results
            ),
        )


def _gold(
    mention: GoldMention, resolve: Callable[[str], str | None]
) -> tuple[tuple[str, ...], tuple[bool, ...]]:
    """Canonical identifiers, each once, and which of them the vocabulary holds."""
    ids = {resolve(raw) or raw: resolve(raw) is not None for raw in split_ids(mention.concept_ids)}
    return tuple(ids), tuple(ids.values())


def _parts_in_place(
    document: CorpusDocument, mention: GoldMention, resolve: Callable[[str], str | None]
) -> list[CorpusDocument]:
    """The document once for each part of a composite, with the part in the composite's place."""
    n_parts = len(_gold(mention, resolve)[0])
    if n_parts < 2:
        return []
    given = mention.parts if len(mention.parts) == n_parts else ()
    return [
        replace(
            document,
            text=document.text[: mention.start] + part + document.text[mention.end :],
            mentions=(
                replace(
                    mention, text=part, end=mention.start + len(part), concept_ids="", parts=()
                ),
            ),
            title_end=None,
        )
        for part in given or split_composite(mention.text, n_parts)
    ]


def sentence_around(text: str, start: int, end: int) -> tuple[str, str]:
    """What stands in the sentence before and after a mention, by a rough rule, for display.

    text (str): the document.
    start (int), end (int): character offsets.
    RETURNS (tuple[str, str]): at most 300 characters on either side.
    """
    left = text[max(0, start - _SENTENCE_CHARS) : start]
    right = text[end : end + _SENTENCE_CHARS]
    ends = list(_SENTENCE_END.finditer(left))
    if ends:
        left = left[ends[-1].end() :]
    if end_of_sentence := _SENTENCE_END.search(right):
        right = right[: end_of_sentence.start() + 1].rstrip("\n")
    return left, right
