"""Names for mentions: which mentions are searched, among which names, and what
string similarity adds."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ...errors import AngelWarning
from ...vocabulary.names.concepts import normalize_name
from ...vocabulary.names.entity_types import is_gene
from ..decision.links import GeneratedCandidates
from ..mentions.permitted import is_permitted, subset_of_label
from ..ranking.concepts import ConceptsOf, NameScore, list_candidates
from ..settings.linker_settings import LinkerSettings
from .caching import ExactMatch, exact_match, first_of_equals, name_of_rule
from .merging import CandidateMerger, Request

if TYPE_CHECKING:
    from ...curation.curated import Constraint, Curated
    from ...model.mention import Mention
    from ...search.cached import SearchCache
    from ...search.generator import Ask, Generator
    from ...search.search import SearchResult
    from ...vocabulary.kb import ConceptKB
    from ...vocabulary.lookup.search_spaces import Subset
    from ...vocabulary.storage.trie import SearchSpace


@dataclass(frozen=True, slots=True)
class CandidateGenerator:
    """Finds names for mentions within the semantic types of their labels.

    generator (Generator): the model that searches.
    kb (ConceptKB): the vocabulary that is searched.
    settings (LinkerSettings): how.
    num_beams (int): of the beam search.
    cache (SearchCache | None): searches no mention twice.
    curated (Curated | None): the rules of curation, whose vocabulary `kb` is.
    """

    generator: "Generator"
    kb: "ConceptKB"
    settings: LinkerSettings
    num_beams: int
    cache: "SearchCache | None" = None
    curated: "Curated | None" = None

    def find(
        self,
        mentions: Sequence["Mention"],
        labels: Sequence[str],
        documents: Sequence[int],
        constraints: "Sequence[Constraint | None] | None" = None,
    ) -> list[GeneratedCandidates]:
        """mentions (Sequence[Mention]): as the model reads them. labels (Sequence[str]): of each.
        documents (Sequence[int]): the number of each one's document. constraints
        (Sequence[Constraint | None] | None): what rules say of each; None: nothing.
        RETURNS (list[GeneratedCandidates]): one a mention."""
        constraints = [None] * len(mentions) if constraints is None else constraints
        if not self.settings.search.shortcuts:
            return self._find_each(mentions, labels, documents, constraints)
        texts = [normalize_name(mention.text) for mention in mentions]
        species_contexts = [mention.species_context for mention in mentions]
        keys = list(zip(documents, labels, texts, species_contexts, constraints, strict=True))
        firsts, numbers = first_of_equals(keys)
        names = self._find_each(
            [mentions[i] for i in firsts],
            [labels[i] for i in firsts],
            [documents[i] for i in firsts],
            [constraints[i] for i in firsts],
        )
        return [names[number] for number in numbers]

    def _find_each(
        self,
        mentions: Sequence["Mention"],
        labels: Sequence[str],
        documents: Sequence[int],
        constraints: "Sequence[Constraint | None]",
    ) -> list[GeneratedCandidates]:
        settings = self.settings
        number_of: dict[Subset | None, int] = {None: 0}
        number_of_label = {
            label: number_of.setdefault(
                subset_of_label(label, self.kb, settings, self.curated), len(number_of)
            )
            for label in set(labels)
        }
        subsets = list(number_of)
        numbers = [number_of_label[label] for label in labels]
        space = self.kb.search_space(self.generator.prompts, subsets)
        concepts = [
            partial(self._concepts, subsets[n], label, mention.species_context, constraint)
            for n, label, mention, constraint in zip(
                numbers, labels, mentions, constraints, strict=True
            )
        ]
        exact = self._exact_matches(mentions, concepts, constraints)
        searched = [i for i, name in enumerate(exact) if name is None]
        if not settings.rerank:
            results = self._search(
                [mentions[i] for i in searched], space, [numbers[i] for i in searched]
            )
            found: list[Sequence[NameScore]] = [[] if name is None else [name] for name in exact]
            for i, result in zip(searched, results, strict=True):
                found[i] = result.hypotheses
            return [
                GeneratedCandidates(
                    tuple(list_candidates(names, concepts_of)),
                    is_unsearched=name is not None,
                    constraint=constraint,
                )
                for names, concepts_of, name, constraint in zip(
                    found, concepts, exact, constraints, strict=True
                )
            ]
        writes_suffixes = space.entries is not None
        merger = CandidateMerger(
            [
                Request(mention, document, concepts_of, space.allowed[n], writes_suffixes)
                for mention, document, concepts_of, n in zip(
                    mentions, documents, concepts, numbers, strict=True
                )
            ],
            self.kb,
        )
        for i, name in enumerate(exact):
            if name is not None:
                merger.add_exact(i, name)
        answers = self._search_and_ask(
            [mentions[i] for i in searched],
            space,
            [numbers[i] for i in searched],
            lambda place, result: merger.add(searched[place], result.hypotheses),
        )
        for i, log_probs in zip(searched, answers, strict=True):
            if log_probs:
                merger.answer(i, log_probs)
        return [
            GeneratedCandidates(found.candidates, found, name is not None, constraint)
            for found, name, constraint in zip(merger.finish(), exact, constraints, strict=True)
        ]

    def _exact_matches(
        self,
        mentions: Sequence["Mention"],
        concepts: Sequence[ConceptsOf],
        constraints: "Sequence[Constraint | None]",
    ) -> list[ExactMatch | None]:
        """The names that need no search: by a rule, or as names of one concept."""
        is_skipped = self.settings.rerank and self.settings.search.shortcuts
        exact: list[ExactMatch | None] = []
        for mention, concepts_of, constraint in zip(mentions, concepts, constraints, strict=True):
            if constraint is not None and constraint.means is not None:
                exact.append(name_of_rule(constraint, self.kb))
            elif is_skipped:
                exact.append(exact_match(mention, concepts_of, self.kb))
            else:
                exact.append(None)
        return exact

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

        def ask_once(place: int, result: "SearchResult") -> Sequence[str]:
            return names.setdefault(place, ask(place, result))

        results = self._search(mentions, space, numbers, ask_once)
        for place, result in enumerate(results):
            if place not in names:  # the cache had it
                ask_once(place, result)
        unknown = [
            [name for name in names[place] if name not in result.asked]
            for place, result in enumerate(results)
        ]
        if any(unknown):
            size = self.settings.batch_size
            values = self.generator.log_probs_of(mentions, unknown, batch_size=size)
            for result, some, log_probs in zip(results, unknown, values, strict=True):
                result.asked.update(zip(some, log_probs, strict=True))
        return [[result.asked[n] for n in names[place]] for place, result in enumerate(results)]

    def _search(
        self,
        mentions: Sequence["Mention"],
        space: "SearchSpace",
        numbers: Sequence[int],
        ask: "Ask | None" = None,
    ) -> "list[SearchResult]":
        from ...search.generator import SearchSettings

        settings, search = self.settings, self.settings.search
        results = self.generator.search(
            mentions,
            space,
            SearchSettings(
                mode=search.mode,
                num_beams=self.num_beams,
                k=settings.k if search.mode == "exact" else min(settings.k, self.num_beams),
                length_penalty=search.length_penalty,
                max_work=search.max_work,
            ),
            subsets=numbers,
            batch_size=settings.batch_size,
            cache=self.cache,
            ask=ask,
        )
        n_unproven = sum(not result.proven for result in results)
        if search.mode == "exact" and n_unproven:
            warnings.warn(
                f"{n_unproven} of {len(results)} mentions reached "
                f"search.max_work={search.max_work}: their candidates may not be the best.",
                AngelWarning,
                stacklevel=2,
            )
        return results

    def _concepts(
        self,
        subset: "Subset | None",
        label: str,
        species_context: str,
        constraint: "Constraint | None",
        name: int,
        suffix: str | None,
    ) -> list[str]:
        """The concepts of a name that a mention with this label may have, where the document tells
        them apart the likeliest first."""
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
            by_suffix = (
                species_reader.with_orthologs(by_suffix, species_context)
                if needs_orthologs
                else by_suffix
            )
            second = [c for c in concept_ids if self.kb.is_second_name(name, c)]
            concept_ids = species_reader.order(
                by_suffix, species_context, self.kb.name(name), second
            )
        if constraint is not None:
            concept_ids = [c for c in concept_ids if constraint.allows(c)]
        return [c for c in concept_ids if is_permitted(c, label, subset, self.kb)]
