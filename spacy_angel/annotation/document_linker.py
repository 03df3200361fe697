"""Link documents with a pipeline; a document that fails does not affect the others."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from spacy.language import Language
from spacy.tokens import Span
from spacy.util import minibatch

from ..corpora.docs import GOLD_SPANS
from ..corpora.documents import CorpusDocument
from ..errors import AngelError
from ..linking.decision.writing import is_dropped
from ..linking.linker import AngelLinker
from ..linking.mentions.reading import find_spans
from ..linking.types import NIL, Link, describe_link
from ..pipelines.components import prepare_docs
from ..pipelines.negation import NoteContext, context_of
from .outputs import SCORES, Row

MentionSource = Literal["auto", "input", "pipeline"]

# So many documents in a row that fail are the fault of the machine or of the pipeline.
MAX_FAILURES = 16


@dataclass(frozen=True, slots=True)
class LinkingSettings:
    """What decides the links.

    mentions (MentionSource): `input` links the entities of the input, `pipeline` finds them, and
        `auto` takes those of the input where a document has any.
    candidates (bool): keep all candidates of each mention.
    negation (bool): say of each mention whether it is negated, uncertain, … (`CONTEXT`).
    batch_size (int): documents that go through the pipeline together.
    """

    mentions: MentionSource = "auto"
    candidates: bool = False
    negation: bool = False
    batch_size: int = 64


class DocumentLinker:
    """Links documents; the same documents in the same order give the same links.

    nlp (Language): a pipeline; its components after the linker do not run.
    linker (AngelLinker): the linker in it.
    settings (LinkingSettings): see there.
    """

    def __init__(
        self,
        nlp: Language,
        linker: AngelLinker,
        settings: LinkingSettings = LinkingSettings(),
    ) -> None:
        self.nlp = nlp
        self.linker = linker
        self._settings = settings
        self._failed_in_a_row = 0
        keys = {GOLD_SPANS, linker.settings.candidates.span_key} if settings.negation else ()
        self._contexts = {key: NoteContext(nlp, key) for key in keys}
        # Loaded now, so that a missing model or vocabulary is not the failure of a document.
        linker.kb.search_space(linker.generator.prompts, [None])

    def link(self, documents: Sequence[CorpusDocument]) -> Iterator[Row | str]:
        """Link documents batch by batch.

        documents (Sequence[CorpusDocument]): any number.
        YIELDS (Row | str): the row of each document without `input`, see `outputs`; or the error
            that it failed with. `concept_id`, `name` and the scores are None without a link; of the
            scores, `probability` is set with `rerank`, and `share` without.
        RAISES (AngelError): the last MAX_FAILURES documents all failed.
        """
        for batch in minibatch(documents, self._settings.batch_size):
            # Words of the texts would stay in spaCy's vocabulary and fill the memory.
            with self.nlp.memory_zone():
                results = self._link_separately(batch)
            all_failed = all(isinstance(result, str) for result in results)
            self._failed_in_a_row = self._failed_in_a_row + len(batch) if all_failed else 0
            if self._failed_in_a_row >= MAX_FAILURES:
                n = self._failed_in_a_row
                raise AngelError(f"All of the last {n} documents failed: {results[-1]}")
            yield from results

    def _link_separately(self, documents: Sequence[CorpusDocument]) -> list[Row | str]:
        """Link documents together; where that fails, one half after the other, down to the document
        whose fault it is. A batch too large for a GPU's memory goes through in parts likewise."""
        wanted = self._settings.mentions
        given = [wanted == "input" or (wanted == "auto" and bool(d.mentions)) for d in documents]
        try:
            rows: dict[int, Row | str] = {}
            for kind in set(given):
                chosen = [i for i, own in enumerate(given) if own is kind]
                linked = self._link([documents[i] for i in chosen], kind)
                rows |= zip(chosen, linked, strict=True)
            return [rows[i] for i in range(len(documents))]
        except Exception as error:
            if len(documents) == 1:
                return [f"{type(error).__name__}: {error}"]
        half = len(documents) // 2
        return self._link_separately(documents[:half]) + self._link_separately(documents[half:])

    def _link(self, documents: Sequence[CorpusDocument], given: bool) -> list[Row]:
        settings = self.linker.settings
        span_key = GOLD_SPANS if given else settings.candidates.span_key
        if given and settings.decision.overwrite:
            # The identifier of a mention that is not linked would look like a link.
            documents = [document.without_ids() for document in documents]
        docs = list(prepare_docs(self.nlp, self.linker, documents, given=given))
        with self.linker.using(candidates={"span_key": span_key}):
            all_links = self.linker.predict(docs)
            settings = self.linker.settings.changed({})
        if self._contexts:
            docs = [self._contexts[span_key](doc) for doc in docs]
        return [
            {
                "doc_id": document.doc_id,
                "title_end": document.title_end,
                "text": document.text,
                "mentions": [
                    self._mention(span, link)
                    for span, link in zip(find_spans(doc, span_key), links, strict=True)
                    if not is_dropped(span, link, settings)
                ],
            }
            for document, doc, links in zip(documents, docs, all_links, strict=True)
        ]

    def _mention(self, span: Span, link: Link | None) -> dict[str, Any]:
        """A mention and its link. A mention that is not linked keeps its identifier."""
        label, concept_id, ents = span.label_, span.kb_id_, []
        if link is not None:
            label, concept_id = link.label or label, "" if link.kb_id == NIL else link.kb_id
            ents = link.kb_ents
        name, score = describe_link(concept_id, ents, self.linker.kb)
        mention = {
            "start": span.start_char,
            "end": span.end_char,
            "text": span.text,
            "label": label,
            **self._concept(concept_id or None, name or None, score),
        }
        if self._contexts:
            mention.update(context_of(span))
        if self._settings.candidates:
            # All concepts that were found, even if the thresholds leave no link.
            found = [] if link is None else link.candidates
            names = {each["concept_id"]: each["name"] for each in reversed(found)}
            ranked = self.linker.rank(found)
            mention["candidates"] = [self._concept(id, names[id], score) for id, score in ranked]
        return mention

    def _concept(self, concept_id: str | None, name: str | None, score: float | None) -> Row:
        score = None if score is None else round(score, 4)
        scores = (score, None) if self.linker.settings.reranker.enabled else (None, score)
        return {"concept_id": concept_id, "name": name, **dict(zip(SCORES, scores, strict=True))}
