"""Systems that rank names and concepts, and their application to documents.

A system is a function from documents to answers; it wraps a pipeline with `angel_linker` or a
baseline.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from spacy.util import minibatch

from ..corpora.documents import CorpusDocument, GoldMention
from ..linking.mentions.reading import find_spans
from ..linking.types import NIL
from ..model.mention import mention_at
from ..pipelines.components import components_before, given_doc
from ..vocabulary.names.composites import split_composite
from ..vocabulary.names.identifiers import split_ids
from .baselines import Baseline
from .counts import N_RANKS, Answer, MentionResult, Ranking
from .protocols import LinkedSpan

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Span

    from ..linking.linker import AngelLinker

_BATCH = 64  # documents


class DocumentAnswers(NamedTuple):
    """A system's output for one document.

    answers (list[Answer]): one per gold mention, in the same order.
    found (Sequence[LinkedSpan]): all mentions in the output, gold or not; mentions linked to NIL
        have no identifiers.
    """

    answers: list[Answer]
    found: Sequence[LinkedSpan] = ()


System = Callable[[Sequence[CorpusDocument]], list[DocumentAnswers]]
"""Function that takes a batch of documents and returns the answers for each of them."""


def baseline_system(baseline: Baseline) -> System:
    """Wrap a baseline as a system.

    baseline (Baseline): e.g. one of `BASELINES`.
    RETURNS (System): the system.
    """

    def answer(documents: Sequence[CorpusDocument]) -> list[DocumentAnswers]:
        results = []
        for document in documents:
            mentions = document.mentions
            texts = [
                mention_at(document.text, m.start, m.end, read_as=m.read_as).text for m in mentions
            ]
            answers = [
                Answer(ranking, kb_ids=ranking.best_concepts)
                for ranking in baseline(texts, N_RANKS)
            ]
            found = [
                LinkedSpan(mention.start, mention.end, mention.label, answer.kb_ids)
                for mention, answer in zip(mentions, answers, strict=True)
            ]
            results.append(DocumentAnswers(answers, found))
        return results

    return answer


def pipeline_system(nlp: "Language", linker: "AngelLinker", *, predicted: bool = False) -> System:
    """Wrap a pipeline with an `angel_linker` as a system. Components after the linker do not run.

    nlp (Language): the pipeline.
    linker (AngelLinker): its linker. To link gold mentions, it must read the span group `gold`.
    predicted (bool): let the pipeline find the mentions. Otherwise, it links the gold mentions, and
        components that set entities do not run.
    RETURNS (System): the system.
    """
    before = components_before(nlp, linker, given_mentions=not predicted)
    disable = set(nlp.pipe_names).difference(before, [linker.name])

    def answer(documents: Sequence[CorpusDocument]) -> list[DocumentAnswers]:
        # Remove the gold identifiers: a linker that does not overwrite them would return them.
        inputs: Any = (d.text if predicted else given_doc(d.without_ids(), nlp) for d in documents)
        results = []
        for document, doc in zip(documents, nlp.pipe(inputs, disable=disable), strict=True):
            spans = find_spans(doc, linker.settings.candidates.span_key)
            by_characters, found = {}, []
            for span in spans:
                own = _read_span(span, linker)
                start, end = span.start_char, span.end_char
                by_characters[start, end] = own
                found.append(LinkedSpan(start, end, span.label_, own.kb_ids))
            answers = [
                by_characters.get((gold.start, gold.end)) or Answer(found=False)
                for gold in document.mentions
            ]
            results.append(DocumentAnswers(answers, found))
        return results

    return answer


def _read_span(span: "Span", linker: "AngelLinker") -> Answer:
    settings = linker.settings
    candidates = span._.get(settings.outputs.candidates)
    names, name_ids, scores = [], [], []
    for name, group in groupby(candidates, key=lambda c: c["name"]):
        of_name = list(group)
        names.append(name)
        name_ids.append(tuple(candidate["concept_id"] for candidate in of_name))
        log_prob = of_name[0]["log_prob"]
        # Names that matched exactly have a probability but no log-probability from the search.
        scores.append(math.log(of_name[0]["probability"]) if log_prob is None else log_prob)
    # Thresholds do not affect the ranking, only `linked`.
    concepts = tuple(linker.rank(candidates))
    ranking = Ranking(tuple(names), tuple(name_ids), tuple(scores), concepts)
    kb_id = span._.get(settings.outputs.kb_id)
    kb_ids = () if kb_id == NIL else tuple(split_ids(kb_id))
    return Answer(ranking, linked=bool(kb_ids), kb_ids=kb_ids)


class DocumentResults(NamedTuple):
    """The gold mentions of a document and the output of a system for them.

    mentions (list[MentionResult]): results, one per gold mention.
    found (Sequence[LinkedSpan]): see `DocumentAnswers`.
    """

    mentions: list[MentionResult]
    found: Sequence[LinkedSpan]

    @property
    def gold(self) -> list[LinkedSpan]:
        """RETURNS (list[LinkedSpan]): the gold mentions with canonical identifiers."""
        return [
            LinkedSpan(result.mention.start, result.mention.end, result.mention.label, result.gold)
            for result in self.mentions
        ]

    @property
    def links(self) -> list[LinkedSpan]:
        """RETURNS (list[LinkedSpan]): the mentions to which the system assigned an identifier."""
        return [span for span in self.found if span.ids]


def answer_documents(
    documents: Iterable[CorpusDocument],
    system: System,
    resolve: Callable[[str], str | None],
    *,
    split_composites: bool = True,
) -> Iterator[DocumentResults]:
    """Process documents with a system.

    documents (Iterable[CorpusDocument]): documents with gold mentions, which are streamed.
    system (System): the system.
    resolve (Callable[[str], str | None]): function that maps an identifier to its canonical form,
        or to None if it is not in the vocabulary.
    split_composites (bool): also link each part of a composite, in place of the mention.
    RETURNS (Iterator[DocumentResults]): one per document.
    """
    for batch in minibatch(documents, _BATCH):
        # Each document, followed by a variant for every part of its composites.
        parts_of = [
            [
                _parts_in_place(document, m, resolve) if split_composites else []
                for m in document.mentions
            ]
            for document in batch
        ]
        requests = (
            [document, *chain.from_iterable(parts)]
            for document, parts in zip(batch, parts_of, strict=True)
        )
        responses = iter(system(list(chain.from_iterable(requests))))
        for document, parts in zip(batch, parts_of, strict=True):
            response = next(responses)
            results = []
            for mention, answer, own in zip(
                document.mentions, response.answers, parts, strict=True
            ):
                gold = _gold_ids(mention, resolve)
                rankings = tuple(
                    (part.mentions[0].text, next(responses).answers[0].ranking) for part in own
                )
                ids, known = tuple(gold), tuple(gold.values())
                results.append(
                    MentionResult(document.doc_id, mention, ids, known, answer, rankings)
                )
            yield DocumentResults(results, response.found)


def _gold_ids(mention: GoldMention, resolve: Callable[[str], str | None]) -> dict[str, bool]:
    """Map each canonical identifier to whether it is in the vocabulary."""
    return {resolve(raw) or raw: resolve(raw) is not None for raw in split_ids(mention.concept_ids)}


def _parts_in_place(
    document: CorpusDocument, mention: GoldMention, resolve: Callable[[str], str | None]
) -> list[CorpusDocument]:
    """Make a copy of the document for each part of a composite, which replaces the composite."""
    n_parts = len(_gold_ids(mention, resolve))
    if n_parts < 2:
        return []
    parts = mention.parts if len(mention.parts) == n_parts else ()
    before, after = document.text[: mention.start], document.text[mention.end :]
    return [
        replace(
            document,
            text=before + part + after,
            mentions=(GoldMention(len(before), len(before) + len(part), part, mention.label),),
            title_end=None,
        )
        for part in parts or split_composite(mention.text, n_parts)
    ]
