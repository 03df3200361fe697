"""A vocabulary as the two mappings that scispaCy's `linker.kb` has."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from .concepts import Concept

if TYPE_CHECKING:
    from .kb import ConceptKB


class ConceptsById(Mapping[str, Concept]):
    """Identifier → concept; alternate identifiers are found, but not counted or iterated.

    kb (ConceptKB): the vocabulary.
    """

    def __init__(self, kb: "ConceptKB") -> None:
        self._kb = kb

    def __getitem__(self, concept_id: str) -> Concept:
        if concept_id not in self._kb:
            raise KeyError(concept_id)
        return self._kb[concept_id]

    def __iter__(self) -> Iterator[str]:
        return (concept.concept_id for concept in self._kb)

    def __len__(self) -> int:
        return len(self._kb)


class IdsBySpelling(Mapping[str, set[str]]):
    """Name as the source writes it → identifiers of the concepts that it leads to.

    Names are found at once; counting and iterating them reads the whole vocabulary.

    kb (ConceptKB): the vocabulary.
    """

    def __init__(self, kb: "ConceptKB") -> None:
        self._kb = kb

    def __getitem__(self, spelling: str) -> set[str]:
        i = self._kb.find(spelling)
        ids = [] if i is None else self._kb.concept_ids_of(i)
        if not (found := {c for c in ids if spelling in self._kb[c].names}):
            raise KeyError(spelling)
        return found

    def __iter__(self) -> Iterator[str]:
        for i in range(self._kb.n_names):
            concepts = map(self._kb.__getitem__, self._kb.concept_ids_of(i))
            names = dict.fromkeys(name for concept in concepts for name in concept.names)
            yield from (name for name in names if self._kb.find(name) == i)

    def __len__(self) -> int:
        return sum(1 for _ in self)
