"""Compares two versions of a vocabulary."""

from dataclasses import dataclass, field

from ..kb import ConceptKB
from ..names.concepts import normalize_name


@dataclass(slots=True)
class Difference:
    """Differences between two vocabularies. Two concepts are the same if they have the same
    identifier, or if the new one has the identifier of the old one as an alternate.

    added (list[tuple[str, str]]), gone (list[tuple[str, str]]): identifier and name of concepts
        that are only in the new vocabulary, or only in the old one.
    merged (list[tuple[str, str]]): old identifier, and the concept that it now refers to.
    renamed (list[tuple[str, str]]): old and new canonical name.
    names_added (int), names_gone (int): number of names in normal form, counted over concepts that
        are in both vocabularies.
    """

    added: list[tuple[str, str]] = field(default_factory=list)
    gone: list[tuple[str, str]] = field(default_factory=list)
    merged: list[tuple[str, str]] = field(default_factory=list)
    renamed: list[tuple[str, str]] = field(default_factory=list)
    names_added: int = 0
    names_gone: int = 0


def compare_vocabularies(old: ConceptKB, new: ConceptKB) -> Difference:
    """old (ConceptKB), new (ConceptKB): two vocabularies. RETURNS (Difference): the differences."""
    found, reached = Difference(), set()
    for concept in old:
        now = new.get(concept.concept_id)
        if now is None:
            found.gone.append((concept.concept_id, concept.canonical_name))
            continue
        before, after = (set(map(normalize_name, c.names)) for c in (concept, now))
        if now.concept_id != concept.concept_id:
            found.merged.append((concept.concept_id, now.concept_id))
        elif concept.canonical_name != now.canonical_name:
            found.renamed.append((concept.canonical_name, now.canonical_name))
        if now.concept_id not in reached:
            found.names_added += len(after - before)
        found.names_gone += len(before - after)
        reached.add(now.concept_id)
    found.added += [(c.concept_id, c.canonical_name) for c in new if c.concept_id not in reached]
    return found
