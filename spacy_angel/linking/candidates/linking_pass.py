"""Documents with their mentions → candidates → links, under the same settings, names and rules."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spacy.tokens import Doc, Span

from ...component.characters import clean
from ...vocabulary.changes.curated import Constraint, Curated
from ..decision.links import GeneratedCandidates, Link, make_link
from ..decision.other_labels import other_readings, with_other_labels
from ..decision.writing import read_kb_id
from ..mentions.permitted import is_linked, links_label
from ..mentions.queries import read_queries
from ..mentions.reading import ReadDocument, read_mentions
from ..mentions.species_contexts import species_contexts
from ..settings.linker_settings import LinkerSettings
from .generator import CandidateGenerator, PendingMention

if TYPE_CHECKING:
    from ...model.mention import Mention
    from ...search.generator import Generator
    from ...vocabulary.kb import ConceptKB


@dataclass(frozen=True)
class LinkingPass:
    """What a batch of documents is linked with; nothing is written.

    settings (LinkerSettings): of the linker. own_kb (ConceptKB): its vocabulary.
    curated (Curated | None): this under the rules of curation, where there are some.
    model (Callable[[], Generator]): opens the model, where a mention has to be searched.
    linked_elsewhere (Collection[str]): labels of other linkers of the pipeline.
    """

    settings: LinkerSettings
    own_kb: "ConceptKB"
    curated: Curated | None
    model: "Callable[[], Generator]"
    linked_elsewhere: Collection[str] = ()

    @property
    def kb(self) -> "ConceptKB":
        """RETURNS (ConceptKB): with the names that rules give and take."""
        return self.own_kb if self.curated is None else self.curated.kb

    def links(
        self, docs: Sequence[Doc], spans_of: Sequence[Sequence[Span]]
    ) -> list[list[Link | None]]:
        """docs (Sequence[Doc]): documents. spans_of (Sequence[Sequence[Span]]): mentions of each.
        RETURNS (list[list[Link | None]]): as `AngelLinker.predict`."""
        found = self.candidates(docs, spans_of, overwrite=self.settings.overwrite)
        links = self.decide(spans_of, found)
        if self.settings.span_key is not None:
            return links
        others = [
            other_readings(*one, self.settings) for one in zip(spans_of, found, links, strict=True)
        ]
        if not any(others):
            return links
        other_spans = [[reading.span for reading in some] for some in others]
        found = self.candidates(docs, other_spans, overwrite=True)
        return list(map(with_other_labels, links, others, self.decide(other_spans, found)))

    def candidates(
        self, docs: Sequence[Doc], spans_of: Sequence[Sequence[Span]], *, overwrite: bool
    ) -> list[list[GeneratedCandidates | None]]:
        """Candidates of every mention of the documents.

        docs (Sequence[Doc]): documents. spans_of (Sequence[Sequence[Span]]): mentions of each.
        overwrite (bool): those that have an identifier as well.
        RETURNS (list[list[GeneratedCandidates | None]]): of each mention: None where it stays as it
            is, because it has an identifier, or its label is another linker's or unknown; without
            candidates where it is not looked for, because it is discarded, blank, or by a rule no
            mention.
        """
        found: list[list[GeneratedCandidates | None]] = []
        pending: list[PendingMention] = []
        for number, (doc, spans) in enumerate(zip(docs, spans_of, strict=True)):
            document = ReadDocument(doc)
            found.append([])
            constraints: dict[int, Constraint | None] = {}
            for i, span in enumerate(spans):
                if self._keeps_existing_link(span, overwrite):
                    found[-1].append(None)
                    continue
                constraint = None
                is_searched = links_label(span.label_, self.settings) and _has_text(span)
                if is_searched and self.curated is not None:
                    text = document.text_of(span)
                    constraint = self.curated.constraint(text, span.label_)
                if is_searched and (constraint is None or constraint.is_mention):
                    constraints[i] = constraint
                found[-1].append(GeneratedCandidates(constraint=constraint))
            mentions = self.mentions(document, [spans[i] for i in constraints])
            pending += [
                PendingMention(mention, spans[i].label_, number, i, constraint)
                for (i, constraint), mention in zip(constraints.items(), mentions, strict=True)
            ]
        if not pending:
            return found
        generator = self.model()
        num_beams = self.settings.num_beams or generator.num_beams
        candidate_generator = CandidateGenerator(
            generator, self.kb, self.settings, num_beams, self.curated
        )
        for one, candidates in zip(pending, candidate_generator.find(pending), strict=True):
            found[one.document][one.position] = candidates
        return found

    def mentions(self, document: ReadDocument, spans: Sequence[Span]) -> "list[Mention]":
        """document (ReadDocument): a document. spans (Sequence[Span]): its mentions.
        RETURNS (list[Mention]): one a span, with all that is looked for in its place."""
        return [
            read_queries(mention, span, self.kb, self.settings, document, self.curated)
            for mention, span in zip(self.read(document, spans), spans, strict=True)
        ]

    def read(self, document: ReadDocument, spans: Sequence[Span]) -> "list[Mention]":
        """document (ReadDocument): a document. spans (Sequence[Span]): its mentions.
        RETURNS (list[Mention]): one a span, in its context, as settings and model have it read."""
        if not spans:
            return []
        format = self.model().prompts.format
        contexts = None
        if self.settings.reading.species_context:
            contexts = species_contexts(document, spans, self.own_kb)
        return read_mentions(
            document.doc,
            spans,
            n_sents=self.settings.n_sents,
            resolve_abbreviations=self.settings.reading.abbreviations,
            collapse_spaces=format.collapse_spaces,
            expand_context=format.expand_context,
            species_contexts=contexts,
            document=document,
        )

    def decide(
        self,
        spans_of: Sequence[Sequence[Span]],
        found: Sequence[Sequence[GeneratedCandidates | None]],
    ) -> list[list[Link | None]]:
        """spans_of (Sequence[Sequence[Span]]): mentions of each document. found
        (Sequence[Sequence[GeneratedCandidates | None]]): their candidates.
        RETURNS (list[list[Link | None]]): their links; None where there are no candidates."""
        preferred = {} if self.curated is None else self.curated.preferred
        return [
            [
                None
                if names is None
                else make_link(
                    clean(span.text).text, span.label_, names, self.kb, self.settings, preferred
                )
                for span, names in zip(spans, doc_found, strict=True)
            ]
            for spans, doc_found in zip(spans_of, found, strict=True)
        ]

    def _keeps_existing_link(self, span: Span, overwrite: bool) -> bool:
        """Whether a mention keeps what it has: another linker's, or its identifier."""
        has_id = bool(read_kb_id(span, self.settings))
        if is_linked(span.label_, self.settings, self.linked_elsewhere):
            return has_id and not overwrite
        return has_id or span.label_ not in self.settings.labels_discard


def _has_text(span: Span) -> bool:
    return bool(clean(span.text).text.strip())
