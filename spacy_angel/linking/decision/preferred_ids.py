"""Links with the identifiers that the user prefers: the setting `prefer`, and curation rules."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..ranking.ranker import sum_by_concept
from ..types import NIL, Link

if TYPE_CHECKING:
    from ...vocabulary.kb import ConceptKB


def in_preferred_ids(
    link: Link, kb: "ConceptKB", prefixes: Sequence[str], preferred: Mapping[str, str]
) -> Link:
    """link (Link): a link. kb (ConceptKB): the vocabulary.
    prefixes (Sequence[str]): preferred prefixes, best first; case is ignored.
    preferred (Mapping[str, str]): concept → identifier that a curation rule prefers.
    RETURNS (Link): the link with the preferred identifiers; candidates also have `other_ids`.
    """
    own_ids = {candidate["concept_id"] for candidate in link.candidates}
    ids = {own: _preferred_ids(own, kb, prefixes, preferred.get(own)) for own in own_ids}
    # Two concepts may have the same preferred identifier.
    sums = sum_by_concept((ids[own][0], probability) for own, probability in link.kb_ents)
    ents = [(concept_id, min(probability, 1.0)) for concept_id, probability in sums.items()]
    return Link(
        kb_id=link.kb_id if link.kb_id == NIL else ids[link.kb_id][0],
        kb_ents=sorted(ents, key=lambda pair: -pair[1]),
        candidates=[
            c | {"concept_id": ids[c["concept_id"]][0], "other_ids": ids[c["concept_id"]][1:]}
            for c in link.candidates
        ],
    )


def _preferred_ids(
    concept_id: str, kb: "ConceptKB", prefixes: Sequence[str], chosen: str | None = None
) -> list[str]:
    """List all identifiers of a concept, starting with the preferred one.

    concept_id (str): identifier of the concept.
    kb (ConceptKB): the vocabulary.
    prefixes (Sequence[str]): preferred prefixes, best first; case is ignored.
    chosen (str | None): the preferred identifier, regardless of the prefixes.
    RETURNS (list[str]): the identifiers, e.g. `["MONDO:0005015", "MESH:D003920"]` for the prefixes
        `["MONDO", "MESH"]`. The concept's own identifier is preferred to alternates with the same
        prefix, and comes first if no prefix matches. Alternates that the vocabulary resolves to
        another concept are never preferred.
    """
    concept = kb[concept_id if chosen is None else kb.resolve(chosen) or concept_id]
    ids = [concept.concept_id, *concept.alternate_ids]
    ranks = {prefix.lower(): rank for rank, prefix in enumerate(prefixes)}

    def rank(own: str) -> int:
        found = ranks.get(own.partition(":")[0].lower())
        return len(ranks) if found is None or kb.resolve(own) != ids[0] else found

    chosen = chosen or min(ids, key=rank)
    return [chosen, *(other for other in ids if other != chosen)]
