"""Link a batch of documents: spans → queries → candidates → links."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from spacy.tokens import Doc, Span

from ...component.probability import other_labels_of, probability_of
from ...model.mention import Mention
from ...vocabulary.changes.applied_rules import Constraint
from ...vocabulary.names.concepts import normalize_name
from ...vocabulary.names.entity_types import is_gene
from ..decision.preferred_ids import in_preferred_ids
from ..mentions.labels import is_linked, links_label
from ..mentions.reading import ReadDocument, read_mentions
from ..mentions.wordings import is_other_text, read_wordings
from ..ranking.features import is_short
from ..ranking.ranker import Ranker, rank
from ..settings.linker_settings import LinkerSettings
from ..types import MENTION, NIL, Link, Query, combine_links
from .generator import CandidateGenerator
from .names import NameReader

# Probability of a label that only the vocabulary suggests.
_BY_NAME = 0.5

if TYPE_CHECKING:
    from ...search.generator import Generator
    from ...vocabulary.kb import ConceptKB


_Row = tuple[Sequence[Span], Sequence[Query | None], list[Link | None]]


@dataclass(frozen=True)
class BatchLinker:
    """Links batches of documents with fixed settings and rules; does not change the documents.

    settings (LinkerSettings): settings of the linker.
    kb (ConceptKB): its vocabulary, with the curation rules applied.
    model (Generator): the model that searches for names.
    ranker (Ranker | None): the reranker; None: the model alone decides.
    linked_elsewhere (Collection[str]): labels that other linkers of the pipeline link.
    """

    settings: LinkerSettings
    kb: "ConceptKB"
    model: "Generator"
    ranker: Ranker | None
    linked_elsewhere: Collection[str] = ()

    def links(
        self, docs: Sequence[Doc], spans_of: Sequence[Sequence[Span]]
    ) -> list[list[Link | None]]:
        """docs (Sequence[Doc]): documents. spans_of (Sequence[Sequence[Span]]): the mentions of
        each document. RETURNS (list[list[Link | None]]): see `AngelLinker.predict`."""
        found = self.candidates(docs, spans_of, overwrite=self.settings.decision.overwrite)
        links = self.decide(found)
        if self.settings.candidates.span_key is None:
            self._link_other_labels(docs, list(zip(spans_of, found, links, strict=True)))
        return links

    def _link_other_labels(self, docs: Sequence[Doc], rows: Sequence[_Row]) -> None:
        """Link entities that are NIL under their own label under other possible labels, see
        `_other_labels`. For example, a chemical that the recognizer took for a gene is linked if
        the vocabulary has no such gene. Of several links, the one with the highest product of label
        and link probability is used. Mentions with curation rules are skipped.

        docs (Sequence[Doc]): documents. rows (Sequence[_Row]): the mentions of each document, their
            queries, and their links, which are changed in place.
        """
        names = NameReader(self.kb, self.settings)
        others = [
            [
                (i, Span(span.doc, span.start, span.end, label=label), probability)
                for i, (span, query, link) in enumerate(zip(*row, strict=True))
                if query is not None and query.constraint is None
                if link is not None and link.kb_id == NIL
                if links_label(span.label_, self.settings)
                for label, probability in self._other_labels(span, names).items()
                if links_label(label, self.settings)
            ]
            for row in rows
        ]
        if not any(others):
            return
        spans = [[span for _, span, _ in own] for own in others]
        linked = self.decide(self.candidates(docs, spans, overwrite=True))
        for own, of_others, (_, _, of_doc) in zip(others, linked, rows, strict=True):
            best: dict[int, float] = {}
            for (i, span, probability), link in zip(own, of_others, strict=True):
                if link is not None and link.kb_id != NIL:
                    score = probability * link.kb_ents[0][1]
                    if score > best.get(i, 0.0):
                        best[i], of_doc[i] = score, replace(link, label=span.label_)

    def _other_labels(self, span: Span, names: NameReader) -> dict[str, float]:
        """RETURNS (dict[str, float]): other labels of an entity that a recognizer found, with their
        probabilities: those of the recognizer, and, if the text is a name of one other label only,
        that label (`Kesimpta` is a drug). Genes are excluded: they have many short names, and
        chemicals include proteins."""
        found: list[str] = []
        is_found = probability_of(span) is not None and not is_short(span.text)
        if is_found and not is_gene(span.label_) and not names.is_name(span.text, span.label_):
            known = self.settings.candidates.types_by_label or ()
            found = [label for label in known if names.is_name(span.text, label)]
        is_clear = len(found) == 1 and not is_gene(found[0])
        return (dict.fromkeys(found, _BY_NAME) if is_clear else {}) | other_labels_of(span)

    def candidates(
        self, docs: Sequence[Doc], spans_of: Sequence[Sequence[Span]], *, overwrite: bool
    ) -> list[list[Query | None]]:
        """Find the candidates of every mention of the documents.

        docs (Sequence[Doc]): documents.
        spans_of (Sequence[Sequence[Span]]): the mentions of each document.
        overwrite (bool): include mentions that already have an identifier.
        RETURNS (list[list[Query | None]]): one query per mention. It is None if the mention keeps
            its identifier, or if its label is unknown or belongs to another linker. It has no
            candidates if the mention is blank, or is not linked because of its label or a rule.
        """
        names, shortcuts = NameReader(self.kb, self.settings), self.settings.candidates.shortcuts
        found = [
            self._read_queries(ReadDocument(doc), spans, number, names, overwrite)
            for number, (doc, spans) in enumerate(zip(docs, spans_of, strict=True))
        ]
        unique: dict[object, Query] = {}
        for own in found:
            for i, q in enumerate(own):
                if q is not None and q.texts:
                    # With shortcuts, equal mentions with equal labels in a document share a query.
                    key = (q.document, q.label, q.text, q.mention.species_context, q.constraint)
                    own[i] = unique.setdefault(key if shortcuts else id(q), q)
        if unique:
            parts = [one for query in unique.values() for one in (query, *query.parts)]
            CandidateGenerator(self.model, names, self.settings, self.ranker).generate(parts)
        return found

    def _read_queries(
        self,
        document: ReadDocument,
        spans: Sequence[Span],
        number: int,
        names: NameReader,
        overwrite: bool,
    ) -> list[Query | None]:
        """Create the queries for the mentions of a document.

        document (ReadDocument): the document.
        spans (Sequence[Span]): its mentions.
        number (int): index of the document in the batch.
        names (NameReader): reads the vocabulary.
        overwrite (bool): include mentions that already have an identifier.
        RETURNS (list[Query | None]): see `candidates`; queries without `texts` are not searched.
        """
        settings, rules = self.settings, self.kb.applied_rules
        queries: list[Query | None] = [None] * len(spans)
        searched: dict[int, Constraint | None] = {}
        labels = dict.fromkeys([span.label_ for span in spans])
        linked = {label: is_linked(label, settings, self.linked_elsewhere) for label in labels}
        for i, span in enumerate(spans):
            label = span.label_
            is_own = linked[label]
            if not is_own and label not in settings.candidates.labels_discard:
                continue
            if not (is_own and overwrite) and span._.get(settings.outputs.kb_id):
                continue
            text = document.text_of(span)
            is_own = is_own and bool(text.strip())
            constraint = rules.constraint(text, label) if is_own and rules is not None else None
            queries[i] = Query(Mention(text), label, number, constraint=constraint)
            if is_own and constraint is None:
                end = document.offsets_of(span)[1]
                is_own = not is_other_text(text, label, document.text[end : end + 1])
            if is_own and (constraint is None or constraint.is_mention):
                searched[i] = constraint
        if not searched:
            return queries
        own = [spans[i] for i in searched]
        mentions = read_mentions(document, own, self.model.prompts.format, self.kb)
        texts = list(map(document.text_of, own))
        names.find(list(map(normalize_name, [*(m.text for m in mentions), *texts])))
        for (i, constraint), text, mention in zip(searched.items(), texts, mentions, strict=True):
            label = spans[i].label_
            read, wordings = read_wordings(mention, text, label, document, names, settings)
            mention = replace(mention, text=read)
            parts = tuple(
                Query(replace(mention, text=part), label, number, {normalize_name(part): MENTION})
                for part in names.coordinated(text, label)
                if constraint is None and self.ranker is not None
            )
            queries[i] = Query(mention, label, number, wordings, constraint, parts=parts)
        return queries

    def decide(self, found: Sequence[Sequence[Query | None]]) -> list[list[Link | None]]:
        """found (Sequence[Sequence[Query | None]]): the queries of each document.
        RETURNS (list[list[Link | None]]): their links; None for mentions that are left alone."""
        kb, settings = self.kb, self.settings.decision
        wholes = [query for own in found for query in own if query is not None]
        queries = [one for query in wholes for one in (query, *query.parts)]
        preferred = {} if kb.applied_rules is None else kb.applied_rules.preferred
        names = list(dict.fromkeys([c.name for query in queries for c in query.candidates]))
        spelling_of = dict(zip(names, kb.first_spellings(names), strict=True))
        links = []
        for query, ranking in zip(queries, rank(queries, self.ranker), strict=True):
            # A curator's decision is not subject to the threshold.
            is_decided = query.matched_exactly and query.constraint and query.constraint.means
            least = 0.0 if is_decided else settings.threshold or 0.0
            concepts = ranking.concepts
            kb_id = concepts[0][0] if concepts and concepts[0][1] >= least else NIL
            values = [
                {
                    "concept_id": c.concept_id,
                    "name": spelling_of[c.name],
                    "score": c.score if query.is_searched else None,
                    "log_prob": c.log_prob if query.is_searched else None,
                    "probability": p,
                }
                for c, p in ranking.candidates
            ]
            link = Link(kb_id, [] if kb_id == NIL else concepts, values)
            if settings.prefer or preferred:
                link = in_preferred_ids(link, kb, settings.prefer, preferred)
            links.append(link)
        of_query = iter(links)
        return [
            [
                None
                if q is None
                else combine_links(next(of_query), [next(of_query) for _ in q.parts])
                for q in of_document
            ]
            for of_document in found
        ]
