"""Linkers without a model, measured on the same mentions as every other figure.

Each answers with names and with concepts; a concept's score is that of its best name.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Protocol

from ..errors import AngelError
from ..vocabulary.kb import ConceptKB
from ..vocabulary.lookup.tfidf import TrigramTfidf
from ..vocabulary.names.concepts import normalize_name
from .counts import Ranking

# Names looked up for k concepts: a concept has about six names in the vocabularies of the
# benchmarks, and the names nearest to a mention are often names of the same concept.
_NAMES_PER_CONCEPT = 10


class Baseline(Protocol):
    """What the harness asks of a linker that reads the mention's text alone."""

    def link(self, mentions: Sequence[str], k: int) -> list[Ranking]:
        """mentions (Sequence[str]): texts, abbreviations replaced. k (int): concepts wanted.
        RETURNS (list[Ranking]): one a mention."""
        ...


class ExactMatch:
    """The mention is a name, both in normal form; else there is no answer.

    kb (ConceptKB): the vocabulary.
    """

    def __init__(self, kb: ConceptKB) -> None:
        self._kb = kb

    def link(self, mentions: Sequence[str], k: int) -> list[Ranking]:
        """See `Baseline`. All concepts of a name score 1."""
        names = [self._kb.name_index(mention) for mention in mentions]
        return [_ranking(self._kb, [] if name is None else [(name, 1.0)], k) for name in names]


class NearestName:
    """The names with the highest character 3-gram tf-idf similarity to the mention.

    kb (ConceptKB): the vocabulary; the weights are fitted on its names in normal form.
    """

    def __init__(self, kb: ConceptKB) -> None:
        self._kb = kb
        self._tfidf = TrigramTfidf().fit(kb.name(i) for i in range(kb.n_names))

    def link(self, mentions: Sequence[str], k: int) -> list[Ranking]:
        """See `Baseline`. Scores are cosines."""
        texts = [normalize_name(mention) for mention in mentions]
        indices, values = self._tfidf.nearest(texts, k * _NAMES_PER_CONCEPT)
        return [
            _ranking(
                self._kb,
                [
                    (int(name), float(value))
                    for name, value in zip(row, similar, strict=True)
                    if name >= 0
                ],
                k,
            )
            for row, similar in zip(indices, values, strict=True)
        ]


class ScispacyCandidates:
    """scispaCy's candidate generator, its index built over this vocabulary with its settings.

    Character 3-grams found in at least 10 names, float32, cosine. scispaCy looks the neighbours up
    in an approximate index (HNSW, M = 100, efConstruction = 2000, efSearch = 200), which takes
    minutes to hours to build; exact search gives the neighbours that it approximates. scispaCy's
    own function that builds such an index refuses every scipy that runs on Python 3.11.

    kb (ConceptKB): the vocabulary.
    approximate (bool): build the HNSW index.
    RAISES (AngelError): the vocabulary is too small for that cut.
    """

    def __init__(self, kb: ConceptKB, approximate: bool = False) -> None:
        import nmslib
        import numpy as np
        from scispacy.candidate_generation import CandidateGenerator
        from scispacy.linking_utils import Entity, KnowledgeBase
        from sklearn.feature_extraction.text import TfidfVectorizer

        self._kb = kb
        vocabulary = KnowledgeBase(
            Entity(c.concept_id, c.canonical_name, list(c.aliases), list(c.types), c.definition)
            for c in kb
        )
        aliases = list(vocabulary.alias_to_cuis)
        vectorizer = TfidfVectorizer(
            analyzer="char_wb", ngram_range=(3, 3), min_df=10, dtype=np.float32
        )
        try:
            vectors = vectorizer.fit_transform(aliases)
        except ValueError as error:
            raise AngelError(
                f"scispaCy's candidate generator finds nothing to index in {len(aliases)} names. "
                "Use `exact` or `tfidf`."
            ) from error
        # The index crashes on rows without a 3-gram.
        kept = np.flatnonzero(vectors.getnnz(axis=1))
        index = nmslib.init(
            method="hnsw" if approximate else "seq_search",
            space="cosinesimil_sparse",
            data_type=nmslib.DataType.SPARSE_VECTOR,
        )
        index.addDataPointBatch(vectors[kept])
        if approximate:
            index.createIndex({"M": 100, "efConstruction": 2000, "post": 0})
            index.setQueryTimeParams({"efSearch": 200})
        else:
            index.createIndex({})
        self._generator = CandidateGenerator(
            ann_index=index,
            tfidf_vectorizer=vectorizer,
            ann_concept_aliases_list=[aliases[i] for i in kept],
            kb=vocabulary,
        )

    def link(self, mentions: Sequence[str], k: int) -> list[Ranking]:
        """See `Baseline`. Scores are cosines."""
        rankings = []
        for candidates in self._generator(list(mentions), k=k * _NAMES_PER_CONCEPT):
            names: dict[str, float] = {}
            ids_of: dict[str, list[str]] = {}
            for candidate in candidates:
                for alias, value in zip(candidate.aliases, candidate.similarities, strict=True):
                    names[alias] = value
                    ids_of.setdefault(alias, []).append(candidate.concept_id)
            ordered = sorted(names.items(), key=lambda item: (-item[1], item[0]))
            rankings.append(rank_names([(n, sorted(ids_of[n]), v) for n, v in ordered], k))
        return rankings


BASELINES: dict[str, Callable[[ConceptKB], Baseline]] = {
    "exact": ExactMatch,
    "tfidf": NearestName,
    "scispacy": ScispacyCandidates,
    "scispacy-hnsw": partial(ScispacyCandidates, approximate=True),
}


def rank_names(names: Iterable[tuple[str, Sequence[str], float]], k: int) -> Ranking:
    """Names with scores → the answer for a mention.

    names (Iterable[tuple[str, Sequence[str], float]]): name, its identifiers, its score; best
        first.
    k (int): names and concepts to keep; concepts that share the score of the last are kept too,
        so that a tie is seen as one.
    RETURNS (Ranking): a concept has the score of its best name, equal scores by identifier, e.g.
        (("a", ["D2", "D1"], 0.9), ("b", ["D1"], 0.8)) → D1 0.9, D2 0.9.
    """
    names = list(names)
    best: dict[str, float] = {}
    for _, ids, score in names:
        for concept in ids:
            best[concept] = max(score, best.get(concept, score))
    concepts = sorted(best.items(), key=lambda item: (-item[1], item[0]))
    if len(concepts) > k:
        concepts = [item for item in concepts if item[1] >= concepts[k - 1][1]]
    return Ranking(
        names=tuple(name for name, _, _ in names[:k]),
        name_ids=tuple(tuple(ids) for _, ids, _ in names[:k]),
        scores=tuple(score for _, _, score in names[:k]),
        concepts=tuple(concepts),
    )


def _ranking(kb: ConceptKB, names: Iterable[tuple[int, float]], k: int) -> Ranking:
    # A name without concepts was removed from the vocabulary.
    return rank_names(
        (
            (kb.spelling(name), ids, score)
            for name, score in names
            if (ids := kb.concept_ids_of(name))
        ),
        k,
    )
