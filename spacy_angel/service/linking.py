"""Linking of documents from many requests, with plain values as results."""

import logging
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from math import fsum
from operator import itemgetter

from spacy.language import Language
from spacy.tokens import Doc, Span

from ..corpora.docs import GOLD_SPANS
from ..corpora.documents import CorpusDocument
from ..linking.linker import AngelLinker
from ..linking.mentions.labels import links_label
from ..linking.mentions.reading import find_spans
from ..linking.types import NIL, describe_link
from ..pipelines.components import prepare_docs
from ..vocabulary.kb import ConceptKB
from .schema import ExplainedMention, Found, LinkedMention

logger = logging.getLogger(__name__)

NEW_COST = 10
"""Cost of linking a mention that is no name of the vocabulary, where others cost 1."""
MAX_COST = 1000
"""Cost of one pass, during which all requests wait: a second or two on two cores."""
MAX_DOCUMENT_COST = 480
"""Cost of a document in one pass."""


@dataclass(frozen=True, slots=True)
class Job:
    """A document to link.

    document (CorpusDocument): text and mentions.
    given (bool): link these mentions; otherwise the pipeline finds them.
    explain (bool): add reasons.
    """

    document: CorpusDocument
    given: bool = False
    explain: bool = False


class PipelineLinker:
    """Links documents; only one thread at a time may use it.

    nlp (Language): a pipeline; components after the linker do not run.
    linker (AngelLinker): the linker in it.
    """

    def __init__(self, nlp: Language, linker: AngelLinker) -> None:
        self.nlp = nlp
        self.linker = linker
        # Opened now: without model, vocabulary or rules no document could be linked.
        self._read_rules()
        linker.kb.search_space(linker.generator.prompts, [None])

    def link(self, jobs: Sequence[Job]) -> Iterator[tuple[int, list[LinkedMention]]]:
        """Link documents in passes of limited cost. A document with many mentions is linked in
        several passes, each without the evidence of the mentions of the others.

        jobs (Sequence[Job]): of any requests.
        YIELDS (tuple[int, list[LinkedMention]]): index of a document and its mentions, or some of
            them. Documents without mentions are left out.
        """
        self._read_rules()
        for given in (False, True):
            chosen = [i for i, job in enumerate(jobs) if job.given is given]
            if not chosen:
                continue
            key = GOLD_SPANS if given else self.linker.settings.candidates.span_key
            documents = [jobs[i].document for i in chosen]
            with warnings.catch_warnings():
                # Warnings quote labels, which are the callers' words.
                warnings.simplefilter("ignore")
                docs = list(prepare_docs(self.nlp, self.linker, documents, given=given))
            for batch in _passes([find_spans(doc, key) for doc in docs], self.linker.kb):
                with (
                    warnings.catch_warnings(),
                    self.linker.using(candidates={"span_key": key}),
                    self.linker.kb.reading(),
                ):
                    warnings.simplefilter("ignore")
                    linked = self._link_pass(
                        [docs[number] for number, _ in batch],
                        [spans for _, spans in batch],
                        [jobs[chosen[number]].explain for number, _ in batch],
                    )
                yield from (
                    (chosen[number], one) for (number, _), one in zip(batch, linked, strict=True)
                )

    def _read_rules(self) -> None:
        """Read the rules of curation; log what is wrong with their file, without any text of it."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.linker.effective_kb()
        for warning in caught:
            logger.warning(" ".join(str(warning.message).split()))

    def _link_pass(
        self, docs: Sequence[Doc], spans: Sequence[list[Span]], explain: Sequence[bool]
    ) -> list[list[LinkedMention]]:
        key = self.linker.settings.candidates.span_key
        for doc, chosen in zip(docs, spans, strict=True):
            if key is None:
                doc.ents = chosen
            else:
                doc.spans[key] = chosen
        self.linker.set_annotations(docs, self.linker.predict(docs))
        # Entities may have got another label, or have been dropped.
        return [
            self._explained(doc) if with_reasons else list(map(self._mention, find_spans(doc, key)))
            for doc, with_reasons in zip(docs, explain, strict=True)
        ]

    def _mention(self, span: Span) -> LinkedMention:
        settings, kb = self.linker.settings, self.linker.kb
        mention = LinkedMention(
            start=span.start_char, end=span.end_char, text=span.text, label=span.label_
        )
        kb_id = span._.get(settings.outputs.kb_id)
        if kb_id not in ("", NIL):
            mention.status, mention.concept_id = "linked", kb_id
            name, score = describe_link(kb_id, span._.get(settings.outputs.kb_ents), kb)
            mention.name = name or None
            if settings.reranker.enabled and score is not None:
                mention.probability = round(score, 4)
        elif not links_label(span.label_, settings):
            mention.status = "skipped"
        if settings.reranker.enabled and mention.status != "skipped":
            ranked = self.linker.rank(span._.get(settings.outputs.candidates))
            mention.nil_probability = round(max(1 - fsum(p for _, p in ranked), 0.0), 4)
        return mention

    def _explained(self, doc: Doc) -> list[LinkedMention]:
        spans = find_spans(doc, self.linker.settings.candidates.span_key)
        explanations = self.linker.explain_document(doc)
        return [
            ExplainedMention(
                **self._mention(span).model_dump(),
                why=explanation.why,
                candidates=[
                    Found(
                        concept_id=found.concept_id,
                        name=found.canonical_name,
                        probability=round(found.probability, 4),
                    )
                    for found in explanation.concepts
                ],
            )
            for span, explanation in zip(spans, explanations, strict=True)
        ]


def _passes(
    spans_of: Sequence[list[Span]], kb: ConceptKB
) -> Iterator[list[tuple[int, list[Span]]]]:
    """Divide documents into passes of up to MAX_COST.

    spans_of (Sequence[list[Span]]): mentions of each document. kb (ConceptKB): mentions that equal
        one of its names, or an earlier mention of the document with the same label, cost 1, and
        the others NEW_COST.
    YIELDS (list[tuple[int, list[Span]]]): indices of documents, with mentions. Only a document that
        costs more than MAX_DOCUMENT_COST is divided.
    """
    batch: list[tuple[int, list[Span]]] = []
    room = MAX_COST
    for number, spans in enumerate(spans_of):
        seen: set[tuple[str, str]] = set()
        costs = []
        for span in spans:
            is_new = (span.text, span.label_) not in seen and kb.name_index(span.text) is None
            costs.append(NEW_COST if is_new else 1)
            seen.add((span.text, span.label_))
        # The pass in which each mention would be if the document had passes of its own.
        parts = [(cost - 1) // MAX_DOCUMENT_COST for cost in accumulate(costs)]
        for _, group in groupby(zip(parts, spans, costs, strict=True), itemgetter(0)):
            _, part, prices = zip(*group, strict=True)
            if batch and (sum(prices) > room or batch[-1][0] == number):
                yield batch
                batch, room = [], MAX_COST
            batch.append((number, list(part)))
            room -= sum(prices)
    if batch:
        yield batch
