"""Vocabularies that share no identifiers, joined by the names that both have."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..names.concepts import Concept, normalize_name
from ..storage.protocols import ReadableKB


def joined_by_name(concepts: Iterable[Concept], known: ReadableKB) -> Iterator[Concept]:
    """Give concepts the identifier of the one in another vocabulary that bears their name, as an
    alternate one, by which `ConceptKB.join` joins them.

    A name is that of the only concept that has it, or else of the only one whose canonical name it
    is. Canonical names go before aliases, and these in their order: *Snarkvirus carrolli*, once
    *Snark fever virus*, is the taxon that has the new name, and where there is none the one that
    has the old name. Where two concepts would be the same one, neither is.

    concepts (Iterable[Concept]): read several times. Those of which `known` has an identifier stay
        as they are.
    known (ReadableKB): the other vocabulary.
    YIELDS (Concept): all of them.
    """
    same = _same(concepts, known)
    for concept in concepts:
        if own := same.get(concept.concept_id):
            concept = replace(concept, alternate_ids=(*concept.alternate_ids, own))
        yield concept


def _same(concepts: Iterable[Concept], known: ReadableKB) -> dict[str, str]:
    """RETURNS: identifier → identifier in `known`."""
    same: dict[str, str] = {}
    by_identifier = {c.concept_id: _known_as(c, known) for c in concepts}
    taken = set(filter(None, by_identifier.values()))
    for first, last in ((0, 1), (1, None)):
        found = {}
        for concept in concepts:
            if by_identifier[concept.concept_id] is None and concept.concept_id not in same:
                holders = (_holder(name, known) for name in concept.names[first:last])
                own = next((one for one in holders if one is not None and one not in taken), None)
                if own is not None:
                    found[concept.concept_id] = own
        n_times = Counter(found.values())
        same |= {concept_id: own for concept_id, own in found.items() if n_times[own] == 1}
        taken |= n_times.keys()
    return same


def _known_as(concept: Concept, known: ReadableKB) -> str | None:
    ids = (concept.concept_id, *concept.alternate_ids)
    return next((own for one in ids if (own := known.resolve(one)) is not None), None)


def _holder(name: str, known: ReadableKB) -> str | None:
    """The concept whose name it is."""
    if (i := known.name_index(name)) is None:
        return None
    ids = known.concept_ids_of(i)
    if len(ids) > 1:
        normal = normalize_name(name)
        ids = [one for one in ids if normalize_name(known[one].canonical_name) == normal]
    return ids[0] if len(ids) == 1 else None
