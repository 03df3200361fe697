"""Finding concepts by what a person types, and telling what a vocabulary makes of a text."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from ..kb import ConceptKB
from ..names.concepts import Concept, normalize_name
from ..names.identifiers import normal_ids

How = Literal["identifier", "name", "prefix", "words", "similar"]
# What a similar name must share with what was typed, see `string_similarity.Similarity`.
_LEAST_SIMILAR = 0.4
_MOST_SIMILAR = 50


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


@dataclass(frozen=True, slots=True)
class Holder:
    """A concept that has a name.

    concept (Concept): the concept.
    spellings (tuple[str, ...]): how it writes the name.
    is_canonical (bool): the name is its canonical one.
    """

    concept: Concept
    spellings: tuple[str, ...]
    is_canonical: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a vocabulary makes of a text.

    normal (str): its normal form, by which names are compared; empty where nothing is left.
    holders (tuple[Holder, ...]): the concepts that the name leads to, the first one best.
    concept (Concept | None): the concept of which the text is an identifier.
    own_id (bool): it is the concept's own identifier, not an alternate one.
    shared (tuple[tuple[str, tuple[str, ...]], ...]): names of that concept that lead to others as
        well, or only to them, with the identifiers of those.
    unsearchable (tuple[str, ...]): names of that concept that the search cannot write, for nothing
        is left of them in normal form.
    """

    normal: str
    holders: tuple[Holder, ...]
    concept: Concept | None = None
    own_id: bool = False
    shared: tuple[tuple[str, tuple[str, ...]], ...] = ()
    unsearchable: tuple[str, ...] = ()


def search_concepts(kb: ConceptKB, text: str, limit: int = 10) -> list[Hit]:
    """Concepts that a person may mean, best first: by identifier, by name, by words in a name,
    the shorter name first; only where there is none of them, by string similarity.

    kb (ConceptKB): the vocabulary.
    text (str): an identifier or a name, whole or a part, in any spelling.
    limit (int): how many concepts at most.
    RETURNS (list[Hit]): each concept once.
    """
    hits: dict[str, Hit] = {}
    for hit in _hits(kb, text):
        hits.setdefault(hit.concept.concept_id, hit)
        if len(hits) == limit:
            break
    return list(hits.values())


def complete_name(kb: ConceptKB, text: str, limit: int = 10) -> list[Hit]:
    """Concepts for a name as it is typed, in milliseconds whatever the size of the vocabulary.

    kb (ConceptKB): the vocabulary.
    text (str): an identifier, a name, or how one begins, in any spelling.
    limit (int): how many concepts at most.
    RETURNS (list[Hit]): each concept once: by identifier, by name, by a prefix of a name, the
        shorter one first; then by string similarity.
    """
    hits: dict[str, Hit] = {}
    with kb.reading():
        for hit in _typed(kb, text):
            hits.setdefault(hit.concept.concept_id, hit)
            if len(hits) == limit:
                break
    return list(hits.values())


def concept_of(kb: ConceptKB, concept_id: str) -> Concept | None:
    """kb (ConceptKB): the vocabulary. concept_id (str): in any spelling, `MESH:D003920`,
    `mesh:D003920`, `D003920`; an alternate one, too. RETURNS (Concept | None): the concept."""
    known = _known_id(kb, concept_id)
    return None if known is None else kb[known]


def explain(kb: ConceptKB, text: str) -> Explanation:
    """Tell what a vocabulary makes of a text as a name, and as an identifier.

    kb (ConceptKB): the vocabulary.
    text (str): in any spelling.
    RETURNS (Explanation): see there.
    """
    normal = normalize_name(text)
    holders = tuple(_holder(concept, normal) for concept in kb.find(text))
    concept_id = _known_id(kb, text)
    if concept_id is None:
        return Explanation(normal, holders)
    concept = kb[concept_id]
    shared = {}
    for name in concept.names:
        i = kb.name_index(name)
        others = [] if i is None else kb.concept_ids_of(i)
        if i is not None and others != [concept.concept_id]:
            shared[kb.name(i)] = tuple(c for c in others if c != concept.concept_id)
    return Explanation(
        normal,
        holders,
        concept,
        own_id=concept.concept_id == concept_id,
        shared=tuple(shared.items()),
        unsearchable=tuple(name for name in concept.names if not normalize_name(name)),
    )


def _holder(concept: Concept, normal: str) -> Holder:
    spellings = tuple(name for name in concept.names if normalize_name(name) == normal)
    return Holder(concept, spellings, concept.canonical_name in spellings)


def _known_id(kb: ConceptKB, text: str) -> str | None:
    """The identifier that a text is, as the vocabulary writes it."""
    return next((form for form in (text.strip(), normal_ids(text)) if form in kb), None)


def _hits(kb: ConceptKB, text: str) -> Iterator[Hit]:
    has_hits = False
    for hit in chain(_same(kb, text), _with_words(kb, normalize_name(text).split())):
        has_hits = True
        yield hit
    if not has_hits:
        yield from _similar(kb, normalize_name(text), 0.0)


def _typed(kb: ConceptKB, text: str) -> Iterator[Hit]:
    yield from _same(kb, text)
    if normal := normalize_name(text):
        for i in kb.prefixes.find(normal):
            yield from _hits_of(kb, i, "prefix")
        yield from _similar(kb, normal, _LEAST_SIMILAR)


def _same(kb: ConceptKB, text: str) -> Iterator[Hit]:
    if (concept_id := _known_id(kb, text)) is not None:
        yield Hit(kb[concept_id], kb[concept_id].canonical_name, "identifier")
    if (own := kb.name_index(text)) is not None:
        yield from _hits_of(kb, own, "name")


def _with_words(kb: ConceptKB, words: list[str]) -> Iterator[Hit]:
    names = ((kb.name(i), i) for i in range(kb.n_names) if words)
    for _, i in sorted(((len(n), i) for n, i in names if _has_words(n, words))):
        yield from _hits_of(kb, i, "words")


def _similar(kb: ConceptKB, normal: str, least: float) -> Iterator[Hit]:
    for similar in kb.nearest.find(normal, _MOST_SIMILAR) if normal else ():
        if similar.similarity.cosine >= least:
            yield from _hits_of(kb, similar.name, "similar")


def _hits_of(kb: ConceptKB, i: int, how: How) -> Iterator[Hit]:
    for concept_id in kb.concept_ids_of(i):
        concept = kb[concept_id]
        spellings = _holder(concept, kb.name(i)).spellings
        yield Hit(concept, next(iter(spellings), kb.spelling(i)), how)


def _has_words(name: str, words: list[str]) -> bool:
    # Every word of the text begins one of the name.
    padded = f" {name}"
    return all(f" {word}" in padded for word in words)
