"""Documents of many requests through one pipeline, as plain values."""

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING

from ..corpora.docs import GOLD_SPANS
from ..corpora.documents import CorpusDocument
from ..linking.mentions.permitted import links_label
from ..linking.mentions.reading import find_spans
from ..linking.ranking.concepts import NIL
from ..linking.showing.page import links_html
from ..pipelines.components import link_by_source, prepare_docs
from .schema import Found, LinkedMention

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Span

    from ..linking.linker import AngelLinker
    from ..linking.showing.explanation import LinkExplanation

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Job:
    """A document that is to be linked.

    document (CorpusDocument): the text, and the mentions where they are given.
    given (bool): they are; else the pipeline finds them.
    explain (bool): reasons are wanted. html (bool): the page's part is wanted as well.
    """

    document: CorpusDocument
    given: bool = False
    explain: bool = False
    html: bool = False


@dataclass(frozen=True, slots=True)
class Linked:
    """What came of it.

    mentions (tuple[LinkedMention, ...]): given ones in their order. html (str): see `Job`.
    """

    mentions: tuple[LinkedMention, ...]
    html: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """A document that the pipeline cannot link.

    kind (str): of the exception; its text may hold the document's.
    """

    kind: str


class PipelineLinker:
    """Links documents; one thread at a time may call it.

    nlp (Language): a pipeline, whose components after the linker do not run.
    linker (AngelLinker): the linker in it.
    """

    def __init__(self, nlp: "Language", linker: "AngelLinker") -> None:
        self.nlp = nlp
        self.linker = linker
        # Opened now: without model, vocabulary or rules no document could be linked.
        with self._rules():
            linker.kb.search_space(linker.generator.prompts, [None])

    def __call__(self, jobs: Sequence[Job]) -> list[Linked | Failure]:
        """Link documents together; where that fails, each alone.

        jobs (Sequence[Job]): of any requests.
        RETURNS (list[Linked | Failure]): one a job, in their order.
        """
        with self._rules():
            return self._link_or_fail(jobs)

    @contextmanager
    def _rules(self) -> Iterator[None]:
        """All documents of a batch, and what is told of their links, go by the same rules: those of
        the file as it is now. What is wrong with it is logged; no text stands in these lines."""
        with ExitStack() as stack:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                stack.enter_context(self.linker.frozen_rules())
            for warning in told:
                logger.warning(" ".join(str(warning.message).split()))
            yield

    def _link_or_fail(self, jobs: Sequence[Job]) -> list[Linked | Failure]:
        # What texts bring into the vocabulary of spaCy would never leave it.
        with warnings.catch_warnings(), self.nlp.memory_zone():
            # Of abbreviations that no text has, and of labels, which are the callers' words.
            warnings.simplefilter("ignore")
            try:
                return link_by_source(jobs, [job.given for job in jobs], self._link_alike)
            except Exception as error:
                if len(jobs) == 1:
                    return [Failure(type(error).__name__)]
        return [self._link_or_fail([job])[0] for job in jobs]

    def _link_alike(self, jobs: Sequence[Job], given: bool) -> list[Linked]:
        documents = [job.document for job in jobs]
        docs = list(prepare_docs(self.nlp, self.linker, documents, given=given))
        key = GOLD_SPANS if given else self.linker.settings.span_key
        # Given mentions may overlap, and none of them is left out.
        with self.linker.using(span_key=key), self.linker.kb.reading():
            self.linker.set_annotations(docs, self.linker.predict(docs))
            return [self._linked(job, doc) for job, doc in zip(jobs, docs, strict=True)]

    def _linked(self, job: Job, doc: "Doc") -> Linked:
        spans = find_spans(doc, self.linker.settings.span_key)
        explained = self.linker.explain_document(doc) if job.explain else [None] * len(spans)
        mentions = tuple(map(self._mention, spans, explained))
        return Linked(mentions, links_html(doc, self.linker, "h2") if job.html else "")

    def _mention(self, span: "Span", explained: "LinkExplanation | None") -> LinkedMention:
        settings, kb = self.linker.settings, self.linker.kb
        mention = LinkedMention(
            start=span.start_char, end=span.end_char, text=span.text, label=span.label_
        )
        kb_id = span._.get(settings.outputs.kb_id)
        if kb_id not in ("", NIL):
            mention.status, mention.concept_id = "linked", kb_id
            mention.name = kb[kb_id].canonical_name if kb_id in kb else None
            score = dict(span._.get(settings.outputs.kb_ents)).get(kb_id)
            if score is not None:
                setattr(mention, "probability" if settings.rerank else "share", _rounded(score))
        elif not links_label(span.label_, settings):
            mention.status = "skipped"
        if settings.rerank and mention.status != "skipped":
            ranked = self.linker.rank(span._.get(settings.outputs.candidates))
            mention.nil_probability = _rounded(max(1 - fsum(p for _, p in ranked), 0.0))
        if explained is not None:
            mention.why = explained.why
            mention.candidates = [
                Found(
                    concept_id=found.concept_id,
                    name=found.canonical_name,
                    probability=_rounded(found.probability),
                    names=[name for name, _ in found.names],
                )
                for found in explained.concepts
            ]
        return mention


def _rounded(score: float) -> float:
    return round(score, 4)
