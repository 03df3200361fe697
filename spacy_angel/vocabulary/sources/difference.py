"""What changes from one vocabulary to another."""

from dataclasses import dataclass

from ..kb import ConceptKB
from ..names.concepts import normalize_name


@dataclass(frozen=True, slots=True)
class Difference:
    """Concepts by their identifiers; a concept is the same where its identifier is, or where the
    new vocabulary has the old one as an alternate.

    added (tuple[str, ...]): only in the new one.
    gone (tuple[str, ...]): only in the old one.
    merged (tuple[tuple[str, str], ...]): old identifier, and the concept that it leads to now.
    renamed (tuple[tuple[str, str, str], ...]): identifier, old and new canonical name.
    names_added (int), names_gone (int): names in normal form, over the concepts in both.
    """

    added: tuple[str, ...]
    gone: tuple[str, ...]
    merged: tuple[tuple[str, str], ...]
    renamed: tuple[tuple[str, str, str], ...]
    names_added: int
    names_gone: int


def compare_vocabularies(old: ConceptKB, new: ConceptKB) -> Difference:
    """old (ConceptKB), new (ConceptKB): two vocabularies. RETURNS (Difference): see there."""
    gone, merged, renamed, reached = [], [], [], set()
    names_added = names_gone = 0
    for concept in old:
        own = new.resolve(concept.concept_id)
        if own is None:
            gone.append(concept.concept_id)
            continue
        now = new[own]
        before, after = (set(map(normalize_name, c.names)) for c in (concept, now))
        if own != concept.concept_id:
            merged.append((concept.concept_id, own))
        elif concept.canonical_name != now.canonical_name:
            renamed.append((own, concept.canonical_name, now.canonical_name))
        if own not in reached:
            names_added += len(after - before)
        names_gone += len(before - after)
        reached.add(own)
    added = (concept.concept_id for concept in new if concept.concept_id not in reached)
    return Difference(
        tuple(added), tuple(gone), tuple(merged), tuple(renamed), names_added, names_gone
    )
