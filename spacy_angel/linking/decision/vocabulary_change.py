"""Which links may be others with another vocabulary, told without the model."""

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from ...vocabulary.names.concepts import normalize_name

if TYPE_CHECKING:
    from ...vocabulary.kb import ConceptKB

_REMEMBERED = 100_000


class VocabularyChange:
    """From one vocabulary to another.

    old (ConceptKB), new (ConceptKB): the vocabularies.
    n_similar (int): names by string similarity that are looked at for each mention, in both.

    A link stays where its concept is in both vocabularies and has lost no name, and where every
    name that is similar to the mention, or that led to one of the candidates which are
    stored with it, leads to the same concepts in both. What the model alone would find, a new name
    in other letters, is not seen.
    """

    def __init__(self, old: "ConceptKB", new: "ConceptKB", n_similar: int = 5) -> None:
        self.old = old
        self.new = new
        self._n_similar = n_similar
        self._touches_text = lru_cache(maxsize=_REMEMBERED)(self._touches)

    def may_change(self, text: str, concept_id: str, names: Iterable[str] = ()) -> bool:
        """Whether the model has to be asked about a mention.

        text (str): the mention. concept_id (str): what it was linked to; empty for NIL.
        names (Iterable[str]): that led to its candidates, in any spelling.
        """
        if concept_id and self._has_lost(concept_id):
            return True
        others = (normalize_name(name) for name in names)
        return self._touches_text(normalize_name(text)) or any(map(self._leads_elsewhere, others))

    def _has_lost(self, concept_id: str) -> bool:
        """The concept, or one of its names, is not in the new vocabulary."""
        if concept_id not in self.new or concept_id not in self.old:
            return True
        before, after = (
            {kb.name(i) for i in kb.names_of(concept_id)} for kb in (self.old, self.new)
        )
        return not before <= after

    def _touches(self, text: str) -> bool:
        similar = {
            kb.name(name.name)
            for kb in (self.old, self.new)
            for name in kb.nearest.find(text, self._n_similar)
        }
        return any(map(self._leads_elsewhere, similar | {text}))

    def _leads_elsewhere(self, name: str) -> bool:
        """name (str): in normal form. RETURNS (bool): it leads to other concepts than before, or
        to the same in another order."""
        before, after = (
            [] if (i := kb.name_index(name)) is None else kb.concept_ids_of(i)
            for kb in (self.old, self.new)
        )
        return [self.new.resolve(concept_id) or concept_id for concept_id in before] != after
