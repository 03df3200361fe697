"""Names for mentions: which mentions are searched, among which names, and what
string similarity adds."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ...vocabulary.names.concepts import normalize_name
from ...vocabulary.names.entity_types import is_gene
from ..decision.links import GeneratedCandidates
from ..mentions.permitted import is_permitted, subset_of_label
from ..ranking.concepts import ConceptsOf, list_candidates
from ..ranking.ranker import LIKELY, SURE
from ..settings.linker_settings import LinkerSettings
from .caching import exact_match, name_of_rule
from .merging import CandidateMerger, Request

if TYPE_CHECKING:
    from ...model.mention import Mention
    from ...search.generator import Ask, Generator
    from ...search.search import Hypothesis, SearchResult
    from ...vocabulary.changes.curated import Constraint, Curated
    from ...vocabulary.changes.overlay import Subset
    from ...vocabulary.kb import ConceptKB
    from ...vocabulary.storage.trie import SearchSpace


class PendingMention(NamedTuple):
    """A mention that needs candidates.

    mention (Mention): as the model reads it. label (str): its label.
    document (int): number of its document. position (int): its number among the mentions of
    the document. constraint (Constraint | None): what rules of curation say of it.
    """

    mention: "Mention"
    label: str
    document: int
    position: int
    constraint: "Constraint | None" = None


@dataclass(frozen=True, slots=True)
class CandidateGenerator:
    """Finds names for mentions within the semantic types of their labels.

    generator (Generator): the model that searches.
    kb (ConceptKB): the vocabulary that is searched.
    settings (LinkerSettings): how.
    num_beams (int): of the beam search.
    curated (Curated | None): the rules of curation, whose vocabulary `kb` is.
    """

    generator: "Generator"
    kb: "ConceptKB"
    settings: LinkerSettings
    num_beams: int
    curated: "Curated | None" = None

    def find(self, pending: Sequence[PendingMention]) -> list[GeneratedCandidates]:
        """pending (Sequence[PendingMention]): mentions.
        RETURNS (list[GeneratedCandidates]): one a mention."""
        if not self.settings.search.shortcuts:
            return self._find_each(pending)
        keys = [
            (
                one.document,
                one.label,
                normalize_name(one.mention.text),
                one.mention.species_context,
                one.constraint,
            )
            for one in pending
        ]
        unique: dict[object, PendingMention] = {}
        for key, one in zip(keys, pending, strict=True):
            unique.setdefault(key, one)
        found = dict(zip(unique, self._find_each(list(unique.values())), strict=True))
        return [found[key] for key in keys]

    def _find_each(self, pending: Sequence[PendingMention]) -> list[GeneratedCandidates]:
        subset_of = {
            label: subset_of_label(label, self.kb, self.settings, self.curated)
            for label in dict.fromkeys(one.label for one in pending)
        }
        subsets: list[Subset | None] = list(dict.fromkeys([None, *subset_of.values()]))
        number_of = {label: subsets.index(subset) for label, subset in subset_of.items()}
        space = self.kb.search_space(self.generator.prompts, subsets)
        requests = [
            Request(
                one.mention,
                one.document,
                partial(self._concepts, one, subset_of[one.label]),
                space.allowed[number_of[one.label]],
                writes_suffixes=space.entries is not None,
                is_gene=is_gene(one.label),
            )
            for one in pending
        ]
        exact = [
            self._exact_match(one, request.concepts)
            for one, request in zip(pending, requests, strict=True)
        ]
        searched = [i for i, name in enumerate(exact) if name is None]
        if not self.settings.rerank:
            mentions = [pending[i].mention for i in searched]
            numbers = [number_of[pending[i].label] for i in searched]
            hypotheses = [[] if name is None else [name] for name in exact]
            for i, result in zip(searched, self._search(mentions, space, numbers), strict=True):
                hypotheses[i] = result.hypotheses
            return [
                GeneratedCandidates(
                    tuple(list_candidates(names, request.concepts)),
                    is_unsearched=name is not None,
                    constraint=one.constraint,
                )
                for names, request, name, one in zip(
                    hypotheses, requests, exact, pending, strict=True
                )
            ]
        merger = CandidateMerger(requests, self.kb)
        for i, name in enumerate(exact):
            if name is not None:
                merger.add_exact(i, name)
        merger.find_similar(searched)
        unsure = searched
        if self.settings.search.shortcuts:
            ranker, known = self.settings.ranker_in_use, merger.unsearched()
            certainty = {i: ranker.certainty(known[i], pending[i].label) for i in searched}
            searched = [i for i in searched if requests[i].is_gene or certainty[i] < SURE]
            unsure = [i for i in searched if certainty[i] < LIKELY]
        merger.find_close(unsure)
        answers = self._search_and_ask(
            [pending[i].mention for i in searched],
            space,
            [number_of[pending[i].label] for i in searched],
            lambda place, result: merger.add(searched[place], result.hypotheses),
        )
        for i, log_probs in zip(searched, answers, strict=True):
            if log_probs:
                merger.answer(i, log_probs)
        return [
            GeneratedCandidates(found.candidates, found, name is not None, one.constraint)
            for found, name, one in zip(merger.finish(), exact, pending, strict=True)
        ]

    def _exact_match(self, one: PendingMention, concepts: ConceptsOf) -> "Hypothesis | None":
        """The name that needs no search: by a rule, or as the name of one concept."""
        if one.constraint is not None and one.constraint.means is not None:
            return name_of_rule(one.constraint, self.kb)
        if self.settings.rerank and self.settings.search.shortcuts:
            return exact_match(one.mention, concepts, self.kb)
        return None

    def _search_and_ask(
        self,
        mentions: Sequence["Mention"],
        space: "SearchSpace",
        numbers: Sequence[int],
        ask: "Ask",
    ) -> list[list[float]]:
        """RETURNS (list[list[float]]): of each mention the log-probabilities of the names that were
        asked for."""
        names: dict[int, Sequence[str]] = {}

        def ask_and_keep(place: int, result: "SearchResult") -> Sequence[str]:
            names[place] = ask(place, result)
            return names[place]

        results = self._search(mentions, space, numbers, ask_and_keep)
        return [[result.asked[n] for n in names[place]] for place, result in enumerate(results)]

    def _search(
        self,
        mentions: Sequence["Mention"],
        space: "SearchSpace",
        numbers: Sequence[int],
        ask: "Ask | None" = None,
    ) -> "list[SearchResult]":
        from ...search.generator import SearchSettings

        settings = self.settings
        return self.generator.search(
            mentions,
            space,
            SearchSettings(
                num_beams=self.num_beams,
                k=min(settings.k, self.num_beams),
                length_penalty=settings.search.length_penalty,
            ),
            subsets=numbers,
            batch_size=settings.batch_size,
            ask=ask,
        )

    def _concepts(
        self, one: PendingMention, subset: "Subset | None", name: int, suffix: str | None
    ) -> list[str]:
        """The concepts of a name that a mention with this label may have, where the document tells
        them apart the likeliest first."""
        label, constraint = one.label, one.constraint
        species_context = one.mention.species_context
        concept_ids = self.kb.concept_ids_of(name, suffix)
        if constraint is not None and constraint.means is not None:
            # What a person has decided holds whatever types the label may have.
            return [c for c in concept_ids if constraint.allows(c)]
        reads_species = self.settings.reading.species_context
        needs_orthologs = suffix is None and reads_species and is_gene(label)
        if (species_reader := self.kb.species_reader) is not None and (
            len(concept_ids) > 1 or needs_orthologs
        ):
            by_suffix = self.kb.suffixes_of(name) if suffix is None else {suffix: concept_ids}
            if needs_orthologs:
                by_suffix = species_reader.with_orthologs(by_suffix, species_context)
            second = [c for c in concept_ids if self.kb.is_second_name(name, c)]
            concept_ids = species_reader.order(
                by_suffix, species_context, self.kb.name(name), second
            )
        if constraint is not None:
            concept_ids = [c for c in concept_ids if constraint.allows(c)]
        return [c for c in concept_ids if is_permitted(c, label, subset, self.kb)]
