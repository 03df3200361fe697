"""Linkers without a model, evaluated on the same mentions as a pipeline.

A baseline ranks names and concepts by the text of the mention alone; the score of a concept is
that of its best name.
"""

from collections.abc import Callable, Iterable, Sequence

from ..vocabulary.kb import ConceptKB
from ..vocabulary.lookup.tfidf import TrigramTfidf
from ..vocabulary.names.concepts import normalize_name
from .counts import Ranking

Baseline = Callable[[Sequence[str], int], list[Ranking]]
"""Texts of mentions, with abbreviations replaced, and the number of concepts → their rankings."""

# Names to look up for each concept wanted: a concept has about six names in the vocabularies of
# the benchmarks, and the names nearest to a mention often belong to the same concept.
_NAMES_PER_CONCEPT = 10


def exact_match(kb: ConceptKB) -> Baseline:
    """The name that equals the mention in normal form, if there is one; its concepts score 1.

    kb (ConceptKB): the vocabulary.
    RETURNS (Baseline): the linker.
    """

    def rank(mentions: Sequence[str], k: int) -> list[Ranking]:
        names = [kb.name_index(mention) for mention in mentions]
        return [rank_names(kb, [] if name is None else [(name, 1.0)], k) for name in names]

    return rank


def nearest_name(kb: ConceptKB) -> Baseline:
    """The names with the highest cosine of character 3-gram tf-idf vectors to the mention.

    kb (ConceptKB): the vocabulary; the weights are fitted on its names in normal form.
    RETURNS (Baseline): the linker.
    """
    tfidf = TrigramTfidf().fit(kb.name(i) for i in range(kb.n_names))

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
    k (int): names and concepts to keep; concepts that tie with the last one are kept as well.
    RETURNS (Ranking): a concept has the score of its best name; concepts with equal scores are
        sorted by identifier. Names without concepts, which were removed from the vocabulary, are
        left out.
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
