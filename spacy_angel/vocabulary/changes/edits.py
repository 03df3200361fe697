"""The changes that users make in a vocabulary while other threads read it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from typing import Any

from ...errors import AngelError
from ..names.concepts import Concept, normalize_name
from ..storage.table import ConceptTable, validate_and_normalize
from .change_lock import ChangeLock
from .overlay import VocabularyOverlay
from .rules import NEW, Rule


class UserEdits(VocabularyOverlay):
    """An overlay with the changes that users make: directly, or by the rules of a file.

    table (ConceptTable): the stored concepts.
    meta (Mapping[str, Any]): what is stored beside them; `own_names` has, by identifier and in
        normal form, the names that users brought before the vocabulary was saved.
    """

    def __init__(self, table: ConceptTable, meta: Mapping[str, Any]) -> None:
        super().__init__(table, meta)
        self.rules: tuple[Rule, ...] = ()
        """Those that were applied and say what mentions link to, for the linker."""
        self._user_names = {i: list(names) for i, names in meta.get("own_names", {}).items()}
        self._is_edited = False
        self._lock = ChangeLock()
        # with the version that they are of: they are asked for with every batch
        self._own_types: tuple[int, frozenset[str]] = (-1, frozenset())

    def _copy_changes(self, other: VocabularyOverlay) -> None:
        super()._copy_changes(other)
        assert isinstance(other, UserEdits)
        self._user_names = {i: list(names) for i, names in other._user_names.items()}
        self.rules, self._is_edited = other.rules, other._is_edited

    def reading(self) -> AbstractContextManager[None]:
        """RETURNS (AbstractContextManager[None]): a block in which the vocabulary does not change:
        what another thread adds or removes meanwhile waits for its end. Linkers link in one."""
        return self._lock.reading()

    @property
    def own_types(self) -> frozenset[str]:
        """RETURNS (frozenset[str]): semantic types that only concepts brought by `add` have, now or
        before the vocabulary was saved."""
        if self._own_types[0] != self.version:
            concepts = filter(None, map(self.concept, self._user_names))
            found = Counter(t for c in concepts if self._is_own(c) for t in set(c.types))
            types = (t for t, n in found.items() if len(self.ids_of_types([t])) == n)
            self._own_types = self.version, frozenset(types)
        return self._own_types[1]

    @property
    def own_names(self) -> list[int]:
        """RETURNS (list[int]): indices of the names that `add` and `add_names` brought, now or
        before the vocabulary was saved, each once, without those that are gone."""
        found = ((c, self.find_name(n)) for c, names in self._user_names.items() for n in names)
        indices = (i for c, i in found if i is not None and c in self.concept_ids_of(i))
        return list(dict.fromkeys(indices))

    def apply(self, rules: Iterable[Rule]) -> None:
        """Apply rules, from the first to the last: `add`, `remove` and `rename` as `edit` does; the
        others are kept in `rules`.

        rules (Iterable[Rule]): those that cannot be applied are ignored, such as one about a
            concept that the vocabulary does not have.
        """
        with self._lock.changing():
            for rule in rules:
                if not rule.is_edit:
                    self.rules += (rule,)
                    continue
                with suppress(AngelError):
                    self.edit(rule)

    def edit(self, rule: Rule) -> None:
        """Change what a rule changes; a name that the concept has already is not added again.

        rule (Rule): `add`, `remove` or `rename`.
        RAISES (AngelError): the vocabulary does not have its concept or name, or it is the only
            name that would be removed.
        """
        concept, string, target = self.get(rule.concept), rule.string, rule.concept
        if concept is None and rule.condition == NEW:
            self.add(Concept(target, string, types=(rule.type,) if rule.type else ()))
        elif rule.action == "add":
            if concept is None or not self.has_name(concept.concept_id, string):
                self.add_names(target, [string])
        elif rule.action == "rename":
            if rule.instead_of or concept is None or string != concept.canonical_name:
                self.rename(target, string, rule.instead_of or None)
        elif string:
            self.remove_name(target, string)
        else:
            self.remove(target)

    def add(self, concept: Concept | Iterable[Concept]) -> None:
        """Add concepts while running.

        concept (Concept | Iterable[Concept]): a new one, or several.
        RAISES (AngelError): an identifier is empty or another concept's own, or a field is not of
            its type; nothing is changed then.
        """
        concepts = _validated(concept)
        with self._lock.changing():
            ids = Counter(new.concept_id for new in concepts)
            for concept_id, n in ids.items():
                if n > 1 or self.concept(concept_id) is not None:
                    raise AngelError(
                        f"{concept_id!r} is already in the vocabulary. Use `add_names`."
                    )
            for new in concepts:
                self._put(new)
                self._user_names[new.concept_id] = _normal_forms(new.names)
            self._is_edited |= bool(concepts)

    def add_names(self, concept_id: str, names: Iterable[str]) -> None:
        """Give a concept further names while running; those it has are ignored.

        concept_id (str): its identifier, or an alternate one.
        names (Iterable[str]): in any spelling.
        RAISES (AngelError): there is no such concept, or `names` is one text or holds something
            else; nothing is changed then.
        """
        with self._lock.changing():
            concept = self[concept_id]
            if added := self._put_names(concept, names):
                self._user_names.setdefault(concept.concept_id, []).extend(_normal_forms(added))
                self._is_edited = True

    def remove(self, concept_id: str) -> None:
        """Remove a concept while running; names that it alone has go with it.

        concept_id (str): its identifier, or an alternate one.
        RAISES (AngelError): there is no such concept.
        """
        with self._lock.changing():
            own = self._resolved(concept_id)
            self._take_out(own)
            self._user_names.pop(own, None)
            self._is_edited = True

    def remove_name(self, concept_id: str, name: str) -> None:
        """Take a name from a concept while running, in all its spellings. If it was the canonical
        name, the first alias becomes canonical.

        concept_id (str): its identifier, or an alternate one.
        name (str): in any spelling.
        RAISES (AngelError): there is no such concept, or it has no such name or no other.
        """
        with self._lock.changing():
            concept = self[concept_id]
            pairs = zip(concept.names, _is_name(concept, name), strict=True)
            rest = [other for other, is_it in pairs if not is_it]
            if not rest:
                raise AngelError(
                    f"{name!r} is the only name of {concept.concept_id!r}. Remove the concept, or "
                    "add another name first."
                )
            own = self._user_names.get(concept.concept_id, [])
            own[:] = [n for n in own if n != normalize_name(name)]
            self._put_with(concept, rest)

    def rename(self, concept_id: str, name: str, old: str | None = None) -> None:
        """Rename a concept while running, or spell one of its names in another way.

        concept_id (str): its identifier, or an alternate one.
        name (str): becomes the canonical name, and the former one an alias; with `old`, it replaces
            that name.
        old (str | None): a name of the concept; all its spellings go.
        RAISES (AngelError): there is no such concept, it has no name `old`, or the new one is
            blank.
        """
        with self._lock.changing():
            concept = self[concept_id]
            if not name.strip():
                raise AngelError(f"The new name of {concept.concept_id} has no letters.")
            names = [name, *concept.names]
            if old is not None:
                pairs = zip(concept.names, _is_name(concept, old), strict=True)
                names = [name if is_old else other for other, is_old in pairs]
            if self._is_own(concept):
                self._user_names[concept.concept_id] += _normal_forms([name])
            self._put_with(concept, names)

    def add_mentions(self, mentions: Iterable[tuple[str, str]], source: str) -> dict[str, Any]:
        """Add the mention strings of a training corpus as names, a published practice of the
        NCBI-disease benchmark. The metadata record the step, and how often each concept was
        meant, which orders the concepts of a shared name.

        mentions (Iterable[tuple[str, str]]): identifier of a gold concept, text of the mention.
        source (str): the corpus, for the record.
        RETURNS (dict[str, Any]): the record: names added, mentions whose identifier is unknown.
        """
        with self._lock.changing():
            texts: dict[str | None, list[str]] = {}
            for concept_id, text in mentions:
                texts.setdefault(self.resolve(concept_id), []).append(text)
            step: dict[str, Any] = {"step": "add_mentions", "source": source}
            unknown = len(texts.pop(None, ()))
            by_id = {own: names for own, names in texts.items() if own is not None}
            added = sum(len(self._put_names(self[own], names)) for own, names in by_id.items())
            step |= {"added_names": added, "unknown_mentions": unknown}
            self._meta["steps"] = [*self._meta["steps"], step]
            counts = Counter(self._meta.get("frequencies", {}))
            counts.update({own: len(names) for own, names in by_id.items()})
            self._meta["frequencies"] = dict(counts)
        return step

    def _put_with(self, concept: Concept, names: Iterable[str]) -> None:
        """Replace a concept's names."""
        canonical, *aliases = dict.fromkeys(names)
        self._put(replace(concept, canonical_name=canonical, aliases=tuple(aliases)))
        self._is_edited = True

    def _put_names(self, concept: Concept, names: Iterable[str]) -> list[str]:
        """Give a concept the names that it does not have, and return these."""
        texts = list(names)
        if isinstance(names, str) or not all(isinstance(text, str) for text in texts):
            raise AngelError(
                f"The names for {concept.concept_id!r} must be a list of strings, not {names!r}."
            )
        new = [name for name in dict.fromkeys(texts) if name not in concept.names]
        if new:
            self._put(replace(concept, aliases=(*concept.aliases, *new)))
        return new

    def _is_own(self, concept: Concept) -> bool:
        # `add_names` makes no concept the user's own: it gives it no canonical name.
        normal = normalize_name(concept.canonical_name)
        return normal in self._user_names.get(concept.concept_id, ())


def _validated(concepts: Concept | Iterable[Concept]) -> Sequence[Concept]:
    # A text and a table are iterable, and so is a concept.
    is_one = isinstance(concepts, Concept | str | Mapping) or not isinstance(concepts, Iterable)
    listed: Any = [concepts] if is_one else list(concepts)
    for item in listed:
        if not isinstance(item, Concept):
            raise AngelError(f"kb.add needs a Concept or several, not {item!r}.")
    return list(map(validate_and_normalize, listed))


def _normal_forms(names: Iterable[str]) -> list[str]:
    return list(filter(None, dict.fromkeys(map(normalize_name, names))))


def _is_name(concept: Concept, name: str) -> list[bool]:
    """Of each name of a concept, whether it is this one in some spelling."""
    normal = normalize_name(name)
    found = [n == name or (normalize_name(n) or None) == normal for n in concept.names]
    if not any(found):
        raise AngelError(
            f"{concept.concept_id!r} has no name {name!r}. Its names: {list(concept.names)}."
        )
    return found
