"""One open pipeline for many callers: what the web service and the MCP tools share."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING

from ..about import __version__
from ..corpora.documents import CorpusDocument, GoldMention, place_of
from ..linking.showing.display import concept_url
from ..vocabulary.lookup.typed import search_concepts
from .batches import LinkQueue
from .limits import Limits, Refused
from .linking import Failure, Job, Linked, PipelineLinker
from .schema import ConceptAnswer, GivenDocument, GivenString, Health, LinkRequest, NameHit

if TYPE_CHECKING:
    from spacy.language import Language

    from ..linking.linker import AngelLinker

# Seconds between two checks whether the client is still connected.
_CHECK_INTERVAL = 1.0


class Service:
    """Answers of a pipeline. Linking goes through one queue; the rest reads the vocabulary.

    nlp (Language): the pipeline. linker (AngelLinker): the linker in it.
    limits (Limits): of a request.
    on_batch (Callable): see `LinkQueue`.
    """

    def __init__(
        self,
        nlp: "Language",
        linker: "AngelLinker",
        limits: Limits = Limits(),  # noqa: B008 (frozen)
        on_batch: Callable[[int, float], None] = lambda documents, seconds: None,
    ) -> None:
        self.limits = limits
        self.kb = linker.kb
        self.queue = LinkQueue(PipelineLinker(nlp, linker), limits.max_waiting, on_batch)
        # Built now, so that the first search need not wait for it.
        _ = self.kb.nearest.index

    def close(self) -> None:
        """Answer the waiting requests, and accept nothing more."""
        self.queue.close()

    async def link(
        self, jobs: Sequence[Job], is_gone: Callable[[], Awaitable[bool]] | None = None
    ) -> list[Linked]:
        """Link the documents of a request.

        jobs (Sequence[Job]): from `jobs_of`.
        is_gone (Callable | None): whether the client has gone; the rest is not linked then.
        RETURNS (list[Linked]): one per document.
        RAISES (Refused): too many requests are waiting, the request takes longer than it may, or
            the pipeline fails on a document.
        """
        end = monotonic() + self.limits.max_seconds
        future = asyncio.wrap_future(self.queue.submit(jobs))
        try:
            while not (await asyncio.wait([future], timeout=_CHECK_INTERVAL))[0]:
                if is_gone is not None and await is_gone():
                    raise Refused(499, "connection: closed.")
                if monotonic() > end:
                    message = f"The request took more than {self.limits.max_seconds:,} seconds."
                    raise Refused(503, f"{message} Send it in parts.")
        finally:
            future.cancel()
        linked = []
        for job, result in zip(jobs, future.result(), strict=True):
            if isinstance(result, Failure):
                where = f"document {job.document.doc_id}"
                raise Refused(500, f"{where}: the pipeline fails on it ({result.kind}).")
            linked.append(result)
        return linked

    def search(self, text: str, limit: int) -> list[NameHit]:
        """text (str): as one types it. limit (int): most concepts.
        RETURNS (list[NameHit]): best first."""
        return [
            NameHit(
                concept_id=hit.concept.concept_id,
                name=hit.concept.canonical_name,
                matched=hit.name,
                how=hit.how,
                types=list(hit.concept.types),
            )
            for hit in search_concepts(self.kb, text, limit)
        ]

    def concept(self, concept_id: str) -> ConceptAnswer:
        """concept_id (str): in any spelling. RETURNS (ConceptAnswer): the concept.
        RAISES (Refused): there is none."""
        concept = self.kb.get(concept_id.strip())
        if concept is None:
            raise Refused(404, "No concept has this identifier. Search by name: /concepts?q=NAME.")
        return ConceptAnswer(
            concept_id=concept.concept_id,
            name=concept.canonical_name,
            aliases=list(concept.aliases),
            types=list(concept.types),
            definition=concept.definition,
            alternate_ids=list(concept.alternate_ids),
            url=concept_url(concept.concept_id) or None,
        )

    def health(self) -> Health:
        """RETURNS (Health): what the pipeline links to."""
        names = self.kb.counts["names"]
        return Health(version=__version__, concepts=len(self.kb), names=names)


def jobs_of(
    request: LinkRequest, limits: Limits, *, explain: bool = False, html: bool = False
) -> list[Job]:
    """The documents of a request: texts, then documents, then strings.

    request (LinkRequest): as it came. limits (Limits): of documents and mentions.
    explain (bool), html (bool): see `Job`.
    RETURNS (list[Job]): one each.
    RAISES (Refused): more than may be, or a mention that its text does not have.
    """
    texts = [*([] if request.text is None else [request.text]), *request.texts]
    documents = [*(GivenDocument(text=text) for text in texts), *request.documents]
    lengths = [len(d.text) for d in documents]
    lengths += [len(s.text if s.context is None else s.context) for s in request.strings]
    n_mentions = sum(len(d.mentions or ()) for d in documents) + len(request.strings)
    for found, most, what in (
        (len(lengths), limits.max_documents, "documents"),
        (n_mentions, limits.max_mentions, "mentions"),
        (max(lengths, default=0), limits.max_characters, "characters in one text"),
    ):
        if found > most:
            raise Refused(422, f"The request has {found:,} {what}; at most {most:,} are allowed.")
    jobs = []
    for number, document in enumerate(documents, start=1):
        read = _corpus_document(document, number, len(texts))
        jobs.append(Job(read, document.mentions is not None, explain, html))
    for number, string in enumerate(request.strings):
        read = _of_string(string, number, len(documents) + number + 1)
        jobs.append(Job(read, True, explain, html))
    return jobs


def _corpus_document(document: GivenDocument, number: int, n_texts: int) -> CorpusDocument:
    text = document.text
    mentions = []
    for i, mention in enumerate(document.mentions or ()):
        covered = text[mention.start : mention.end]
        is_inside = mention.start < mention.end <= len(text)
        if not is_inside or not covered.strip() or covered != covered.strip():
            where = f"documents[{number - n_texts - 1}].mentions[{i}]"
            raise Refused(422, f"{where}: start and end are not those of a mention in the text.")
        mentions.append(GoldMention(mention.start, mention.end, covered, mention.label))
    return CorpusDocument(document.doc_id or str(number), text, tuple(mentions))


def _of_string(string: GivenString, i: int, number: int) -> CorpusDocument:
    """The context as the document, or the string alone."""
    mention = string.text.strip()
    context = mention if string.context is None else string.context
    if place_of(mention, context) < 0:
        raise Refused(422, f"strings[{i}]: the text is not in its context, or blank.")
    return CorpusDocument.of_string(str(number), mention, context, string.label)
