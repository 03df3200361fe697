"""What the user of a vocabulary changes in it while running."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...errors import AngelError
from ..names.concepts import Concept, normalize_name
from ..storage.table import tidy
from .live import LiveVocabulary


class OwnEdits:
    """Changes of a vocabulary, counted, and the names that they brought; see the methods of
    `ConceptKB` that are called the same.

    live (LiveVocabulary): what is changed.
    names (Mapping[str, Sequence[str]]): brought before the vocabulary was saved: by identifier, in
        normal form.
    """

    def __init__(self, live: LiveVocabulary, names: Mapping[str, Sequence[str]]) -> None:
        self.names = {concept_id: list(own) for concept_id, own in names.items()}
        self.counts: Counter[str] = Counter()
        self._live = live
        # With the version that they are of: they are asked for with every batch.
        self._types: tuple[int, frozenset[str]] | None = None

    def take(self, other: "OwnEdits") -> None:
        """other (OwnEdits): of a copy of the vocabulary."""
        self.names = {concept_id: list(own) for concept_id, own in other.names.items()}
        self.counts = Counter(other.counts)

    @property
    def types(self) -> frozenset[str]:
        """RETURNS (frozenset[str]): see `ConceptKB.own_types`."""
        if self._types is None or self._types[0] != self._live.version:
            found: Counter[str] = Counter()
            for concept_id in self.names:
                concept = self._live.concept(concept_id)
                if concept is not None and self._is_own(concept):
                    found.update(set(concept.types))
            types = (t for t, n in found.items() if self._live.n_of_type(t) == n)
            self._types = self._live.version, frozenset(types)
        return self._types[1]

    def name_indices(self) -> list[int]:
        """RETURNS (list[int]): see `ConceptKB.own_names`."""
        indices: dict[int, None] = {}
        for concept_id, names in self.names.items():
            for i in map(self._live.find_name, names):
                if i is not None and concept_id in self._live.concept_ids_of(i):
                    indices[i] = None
        return list(indices)

    def add(self, concepts: Sequence[Concept]) -> None:
        """concepts (Sequence[Concept]): from `tidy_concepts`. RAISES (AngelError): an identifier is
        empty, or another concept's own; nothing is changed then."""
        seen: set[str] = set()
        for new in concepts:
            if not new.concept_id:
                raise AngelError(
                    f"The concept {new.canonical_name!r} needs an identifier, e.g. `MESH:D003920`."
                )
            if new.concept_id in seen or self._live.concept(new.concept_id) is not None:
                raise AngelError(
                    f"{new.concept_id!r} is already in the vocabulary. Use `add_names`."
                )
            seen.add(new.concept_id)
        for new in concepts:
            self._live.put(new)
            self.names[new.concept_id] = _normal_forms(new.names)
            self.counts["added_concepts"] += 1

    def add_names(self, concept: Concept, names: Iterable[str]) -> None:
        """concept (Concept): of the vocabulary. names (Iterable[str]): in any spelling.
        RAISES (AngelError): see `put_names`."""
        if added := self.put_names(concept, names):
            self.names.setdefault(concept.concept_id, []).extend(_normal_forms(added))
        self.counts["added_names"] += len(added)

    def put_names(self, concept: Concept, names: Iterable[str]) -> list[str]:
        """Give a concept those of the names that it has not, and do not count them.

        concept (Concept): of the vocabulary. names (Iterable[str]): in any spelling.
        RETURNS (list[str]): these.
        RAISES (AngelError): `names` is one text or holds something else.
        """
        texts = list(names)
        if isinstance(names, str) or not all(isinstance(text, str) for text in texts):
            raise AngelError(
                f"The names for {concept.concept_id!r} must be a list of strings, not {names!r}."
            )
        new = [name for name in dict.fromkeys(texts) if name not in concept.names]
        if new:
            self._live.put(replace(concept, aliases=(*concept.aliases, *new)))
        return new

    def remove(self, concept_id: str) -> None:
        """concept_id (str): own identifier of a concept."""
        self._live.remove(concept_id)
        self.names.pop(concept_id, None)
        self.counts["removed_concepts"] += 1

    def remove_name(self, concept: Concept, name: str) -> None:
        """concept (Concept): of the vocabulary. name (str): in any spelling.
        RAISES (AngelError): it has no such name, or no other."""
        is_it = _bears(concept, name)
        kept = [n for n, gone in zip(concept.names, is_it, strict=True) if not gone]
        if not kept:
            raise AngelError(
                f"{name!r} is the only name of {concept.concept_id!r}. Remove the concept, or add "
                "another name first."
            )
        self._live.put(replace(concept, canonical_name=kept[0], aliases=tuple(kept[1:])))
        if concept.concept_id in self.names:
            normal = normalize_name(name)
            own = self.names[concept.concept_id]
            self.names[concept.concept_id] = [n for n in own if n != normal]
        self.counts["removed_names"] += 1

    def rename(self, concept: Concept, name: str, old: str | None) -> None:
        """concept (Concept): of the vocabulary. name (str), old (str | None): new and former one.
        RAISES (AngelError): it has no name `old`, or the new one is blank."""
        if not name.strip():
            raise AngelError(f"The new name of {concept.concept_id} has no letters.")
        names = [name, *concept.names]
        if old is not None:
            pairs = zip(concept.names, _bears(concept, old), strict=True)
            names = [name if gone else kept for kept, gone in pairs]
        canonical, *aliases = dict.fromkeys(names)
        if self._is_own(concept):
            self.names[concept.concept_id] += _normal_forms([name])
        self._live.put(replace(concept, canonical_name=canonical, aliases=tuple(aliases)))
        self.counts["renamed"] += 1

    def _is_own(self, concept: Concept) -> bool:
        # `add_names` makes no concept one's own: it gives it no canonical name.
        normal = normalize_name(concept.canonical_name)
        return normal in self.names.get(concept.concept_id, ())


def tidy_concepts(concepts: Concept | Iterable[Concept]) -> list[Concept]:
    """concepts (Concept | Iterable[Concept]): one or several. RETURNS (list[Concept]): see
    `table.tidy`. RAISES (AngelError): something is no concept, or a field is not of its type."""
    # A text and a table are iterable, and so is a concept.
    is_one = isinstance(concepts, Concept | str | Mapping) or not isinstance(concepts, Iterable)
    listed: Any = [concepts] if is_one else list(concepts)
    for item in listed:
        if not isinstance(item, Concept):
            raise AngelError(f"kb.add needs a Concept or several, not {item!r}.")
    return list(map(tidy, listed))


def _normal_forms(names: Iterable[str]) -> list[str]:
    return list(filter(None, dict.fromkeys(map(normalize_name, names))))


def _bears(concept: Concept, name: str) -> list[bool]:
    """RETURNS (list[bool]): of each name of a concept whether it is this one in some spelling.
    RAISES (AngelError): none is."""
    normal = normalize_name(name)
    found = [n == name or (normalize_name(n) or None) == normal for n in concept.names]
    if not any(found):
        names = list(concept.names)
        raise AngelError(f"{concept.concept_id!r} has no name {name!r}. Its names: {names}.")
    return found
