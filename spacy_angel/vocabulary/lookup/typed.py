"""Find concepts by what a user types."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..kb import ConceptKB
from ..names.concepts import Concept, normalize_name

How = Literal["identifier", "name", "prefix", "similar"]
# Minimum cosine of similar names, see `string_similarity.Similarity`.
_MIN_COSINE = 0.4
_MAX_SIMILAR, _MAX_PREFIXED = 50, 200


@dataclass(frozen=True, slots=True)
class Hit:
    """A concept that was found.

    concept (Concept): the concept.
    name (str): the matching name, as spelled in the source.
    how (How): the text is the `identifier`, the `name`, a `prefix` of the name, or `similar` to it.
    """

    concept: Concept
    name: str
    how: How


def search_concepts(kb: ConceptKB, text: str, limit: int = 10) -> list[Hit]:
    """Find concepts while a user types; takes milliseconds in a vocabulary of any size.

    kb (ConceptKB): the vocabulary.
    text (str): an identifier, a name, or the beginning of a name, in any spelling.
    limit (int): maximum number of concepts.
    RETURNS (list[Hit]): distinct concepts, found by identifier, by name, by a prefix of a name
        (shorter names first), then by string similarity.
    """
    best: dict[str, Hit] = {}
    for hit in _hits(kb, text):
        best.setdefault(hit.concept.concept_id, hit)
        if len(best) == limit:
            break
    return list(best.values())


def _hits(kb: ConceptKB, text: str) -> Iterator[Hit]:
    if (concept := kb.get(text.strip())) is not None:
        yield Hit(concept, concept.canonical_name, "identifier")
    if not (normal := normalize_name(text)):
        return
    for i in _with_prefix(kb, normal):
        yield from _hits_of(kb, i, "name" if kb.name(i) == normal else "prefix")
    for similar in kb.nearest.find(normal, _MAX_SIMILAR):
        if similar.similarity.cosine >= _MIN_COSINE:
            yield from _hits_of(kb, similar.name, "similar")


def _with_prefix(kb: ConceptKB, prefix: str) -> list[int]:
    """Names that begin with a text; the shortest, if there are many."""
    names, wanted = kb.table.names, prefix.encode(errors="replace")
    lengths = np.diff(names.offsets)
    rows = np.flatnonzero(lengths >= len(wanted))
    for position, byte in enumerate(wanted):
        rows = rows[names.data[names.offsets[rows] + position] == byte]
    rows = rows[np.argsort(lengths[rows], kind="stable")[:_MAX_PREFIXED]]
    added = (i for i, name in kb.added_names.items() if name.startswith(prefix))
    found = [*added, *filter(kb.is_live, rows.tolist())]
    return sorted(found, key=lambda i: (len(kb.name(i)), kb.name(i)))


def _hits_of(kb: ConceptKB, i: int, how: How) -> Iterator[Hit]:
    normal = kb.name(i)
    for concept in map(kb.__getitem__, kb.concept_ids_of(i)):
        spellings = (name for name in concept.names if normalize_name(name) == normal)
        yield Hit(concept, next(spellings, kb.spelling(i)), how)
