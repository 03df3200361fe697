"""Which of a concept's identifiers is written: that of the vocabulary which the user prefers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...vocabulary.kb import ConceptKB


def preferred_ids(
    concept_id: str, kb: "ConceptKB", prefixes: Sequence[str], chosen: str | None = None
) -> list[str]:
    """All identifiers of a concept, the one to write first.

    concept_id (str): its own identifier.
    kb (ConceptKB): the vocabulary.
    prefixes (Sequence[str]): of the identifiers to write, the best first, in any case.
    chosen (str | None): an identifier that is written whatever the prefixes, by which the
        vocabulary may know another concept, or none.
    RETURNS (list[str]): with `["MONDO", "MESH"]` e.g. `["MONDO:0005015", "MESH:D003920"]`. First
        stands one with the first of the prefixes that the concept has; its own comes before its
        alternates, and one by which the vocabulary finds another concept is passed over; where
        there is none, its own.
    """
    if chosen is not None:
        rest = preferred_ids(kb.resolve(chosen) or concept_id, kb, prefixes)
        return [chosen, *(one for one in rest if one != chosen)]
    concept = kb[concept_id]
    ids = [concept.concept_id, *concept.alternate_ids]
    places = {prefix.lower(): place for place, prefix in enumerate(prefixes)}
    fit = [
        (places[prefix], i)
        for i, one in enumerate(ids)
        if (prefix := one.partition(":")[0].lower()) in places and kb.resolve(one) == ids[0]
    ]
    first = ids.pop(min(fit)[1] if fit else 0)
    return [first, *ids]
