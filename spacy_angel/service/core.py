"""The pipeline and its answers, as the web service and the MCP tools share them."""

import asyncio
from collections.abc import Sequence

from spacy.language import Language
from starlette.requests import Request

from ..corpora.documents import CorpusDocument, GoldMention, place_of
from ..linking.linker import AngelLinker
from ..vocabulary.lookup.typed import search_concepts
from ..vocabulary.names.concepts import Concept
from .batches import MAX_DOCUMENTS, LinkQueue
from .limits import Limits, Refused
from .linking import Job, PipelineLinker
from .schema import GivenDocument, GivenString, LinkedMention, LinkRequest, NameHit


class Service:
    """Answers of a pipeline. Linking goes through one queue; the rest reads the vocabulary.

    nlp (Language): the pipeline. linker (AngelLinker): the linker in it.
    limits (Limits): of a request.
    """

    def __init__(
        self,
        nlp: Language,
        linker: AngelLinker,
        limits: Limits = Limits(),  # noqa: B008 (frozen)
    ) -> None:
        self.limits = limits
        self.pipeline = PipelineLinker(nlp, linker)
        self.kb = linker.kb
        self.n_waiting = 0
        self._queue = LinkQueue(self.pipeline)
        # Built now, so that the first search need not wait for it.
        _ = self.kb.nearest.index

    def close(self) -> None:
        """Answer the waiting requests, and accept no more."""
        self._queue.close()

    async def link(
        self, jobs: Sequence[Job], request: Request | None = None
    ) -> list[list[LinkedMention]]:
        """Link the documents of a request.

        jobs (Sequence[Job]): from `jobs_of`.
        request (Request | None): when its client disconnects, the rest is not linked.
        RETURNS (list[list[LinkedMention]]): mentions of each document.
        RAISES (Refused): too many requests are waiting, the request takes longer than it may, or
            the pipeline fails on a document.
        """
        if self.n_waiting >= self.limits.max_waiting:
            raise Refused(429, f"{self.n_waiting:,} requests are waiting. Try again later.")
        self.n_waiting += 1
        try:
            return await asyncio.wait_for(self._link(jobs, request), self.limits.max_seconds)
        except asyncio.TimeoutError:
            message = f"The request took more than {self.limits.max_seconds:,} seconds."
            raise Refused(503, f"{message} Send it in parts.") from None
        finally:
            self.n_waiting -= 1

    async def _link(
        self, jobs: Sequence[Job], request: Request | None
    ) -> list[list[LinkedMention]]:
        linked: list[list[LinkedMention]] = []
        for begin in range(0, len(jobs), MAX_DOCUMENTS):
            if request is not None and await request.is_disconnected():
                raise Refused(499, "The client has disconnected.")
            futures = map(self._queue.submit, jobs[begin : begin + MAX_DOCUMENTS])
            linked += await asyncio.gather(*map(asyncio.wrap_future, futures))
        return linked

    def search(self, text: str, limit: int) -> list[NameHit]:
        """text (str): an identifier, a name or its beginning. limit (int): maximum number.
        RETURNS (list[NameHit]): concepts, best first."""
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

    def concept(self, concept_id: str) -> Concept:
        """concept_id (str): in any spelling. RETURNS (Concept): the concept.
        RAISES (Refused): there is none."""
        concept = self.kb.get(concept_id.strip())
        if concept is None:
            raise Refused(404, "No concept has this identifier. Search for its name.")
        return concept


def jobs_of(request: LinkRequest, limits: Limits, *, explain: bool = False) -> list[Job]:
    """The documents of a request: its text, then its documents, then its strings.

    request (LinkRequest): the request. limits (Limits): of documents, mentions and characters.
    explain (bool): see `Job`.
    RETURNS (list[Job]): one each.
    RAISES (Refused): the request exceeds a limit, or a mention is not in its text.
    """
    jobs = []
    if request.text is not None:
        jobs.append(Job(CorpusDocument("1", request.text, ()), False, explain))
    for i, given in enumerate(request.documents):
        document = _corpus_document(given, i, len(jobs) + 1)
        jobs.append(Job(document, given.mentions is not None, explain))
    for i, string in enumerate(request.strings):
        jobs.append(Job(_of_string(string, i, len(jobs) + 1), True, explain))
    longest = max((len(job.document.text) for job in jobs), default=0)
    for found, most, what in (
        (len(jobs), limits.max_documents, "documents"),
        (longest, limits.max_characters, "characters in one text"),
    ):
        if found > most:
            raise Refused(422, f"The request has {found:,} {what}; at most {most:,} are allowed.")
    return jobs


def _corpus_document(given: GivenDocument, i: int, number: int) -> CorpusDocument:
    mentions = []
    for j, mention in enumerate(given.mentions or ()):
        covered = given.text[mention.start : mention.end]
        if not covered or covered != covered.strip() or mention.end > len(given.text):
            where = f"documents[{i}].mentions[{j}]"
            raise Refused(422, f"{where}: start and end are not those of a mention in the text.")
        mentions.append(GoldMention(mention.start, mention.end, covered, mention.label))
    return CorpusDocument(given.doc_id or str(number), given.text, tuple(mentions))


def _of_string(string: GivenString, i: int, number: int) -> CorpusDocument:
    """The context as the document, or the string alone."""
    mention = string.text.strip()
    context = mention if string.context is None else string.context
    if place_of(mention, context) < 0:
        raise Refused(422, f"strings[{i}]: the text is not in its context, or blank.")
    return CorpusDocument.of_string(str(number), mention, context, string.label)
