"""Names for mentions: which mentions are searched, among which names, and what
string similarity adds."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ...errors import Warnings
from ...vocabulary.names.concepts import normalize_name
from ...vocabulary.names.entity_types import is_gene
from ..decision.links import FoundNames
from ..mentions.permitted import is_permitted, subset_of_label
from ..ranking.concepts import ConceptsOf, NameScore, list_candidates
from ..settings.table import LinkerSettings
from .caching import TakenName, first_of_equals, name_of_rule, take_name
from .merging import CandidateGenerator, Wanted

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
class NameFinder:
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
    ) -> list[FoundNames]:
        """mentions (Sequence[Mention]): as the model reads them. labels (Sequence[str]): of each.
        documents (Sequence[int]): the number of each one's document. constraints
        (Sequence[Constraint | None] | None): what rules say of each; None: nothing.
        RETURNS (list[FoundNames]): one a mention."""
        limits = [None] * len(mentions) if constraints is None else constraints
        if not self.settings.once_a_document:
            return self._find_each(mentions, labels, documents, limits)
        texts = [normalize_name(mention.text) for mention in mentions]
        hints = [mention.hint for mention in mentions]
        keys = list(zip(documents, labels, texts, hints, limits, strict=True))
        firsts, numbers = first_of_equals(keys)
        names = self._find_each(
            [mentions[i] for i in firsts],
            [labels[i] for i in firsts],
            [documents[i] for i in firsts],
            [limits[i] for i in firsts],
        )
        return [names[number] for number in numbers]

    def _find_each(
        self,
        mentions: Sequence["Mention"],
        labels: Sequence[str],
        documents: Sequence[int],
        limits: "Sequence[Constraint | None]",
    ) -> list[FoundNames]:
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
            partial(self._concepts, subsets[n], label, mention.hint, limit)
            for n, label, mention, limit in zip(numbers, labels, mentions, limits, strict=True)
        ]
        taken = self._take_names(mentions, concepts, limits)
        searched = [i for i, name in enumerate(taken) if name is None]
        if not settings.rerank:
            results = self._search(
                [mentions[i] for i in searched], space, [numbers[i] for i in searched]
            )
            found: list[Sequence[NameScore]] = [[] if name is None else [name] for name in taken]
            for i, result in zip(searched, results, strict=True):
                found[i] = result.hypotheses
            return [
                FoundNames(
                    tuple(list_candidates(names, concepts_of)),
                    is_taken=name is not None,
                    constraint=limit,
                )
                for names, concepts_of, name, limit in zip(
                    found, concepts, taken, limits, strict=True
                )
            ]
        tells_apart = space.entries is not None
        generator = CandidateGenerator(
            [
                Wanted(mention, document, concepts_of, space.allowed[n], tells_apart)
                for mention, document, concepts_of, n in zip(
                    mentions, documents, concepts, numbers, strict=True
                )
            ],
            self.kb,
            settings.near_names,
        )
        for i, name in enumerate(taken):
            if name is not None:
                generator.take(i, name)
        answers = self._search_and_ask(
            [mentions[i] for i in searched],
            space,
            [numbers[i] for i in searched],
            lambda place, result: generator.add(searched[place], result.hypotheses),
        )
        for i, log_probs in zip(searched, answers, strict=True):
            if log_probs:
                generator.answer(i, log_probs)
        return [
            FoundNames(found.candidates, found, name is not None, limit)
            for found, name, limit in zip(generator.finish(), taken, limits, strict=True)
        ]

    def _take_names(
        self,
        mentions: Sequence["Mention"],
        concepts: Sequence[ConceptsOf],
        limits: "Sequence[Constraint | None]",
    ) -> list[TakenName | None]:
        """The names that need no search: by a rule, or as names of one concept."""
        settings = self.settings
        probability = settings.exact_name_probability
        is_spared = settings.rerank and settings.exact_names_unsearched
        taken: list[TakenName | None] = []
        for mention, concepts_of, limit in zip(mentions, concepts, limits, strict=True):
            if limit is not None and limit.means is not None:
                taken.append(name_of_rule(limit, self.kb, probability))
            elif is_spared:
                taken.append(take_name(mention, concepts_of, self.kb, probability))
            else:
                taken.append(None)
        return taken

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

        settings = self.settings
        results = self.generator.search(
            mentions,
            space,
            SearchSettings(
                mode=settings.mode,
                num_beams=self.num_beams,
                k=settings.k if settings.mode == "exact" else min(settings.k, self.num_beams),
                length_penalty=settings.length_penalty,
                max_work=settings.max_work,
            ),
            subsets=numbers,
            batch_size=settings.batch_size,
            cache=self.cache,
            ask=ask,
        )
        n_unproven = sum(not result.proven for result in results)
        if settings.mode == "exact" and n_unproven:
            warnings.warn(
                Warnings.W302.format(max_work=settings.max_work, n=n_unproven, n_all=len(results)),
                stacklevel=2,
            )
        return results

    def _concepts(
        self,
        subset: "Subset | None",
        label: str,
        hint: str,
        limit: "Constraint | None",
        name: int,
        ending: str | None,
    ) -> list[str]:
        """The concepts of a name that a mention with this label may have, where the document tells
        them apart the likeliest first."""
        concept_ids = self.kb.concept_ids_of(name, ending)
        if limit is not None and limit.means is not None:
            # What a person has decided holds whatever types the label may have.
            return [c for c in concept_ids if limit.allows(c)]
        needs_orthologs = ending is None and self.settings.hints and is_gene(label)
        if (hinter := self.kb.hinter) is not None and (len(concept_ids) > 1 or needs_orthologs):
            told = self.kb.endings_of(name) if ending is None else {ending: concept_ids}
            told = hinter.with_orthologs(told, hint) if needs_orthologs else told
            second = [c for c in concept_ids if self.kb.is_second_name(name, c)]
            concept_ids = hinter.order(told, hint, self.kb.name(name), second)
        if limit is not None:
            concept_ids = [c for c in concept_ids if limit.allows(c)]
        return [c for c in concept_ids if is_permitted(c, label, subset, self.kb, self.settings)]
