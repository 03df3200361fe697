"""Link documents with a pipeline; a document that fails does not affect the others."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from spacy.util import minibatch, raise_error

from ..corpora.docs import GOLD_SPANS
from ..corpora.documents import CorpusDocument, GoldMention
from ..errors import AngelError
from ..linking.decision.writing import is_dropped
from ..linking.mentions.reading import find_spans
from ..linking.ranking.concepts import NIL
from ..pipelines.components import link_by_source, prepare_docs
from ..pipelines.load import load_folder, open_pipeline
from .outputs import SCORES, AnnotatedDocument

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Span

    from ..linking.decision.links import Link
    from ..linking.linker import AngelLinker

MentionSource = Literal["auto", "input", "pipeline"]

# So many documents in a row that fail are the fault of the machine or of the pipeline.
MAX_FAILURES = 16


@dataclass(frozen=True, slots=True)
class LinkingSettings:
    """What decides the links.

    mentions (MentionSource): `input` links the entities of the input, `pipeline` finds them, and
        `auto` takes those of the input where a document has any.
    candidates (bool): keep all candidates of each mention.
    batch_size (int): documents that go through the pipeline together.
    """

    mentions: MentionSource = "auto"
    candidates: bool = False
    batch_size: int = 64


class DocumentLinker:
    """Links documents; the same documents in the same order give the same links.

    nlp (Language): a pipeline; its components after the linker do not run.
    linker (AngelLinker): the linker in it.
    settings (LinkingSettings): see there.
    """

    def __init__(
        self,
        nlp: "Language",
        linker: "AngelLinker",
        settings: LinkingSettings = LinkingSettings(),
    ) -> None:
        self.nlp = nlp
        self.linker = linker
        self._settings = settings
        self._failed_in_a_row = 0
        # Not `nlp.set_error_handler`, which fails where a component has no place for one.
        nlp.default_error_handler = raise_error
        for _, component in nlp.pipeline:
            if hasattr(component, "set_error_handler"):
                with suppress(AttributeError):
                    component.set_error_handler(raise_error)
        # Loaded now, so that a missing model or vocabulary is not the failure of a document.
        linker.kb.search_space(linker.generator.prompts, [None])

    def link(self, documents: Sequence[CorpusDocument]) -> Iterator[AnnotatedDocument | Exception]:
        """Link documents batch by batch.

        documents (Sequence[CorpusDocument]): any number.
        YIELDS (AnnotatedDocument | Exception): each document, or what it failed with.
        RAISES (AngelError): the last MAX_FAILURES documents all failed.
        """
        for batch in minibatch(documents, self._settings.batch_size):
            # Words of the texts would stay in spaCy's vocabulary and fill the memory.
            with warnings.catch_warnings(), self.nlp.memory_zone():
                # scispaCy's detector warns of every text without an abbreviation.
                warnings.filterwarnings("ignore", message=r"\[W036\]")
                results = self._link_separately(batch)
            all_failed = all(isinstance(result, Exception) for result in results)
            self._failed_in_a_row = self._failed_in_a_row + len(batch) if all_failed else 0
            if self._failed_in_a_row >= MAX_FAILURES:
                n, reason = self._failed_in_a_row, failure_reason(results[-1])
                raise AngelError(f"All of the last {n} documents failed: {reason}")
            yield from results

    def _link_separately(
        self, documents: Sequence[CorpusDocument]
    ) -> list[AnnotatedDocument | Exception]:
        """Link documents together; where that fails, one half after the other, down to the document
        whose fault it is. A batch too large for a GPU's memory goes through in parts likewise."""
        try:
            return list(self._link(documents))
        except Exception as error:
            if len(documents) == 1:
                return [error]
        half = len(documents) // 2
        return [
            *self._link_separately(documents[:half]),
            *self._link_separately(documents[half:]),
        ]

    def _link(self, documents: Sequence[CorpusDocument]) -> list[AnnotatedDocument]:
        wanted = self._settings.mentions
        given = [wanted == "input" or (wanted == "auto" and bool(d.mentions)) for d in documents]
        return link_by_source(documents, given, self._link_alike)

    def _link_alike(
        self, documents: Sequence[CorpusDocument], given: bool
    ) -> list[AnnotatedDocument]:
        settings = self.linker.settings
        span_key = GOLD_SPANS if given else settings.span_key
        if given and settings.overwrite:
            # The identifier of a mention that is not linked would look like a link.
            documents = [document.without_ids() for document in documents]
        docs = list(prepare_docs(self.nlp, self.linker, documents, given=given))
        with self.linker.using(span_key=span_key):
            all_links = self.linker.predict(docs)
        settings = settings.changed(span_key=span_key)
        results = []
        for document, doc, links in zip(documents, docs, all_links, strict=True):
            parts = [mention.parts for mention in document.mentions] if given else [()] * len(links)
            linked = [
                self._mention(span, link, pieces)
                for span, link, pieces in zip(find_spans(doc, span_key), links, parts, strict=True)
                if not is_dropped(span, link, settings)
            ]
            mentions, fields = zip(*linked, strict=True) if linked else ((), ())
            document = CorpusDocument(
                document.doc_id, document.text, mentions, title_end=document.title_end
            )
            results.append(AnnotatedDocument(document, list(fields)))
        return results

    def _mention(
        self, span: "Span", link: "Link | None", parts: tuple[str, ...]
    ) -> tuple[GoldMention, dict[str, Any]]:
        """A mention and what is known of its link, see `AnnotatedDocument`. A mention that is not
        linked keeps its identifier."""
        label, concept_id, score = span.label_, span.kb_id_, None
        if link is not None:
            label, concept_id = link.label or label, "" if link.kb_id == NIL else link.kb_id
            score = dict(link.kb_ents)[concept_id] if concept_id else None
        kb = self.linker.kb
        name = kb[concept_id].canonical_name if concept_id in kb else None
        fields: dict[str, Any] = {"name": name or None, **self._scores(score)}
        if self._settings.candidates:
            # All concepts that were found, even if the thresholds leave no link.
            found = [] if link is None else link.candidates
            names = {c["concept_id"]: c["name"] for c in reversed(found)}
            fields["candidates"] = [
                {"concept_id": concept_id, "name": names[concept_id], **self._scores(score)}
                for concept_id, score in self.linker.rank(found)
            ]
        mention = GoldMention(span.start_char, span.end_char, span.text, label, concept_id, parts)
        return mention, fields

    def _scores(self, score: float | None) -> dict[str, float | None]:
        score = None if score is None else round(score, 4)
        values = (score, None) if self.linker.settings.rerank else (None, score)
        return dict(zip(SCORES, values, strict=True))


def failure_reason(error: Any) -> str:
    """error (Any): what a document failed with. RETURNS (str): its type and message."""
    return f"{type(error).__name__}: {error}"


def open_linker(folder: str, device: str | None, settings: LinkingSettings) -> DocumentLinker:
    """Open a pipeline for linking. On the CPU it uses one thread, because sums in another order
    would differ in the last place.

    folder (str): of the pipeline.
    device (str | None): of its linkers and recognizers, in place of the pipeline's setting.
    settings (LinkingSettings): see there.
    RETURNS (DocumentLinker): with the pipeline open.
    RAISES (AngelError): it cannot be opened, or has no linker.
    """
    import torch

    torch.set_num_threads(1)
    overrides = {} if device is None else {"device": device}
    nlp, linker = open_pipeline(load_folder(Path(folder), overrides))
    return DocumentLinker(nlp, linker, settings)
