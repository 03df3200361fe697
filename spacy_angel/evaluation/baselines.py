"""Baseline linkers without a model, evaluated on the same mentions as a pipeline.

A baseline ranks names and concepts by the text of the mention alone. The score of a concept is the
score of its best name.
"""

from collections.abc import Callable, Iterable, Sequence

from ..vocabulary.kb import ConceptKB
from ..vocabulary.lookup.tfidf import TrigramTfidf
from ..vocabulary.names.concepts import normalize_name
from .counts import Ranking

Baseline = Callable[[Sequence[str], int], list[Ranking]]
"""Function that takes mention texts (abbreviations expanded) and a number of concepts to rank."""

# Number of names to retrieve per requested concept. A concept has about six names in the
# vocabularies of the benchmarks, and the names nearest to a mention often share a concept.
_NAMES_PER_CONCEPT = 10


def exact_match(kb: ConceptKB) -> Baseline:
    """Link a mention to the name with the same normal form, if any. Its concepts have a score of 1.

    kb (ConceptKB): the vocabulary.
    RETURNS (Baseline): the baseline linker.
    """

    def rank(mentions: Sequence[str], k: int) -> list[Ranking]:
        names = [kb.name_index(mention) for mention in mentions]
        return [rank_names(kb, [] if name is None else [(name, 1.0)], k) for name in names]

    return rank


def nearest_name(kb: ConceptKB) -> Baseline:
    """Link a mention to the names with the highest cosine similarity of tf-idf vectors of character
    3-grams.

    kb (ConceptKB): the vocabulary. The tf-idf weights are fitted to its names in normal form.
    RETURNS (Baseline): the baseline linker.
    """
    tfidf = TrigramTfidf(kb.name(i) for i in range(kb.n_names))

    def rank(mentions: Sequence[str], k: int) -> list[Ranking]:
        texts = [normalize_name(mention) for mention in mentions]
        indices, cosines = tfidf.nearest(texts, k * _NAMES_PER_CONCEPT)
        return [
            rank_names(kb, [(name, cosine) for name, cosine in row if name >= 0], k)
            for row in map(zip, indices.tolist(), cosines.tolist())
        ]

    return rank


BASELINES: dict[str, Callable[[ConceptKB], Baseline]] = {
    "exact": exact_match,
    "tfidf": nearest_name,
}


def rank_names(kb: ConceptKB, names: Iterable[tuple[int, float]], k: int) -> Ranking:
    """Rank names and their concepts for a mention.

    kb (ConceptKB): the vocabulary.
    names (Iterable[tuple[int, float]]): indices of names with their scores, best first.
    k (int): number of names and concepts to keep. Concepts tied with the last one are also kept.
    RETURNS (Ranking): the ranking. The score of a concept is the score of its best name; concepts
        with equal scores are sorted by identifier. Names that have been removed from the
        vocabulary are omitted.
    """
    known = [(name, ids, score) for name, score in names if (ids := kb.concept_ids_of(name))]
    best: dict[str, float] = {}
    for _, ids, score in known:
        for concept in ids:
            best.setdefault(concept, score)
    concepts = sorted(best.items(), key=lambda item: (-item[1], item[0]))
    if len(concepts) > k:
        concepts = [item for item in concepts if item[1] >= concepts[k - 1][1]]
    return Ranking(
        names=tuple(kb.spelling(name) for name, _, _ in known[:k]),
        name_ids=tuple(tuple(ids) for _, ids, _ in known[:k]),
        scores=tuple(score for _, _, score in known[:k]),
        concepts=tuple(concepts),
    )
