"""Documents with their mentions → candidates → links, under the same settings, names and rules."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from spacy.tokens import Doc, Span

from ...component.characters import read
from ...curation.curated import Constraint, Curated, DocumentNames
from ..decision.links import GeneratedCandidates, Link, make_link
from ..decision.other_labels import other_readings, with_other_labels
from ..decision.writing import read_kb_id
from ..mentions.permitted import is_linked, links_label
from ..mentions.queries import read_queries
from ..mentions.reading import ReadDocument, read_mentions
from ..mentions.species_contexts import species_contexts
from ..settings.linker_settings import LinkerSettings
from .generator import CandidateGenerator

if TYPE_CHECKING:
    from ...model.mention import Mention
    from ...search.generator import Generator
    from ...vocabulary.kb import ConceptKB


class _Wanted(NamedTuple):
    """A mention that is looked for: `place` is its number among those of its document."""

    document: int
    place: int
    mention: "Mention"
    label: str
    constraint: Constraint | None


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
        wanted: list[_Wanted] = []
        for number, (doc, spans) in enumerate(zip(docs, spans_of, strict=True)):
            stay = [self._stays(span, overwrite) for span in spans]
            found.append([None if stays else GeneratedCandidates() for stays in stay])
            places = [
                i
                for i, span in enumerate(spans)
                if not stay[i]
                and links_label(span.label_, self.settings)
                and read(span.text).text.strip()
            ]
            document = ReadDocument(doc)
            constraints = self._constraints(document, [spans[i] for i in places])
            constraint_of = dict(zip(places, constraints, strict=True))
            for i, constraint in zip(places, constraints, strict=True):
                if constraint is not None and not constraint.is_mention:
                    found[-1][i] = GeneratedCandidates(constraint=constraint)
                    del constraint_of[i]
            mentions = self.mentions(document, [spans[i] for i in constraint_of])
            wanted += [
                _Wanted(number, i, mention, spans[i].label_, constraint)
                for (i, constraint), mention in zip(constraint_of.items(), mentions, strict=True)
            ]
        if not wanted:
            return found
        generator = self.model()
        num_beams = self.settings.num_beams or generator.num_beams
        candidate_generator = CandidateGenerator(
            generator, self.kb, self.settings, num_beams, self.curated
        )
        searched = candidate_generator.find(
            [one.mention for one in wanted],
            [one.label for one in wanted],
            [one.document for one in wanted],
            [one.constraint for one in wanted],
        )
        for one, candidates in zip(wanted, searched, strict=True):
            found[one.document][one.place] = candidates
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
        told = [""] * len(spans)
        if self.settings.reading.species_context:
            told = species_contexts(document, spans, self.own_kb)
        return read_mentions(
            document.doc,
            spans,
            n_sents=self.settings.n_sents,
            resolve_abbreviations=self.settings.reading.abbreviations,
            collapse_spaces=format.collapse_spaces,
            expand_context=format.expand_context,
            species_contexts=told,
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
                    read(span.text).text, span.label_, names, self.kb, self.settings, preferred
                )
                for span, names in zip(spans, doc_found, strict=True)
            ]
            for spans, doc_found in zip(spans_of, found, strict=True)
        ]

    def _constraints(
        self, document: ReadDocument, spans: Sequence[Span]
    ) -> Sequence[Constraint | None]:
        """What rules say of the mentions of a document, one each."""
        if self.curated is None:
            return [None] * len(spans)
        names = DocumentNames(document.text, self.kb)
        return [
            self.curated.constraint(document.text_of(span), span.label_, names) for span in spans
        ]

    def _stays(self, span: Span, overwrite: bool) -> bool:
        """Whether a mention keeps what it has: another linker's, or its identifier."""
        has_id = bool(read_kb_id(span, self.settings))
        if is_linked(span.label_, self.settings, self.linked_elsewhere):
            return has_id and not overwrite
        return has_id or span.label_ not in self.settings.labels_discard
