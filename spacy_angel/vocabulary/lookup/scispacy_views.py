"""A vocabulary as the two mappings that scispaCy's `linker.kb` has."""

from collections.abc import Iterator, Mapping

from ..changes.applied import find_concept
from ..changes.overlay import VocabularyOverlay
from ..names.concepts import Concept


class ConceptsById(Mapping[str, Concept]):
    """Identifier → concept. Alternate identifiers and other ways to write one (`C0011849`,
    `mesh:d003920`) are found, but not counted or iterated.

    kb (VocabularyOverlay): the vocabulary.
    """

    def __init__(self, kb: VocabularyOverlay) -> None:
        self._kb = kb

    def __getitem__(self, concept_id: str) -> Concept:
        if (own := find_concept(self._kb, concept_id)) is None:
            raise KeyError(concept_id)
        return self._kb[own]

    def __iter__(self) -> Iterator[str]:
        return (concept.concept_id for concept in self._kb)

    def __len__(self) -> int:
        return len(self._kb)


class IdsBySpelling(Mapping[str, set[str]]):
    """Name → identifiers of the concepts that it leads to: those whose source writes it so, else
    those whose source writes it with other capitals.

    A name is found at once; counting and iterating names reads the whole vocabulary and gives them
    as the source writes them.

    kb (VocabularyOverlay): the vocabulary.
    """

    def __init__(self, kb: VocabularyOverlay) -> None:
        self._kb = kb

    def __getitem__(self, spelling: str) -> set[str]:
        concepts = self._kb.find(spelling)
        folded = spelling.casefold()
        concept_ids = {c.concept_id for c in concepts if spelling in c.names} or {
            c.concept_id for c in concepts if folded in map(str.casefold, c.names)
        }
        if not concept_ids:
            raise KeyError(spelling)
        return concept_ids

    def __iter__(self) -> Iterator[str]:
        for i in range(self._kb.n_names):
            concepts = map(self._kb.__getitem__, self._kb.concept_ids_of(i))
            names = dict.fromkeys(name for concept in concepts for name in concept.names)
            yield from (name for name in names if self._kb.name_index(name) == i)

    def __len__(self) -> int:
        return sum(1 for _ in self)
