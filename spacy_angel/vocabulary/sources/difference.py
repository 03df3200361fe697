"""Compares two versions of a vocabulary."""

from ..kb import ConceptKB

Pairs = list[tuple[str, str]]


def compare_vocabularies(old: ConceptKB, new: ConceptKB) -> dict[str, Pairs]:
    """Compare two vocabularies. Two concepts are the same if they have the same identifier, or if
    the new one has the identifier of the old one as an alternate.

    old (ConceptKB), new (ConceptKB): the vocabularies.
    RETURNS (dict[str, Pairs]): `added`, `gone`: identifier and name of concepts that are only in
        the new vocabulary, or only in the old one; `merged`: old identifier, and the concept that
        it now refers to; `renamed`: old and new canonical name.
    """
    found: dict[str, Pairs] = {kind: [] for kind in ("added", "gone", "merged", "renamed")}
    reached = set()
    for concept in old:
        now = new.get(concept.concept_id)
        if now is None:
            found["gone"].append((concept.concept_id, concept.canonical_name))
            continue
        if now.concept_id != concept.concept_id:
            found["merged"].append((concept.concept_id, now.concept_id))
        elif concept.canonical_name != now.canonical_name:
            found["renamed"].append((concept.canonical_name, now.canonical_name))
        reached.add(now.concept_id)
    added = (concept for concept in new if concept.concept_id not in reached)
    found["added"] += [(concept.concept_id, concept.canonical_name) for concept in added]
    return found
