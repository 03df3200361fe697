"""Finding concepts by what a person types."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Literal

import numpy as np

from ..kb import ConceptKB
from ..names.concepts import Concept, normalize_name
from ..storage.strings import encode

How = Literal["identifier", "name", "prefix", "words", "similar"]
# What a similar name must share with what was typed, see `string_similarity.Similarity`.
_MIN_COSINE = 0.4
_MAX_SIMILAR, _MAX_PREFIXED = 50, 200


@dataclass(frozen=True, slots=True)
class Hit:
    """A concept that was found.

    concept (Concept): the concept.
    name (str): the name that led there, as the source writes it.
    how (How): by `identifier`; the text is the `name`, or a `prefix` of it; the name has all its
        `words`, a word of the text perhaps cut short; the name is `similar` by its letters.
    """

    concept: Concept
    name: str
    how: How


def search_concepts(kb: ConceptKB, text: str, limit: int = 10) -> list[Hit]:
    """Concepts that a person may mean, best first: by identifier, by name, by words in a name,
    the shorter name first; only where there is none of them, by string similarity.

    kb (ConceptKB): the vocabulary.
    text (str): an identifier or a name, whole or a part, in any spelling.
    limit (int): how many concepts at most.
    RETURNS (list[Hit]): each concept once.
    """
    return _first(_searched(kb, text), limit)


def complete_name(kb: ConceptKB, text: str, limit: int = 10) -> list[Hit]:
    """Concepts for a name as it is typed, in milliseconds whatever the size of the vocabulary.

    kb (ConceptKB): the vocabulary.
    text (str): an identifier, a name, or how one begins, in any spelling.
    limit (int): how many concepts at most.
    RETURNS (list[Hit]): each concept once: by identifier, by name, by a prefix of a name, the
        shorter one first; then by string similarity.
    """
    with kb.reading():
        return _first(_typed(kb, text), limit)


def _first(hits: Iterator[Hit], limit: int) -> list[Hit]:
    """The best hit of each concept."""
    best: dict[str, Hit] = {}
    for hit in hits:
        best.setdefault(hit.concept.concept_id, hit)
        if len(best) == limit:
            break
    return list(best.values())


def _searched(kb: ConceptKB, text: str) -> Iterator[Hit]:
    normal = normalize_name(text)
    hits: Iterator[Hit] = chain(_same(kb, text), _with_words(kb, normal.split()))
    if (first := next(hits, None)) is None:
        hits = _similar(kb, normal, 0.0)
    else:
        yield first
    yield from hits


def _typed(kb: ConceptKB, text: str) -> Iterator[Hit]:
    yield from _same(kb, text)
    if normal := normalize_name(text):
        for i in _with_prefix(kb, normal):
            yield from _hits_of(kb, i, "prefix")
        yield from _similar(kb, normal, _MIN_COSINE)


def _same(kb: ConceptKB, text: str) -> Iterator[Hit]:
    if (concept := kb.get(text.strip())) is not None:
        yield Hit(concept, concept.canonical_name, "identifier")
    if (own := kb.name_index(text)) is not None:
        yield from _hits_of(kb, own, "name")


def _with_prefix(kb: ConceptKB, prefix: str) -> list[int]:
    """Names that begin with a text, the shortest ones of many."""
    names, wanted = kb.table.names, encode(prefix)
    lengths = np.diff(names.offsets)
    rows = np.flatnonzero(lengths >= len(wanted))
    for position, byte in enumerate(wanted):
        rows = rows[names.data[names.offsets[rows] + position] == byte]
    rows = rows[np.argsort(lengths[rows], kind="stable")[:_MAX_PREFIXED]]
    added = (i for i, name in kb.added_names.items() if name.startswith(prefix))
    found = [*added, *(i for i in rows.tolist() if i not in kb.touched or kb.concept_ids_of(i))]
    return sorted(found, key=lambda i: (len(kb.name(i)), kb.name(i)))


def _with_words(kb: ConceptKB, words: list[str]) -> Iterator[Hit]:
    # Every word of the text begins one of the name.
    names = ((kb.name(i), i) for i in range(kb.n_names) if words)
    found = [(len(n), i) for n, i in names if all(f" {word}" in f" {n}" for word in words)]
    for _, i in sorted(found):
        yield from _hits_of(kb, i, "words")


def _similar(kb: ConceptKB, normal: str, least: float) -> Iterator[Hit]:
    for similar in kb.nearest.find(normal, _MAX_SIMILAR) if normal else ():
        if similar.similarity.cosine >= least:
            yield from _hits_of(kb, similar.name, "similar")


def _hits_of(kb: ConceptKB, i: int, how: How) -> Iterator[Hit]:
    normal = kb.name(i)
    for concept in map(kb.__getitem__, kb.concept_ids_of(i)):
        spellings = (name for name in concept.names if normalize_name(name) == normal)
        yield Hit(concept, next(spellings, kb.spelling(i)), how)
