"""Documents through a pipeline: entities from the input or found, links, failures kept apart."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..corpora.docs import GOLD_SPANS
from ..corpora.documents import CorpusDocument
from ..errors import AngelError
from ..linking.decision.writing import is_dropped
from ..linking.mentions.reading import find_spans
from ..linking.ranking.concepts import NIL
from ..pipelines.components import MentionPipe, each_together
from ..pipelines.open import open_pipeline
from ..pipelines.saved import linker_names, loading, recogniser_names
from ..search.cached import SearchCache
from .documents import SCORE_PLACES, AnnotatedDocument, AnnotatedMention, Failure, ScoredConcept

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Span

    from ..linking.decision.links import Link
    from ..linking.linker import AngelLinker

MentionSource = Literal["auto", "input", "pipeline"]

# Where as many documents fail in whole batches one after the other, it is the machine or the
# pipeline.
MANY_FAILURES = 16


@dataclass(frozen=True, slots=True)
class LinkingSettings:
    """What decides which links come out.

    mentions (MentionSource): `input` takes the entities of the input, `pipeline` finds them,
        `auto` takes those of the input where a document has any.
    candidates (bool): give out all candidates of a mention.
    cache (bool): search mentions with equal text and context once a shard.
    batch_size (int): documents that go through the pipeline together.
    """

    mentions: MentionSource = "auto"
    candidates: bool = False
    cache: bool = False
    batch_size: int = 64


class DocumentLinker:
    """Links documents; the same documents in the same order give the same links.

    nlp (Language): a pipeline, whose components after the linker do not run.
    linker (AngelLinker): the linker in it.
    settings (LinkingSettings): see there.
    """

    def __init__(
        self,
        nlp: "Language",
        linker: "AngelLinker",
        settings: LinkingSettings = LinkingSettings(),
    ) -> None:
        from spacy.util import raise_error

        self.nlp = nlp
        self.linker = linker
        self._settings = settings
        self._failed_in_a_row = 0
        self._docs = MentionPipe(nlp, linker)
        # Not `nlp.set_error_handler`: spaCy's own recogniser has no place for one.
        nlp.default_error_handler = raise_error
        for _, component in nlp.pipeline:
            if hasattr(component, "set_error_handler"):
                with suppress(AttributeError):
                    component.set_error_handler(raise_error)
        # Opened now: without model or vocabulary no document could be linked.
        linker.kb.search_space(linker.generator.prompts, [None])
        linker.search_cache = SearchCache() if settings.cache else None

    def __call__(
        self, documents: Sequence[CorpusDocument], *, strict: bool = False
    ) -> list[AnnotatedDocument | Failure]:
        """Link the documents of a shard.

        documents (Sequence[CorpusDocument]): any number; in memory.
        strict (bool): raise where a document fails.
        RETURNS (list[AnnotatedDocument | Failure]): one a document, in their order.
        RAISES (AngelError): a document failed and `strict`, or all MANY_FAILURES last ones did, in
            whole batches.
        """
        return [result for batch in self.batches(documents, strict=strict) for result in batch]

    def batches(
        self,
        documents: Sequence[CorpusDocument],
        *,
        strict: bool = False,
        kept: Mapping[int, list[AnnotatedDocument]] | None = None,
    ) -> Iterator[list[AnnotatedDocument | Failure]]:
        """Link the documents of a shard, a batch at a time.

        documents (Sequence[CorpusDocument]), strict (bool): as for a call.
        kept (Mapping[int, list[AnnotatedDocument]] | None): batches, by number from 0, that were
            linked before; they are handed on.
        YIELDS (list[AnnotatedDocument | Failure]): one a document, in their order.
        RAISES (AngelError): as a call.
        """
        if self.linker.search_cache is not None:
            self.linker.search_cache.clear()
        size = self._settings.batch_size
        for number, start in enumerate(range(0, len(documents), size)):
            if kept is not None and number in kept:
                self._failed_in_a_row = 0
                yield list(kept[number])
                continue
            with warnings.catch_warnings():
                # scispaCy's detector warns of every text without an abbreviation.
                warnings.filterwarnings("ignore", message=r"\[W036\]")
                results = self._batch(documents[start : start + size], strict)
            yield results

    def _batch(
        self, batch: Sequence[CorpusDocument], strict: bool
    ) -> list[AnnotatedDocument | Failure]:
        results = _isolate(self._link, batch)
        failures = [result for result in results if isinstance(result, Failure)]
        all_failed = len(failures) == len(batch)
        self._failed_in_a_row = self._failed_in_a_row + len(batch) if all_failed else 0
        if failures and (strict or self._failed_in_a_row >= MANY_FAILURES):
            first = failures[0]
            failed = f"Document {first.doc_id} failed: {first.reason}."
            if strict:
                raise AngelError(f"{failed} Without --strict it is recorded and skipped.")
            n = self._failed_in_a_row
            raise AngelError(
                f"{failed} All of the last {n} documents failed. Fix the cause, and start the same "
                "command again: it continues from here."
            )
        return results

    def _link(self, documents: Sequence[CorpusDocument]) -> list[AnnotatedDocument]:
        wanted = self._settings.mentions

        def is_given(document: CorpusDocument) -> bool:
            return wanted == "input" or (wanted == "auto" and bool(document.mentions))

        return each_together(documents, is_given, self._link_alike)

    def _link_alike(
        self, documents: Sequence[CorpusDocument], given: bool
    ) -> list[AnnotatedDocument]:
        docs = list(self._docs(documents, given=given))
        span_key = GOLD_SPANS if given else self.linker.settings.span_key
        with self.linker.using(span_key=span_key):
            links = self.linker.predict(docs)
        return [
            self._document(document, *self._kept(doc, span_key, doc_links), given)
            for document, doc, doc_links in zip(documents, docs, links, strict=True)
        ]

    def _kept(
        self, doc: "Doc", span_key: str | None, links: "Sequence[Link | None]"
    ) -> "tuple[list[Span], list[Link | None]]":
        """The mentions that stay in `doc.ents`, or all of a group, and their links."""
        settings = self.linker.settings.changed(span_key=span_key)
        spans = find_spans(doc, span_key)
        kept = [
            i
            for i, (span, link) in enumerate(zip(spans, links, strict=True))
            if not is_dropped(span, link, settings)
        ]
        return [spans[i] for i in kept], [links[i] for i in kept]

    def _document(
        self,
        document: CorpusDocument,
        spans: Sequence[Any],
        links: "Sequence[Link | None]",
        given: bool,
    ) -> AnnotatedDocument:
        parts = [mention.parts for mention in document.mentions] if given else [()] * len(spans)
        mentions = tuple(
            AnnotatedMention(
                span.start_char,
                span.end_char,
                span.text,
                span.label_ if link is None else link.label or span.label_,
                parts=some,
                **self._concept(link, span.kb_id_),
            )
            for span, link, some in zip(spans, links, parts, strict=True)
        )
        return AnnotatedDocument(
            document.doc_id, document.text, mentions, title_end=document.title_end
        )

    def _concept(self, link: "Link | None", kept: str) -> dict[str, Any]:
        """Identifier, name, score, candidates; without a link the identifier that was there."""
        if link is None:
            return {"concept_id": kept, "name": self._name(kept)}
        fields: dict[str, Any] = {"is_share": not self.linker.settings.rerank}
        if self._settings.candidates:
            fields["candidates"] = self._candidates(link)
        if link.kb_id != NIL:
            score = dict(link.kb_ents)[link.kb_id]
            fields |= {
                "concept_id": link.kb_id,
                "name": self._name(link.kb_id),
                "score": round(score, SCORE_PLACES),
            }
        return fields

    def _candidates(self, link: "Link") -> tuple[ScoredConcept, ...]:
        """All concepts that were found, also where the thresholds leave no link."""
        names: dict[str, str] = {}
        for candidate in link.candidates:
            names.setdefault(candidate["concept_id"], candidate["name"])
        return tuple(
            ScoredConcept(concept_id, names[concept_id], round(score, SCORE_PLACES))
            for concept_id, score in self.linker.rank(link.candidates)
        )

    def _name(self, concept_id: str) -> str:
        kb = self.linker.kb
        return kb[concept_id].canonical_name if concept_id in kb else ""


def open_linker(folder: str, device: str | None, settings: LinkingSettings) -> DocumentLinker:
    """Open a pipeline for linking, on one thread where it computes on the CPU: sums in another
    order would give other last places.

    folder (str): of the pipeline.
    device (str | None): of its linkers and recognisers, in place of the pipeline's setting.
    settings (LinkingSettings): see there.
    RETURNS (DocumentLinker): with the pipeline open.
    RAISES (AngelError): it cannot be opened, or has no linker.
    """
    import torch

    from ..pipelines.lazy import load_folder

    torch.set_num_threads(1)
    overrides = {}
    with loading(folder):
        if device is not None:
            names = [*linker_names(Path(folder)), *recogniser_names(Path(folder))]
            overrides = {f"components.{name}.device": device for name in names}
        opened = load_folder(Path(folder), config=overrides)
    nlp, linker = open_pipeline(opened)
    return DocumentLinker(nlp, linker, settings)


def _isolate(
    link: Callable[[Sequence[CorpusDocument]], list[AnnotatedDocument]],
    documents: Sequence[CorpusDocument],
) -> list[AnnotatedDocument | Failure]:
    """Link documents together; where that fails, one half after the other, down to the document
    whose fault it is. Too large a batch for a GPU's memory goes through in parts likewise."""
    try:
        return list(link(documents))
    except Exception as error:
        if len(documents) == 1:
            reason = f"{type(error).__name__}: {error}"
            return [Failure(documents[0].doc_id, reason)]
    half = len(documents) // 2
    return [*_isolate(link, documents[:half]), *_isolate(link, documents[half:])]
