"""Names for mentions: which mentions are searched, among which names, and what letters add."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ..errors import Warnings
from ..vocabulary.concepts import normalize_name
from ..vocabulary.kinds import is_foreign
from .gathering import Searched, gather_evidence
from .links import FoundNames
from .ranking import ConceptsOf, NameScore, list_candidates
from .settings import LinkerSettings
from .sparing import TakenName, first_of_equals, take_name

if TYPE_CHECKING:
    from ..model.mention import Mention
    from ..search.cached import SearchCache
    from ..search.generator import Generator
    from ..search.search import SearchResult
    from ..vocabulary.kb import ConceptKB
    from ..vocabulary.search_spaces import Subset
    from ..vocabulary.trie import SearchSpace


@dataclass(frozen=True, slots=True)
class NameFinder:
    """Finds names for mentions within the semantic types of their labels.

    generator (Generator): the model that searches.
    kb (ConceptKB): the vocabulary that is searched.
    settings (LinkerSettings): how.
    num_beams (int): of the beam search.
    cache (SearchCache | None): searches no mention twice.
    """

    generator: "Generator"
    kb: "ConceptKB"
    settings: LinkerSettings
    num_beams: int
    cache: "SearchCache | None" = None

    def find(
        self, mentions: Sequence["Mention"], labels: Sequence[str], documents: Sequence[int]
    ) -> list[FoundNames]:
        """mentions (Sequence[Mention]): as the model reads them. labels (Sequence[str]): of each.
        documents (Sequence[int]): the number of each one's document.
        RETURNS (list[FoundNames]): one a mention."""
        if not self.settings.once_a_document:
            return self._find_each(mentions, labels, documents)
        texts = [normalize_name(mention.text) for mention in mentions]
        hints = [mention.hint for mention in mentions]
        firsts, numbers = first_of_equals(list(zip(documents, labels, texts, hints, strict=True)))
        names = self._find_each(
            [mentions[i] for i in firsts],
            [labels[i] for i in firsts],
            [documents[i] for i in firsts],
        )
        return [names[number] for number in numbers]

    def _find_each(
        self, mentions: Sequence["Mention"], labels: Sequence[str], documents: Sequence[int]
    ) -> list[FoundNames]:
        settings = self.settings
        subsets: list[Subset | None] = [None]
        subset_of_label: dict[str, int] = {}
        # Of a type that the user made up and no label has, nobody knows what it is not.
        told = {name for names in settings.types_by_label.values() for name in names}
        free = self.kb.own_types - told
        for label in set(labels) & settings.types_by_label.keys():
            subset_of_label[label] = len(subsets)
            subsets.append(self.kb.subset(types=settings.types_by_label[label], free_types=free))
        numbers = [subset_of_label.get(label, 0) for label in labels]
        space = self.kb.search_space(self.generator.prompts, subsets)
        concepts = [
            partial(self._concepts, subsets[n], label, mention.hint)
            for n, label, mention in zip(numbers, labels, mentions, strict=True)
        ]
        taken = self._take_names(mentions, concepts)
        found: list[Sequence[NameScore]] = [() if name is None else (name,) for name in taken]
        wanted = [i for i, name in enumerate(taken) if name is None]
        results = self._search([mentions[i] for i in wanted], space, [numbers[i] for i in wanted])
        for i, result in zip(wanted, results, strict=True):
            found[i] = result.hypotheses
        if not settings.evidence:
            return [
                FoundNames(tuple(list_candidates(names, concepts_of)))
                for names, concepts_of in zip(found, concepts, strict=True)
            ]
        searched = [
            Searched(
                mention,
                document,
                names,
                concepts_of,
                space.allowed[n],
                tells_apart=space.entries is not None,
            )
            for mention, document, names, concepts_of, n in zip(
                mentions, documents, found, concepts, numbers, strict=True
            )
        ]
        gathered = gather_evidence(
            searched,
            self.kb,
            self.generator,
            n_near=settings.near_names,
            batch_size=settings.batch_size,
        )
        return [
            FoundNames(evidence.candidates, evidence, is_taken=name is not None)
            for evidence, name in zip(gathered, taken, strict=True)
        ]

    def _take_names(
        self, mentions: Sequence["Mention"], concepts: Sequence[ConceptsOf]
    ) -> list[TakenName | None]:
        """The names that need no search."""
        settings = self.settings
        obeys = settings.evidence and settings.link_exact_names
        if not (settings.exact_names_unsearched and obeys):
            return [None] * len(mentions)
        return [
            take_name(mention, concepts_of, self.kb, settings.exact_name_probability)
            for mention, concepts_of in zip(mentions, concepts, strict=True)
        ]

    def _search(
        self, mentions: Sequence["Mention"], space: "SearchSpace", numbers: Sequence[int]
    ) -> "list[SearchResult]":
        from ..search.generator import SearchSettings

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
        )
        n_unproven = sum(not result.proven for result in results)
        if settings.mode == "exact" and n_unproven:
            warnings.warn(
                Warnings.W302.format(max_work=settings.max_work, n=n_unproven, n_all=len(results)),
                stacklevel=2,
            )
        return results

    def _concepts(
        self, subset: "Subset | None", label: str, hint: str, name: int, ending: str | None
    ) -> list[str]:
        """The concepts of a name that a mention with this label may have, where the document tells
        them apart the likeliest first."""
        concept_ids = self.kb.concept_ids_of(name, ending)
        if (hinter := self.kb.hinter) is not None and len(concept_ids) > 1:
            told = self.kb.endings_of(name) if ending is None else {ending: concept_ids}
            concept_ids = hinter.order(told, hint, self.kb.name(name))
        if subset is not None:
            return [c for c in concept_ids if subset.allows(c)]
        if self.settings.restrict_kinds:
            return [c for c in concept_ids if not is_foreign(label, self.kb.types_of(c))]
        return concept_ids
