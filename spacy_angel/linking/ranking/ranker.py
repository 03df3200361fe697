"""Rank the candidates of a mention and estimate whether the best one is correct, with the reranker
or with the model's scores alone (`rank_concepts`).

The reranker has two stages. A conditional logistic model (McFadden 1974) over `FEATURES` gives each
candidate its share of the probability; a binary logistic model over the features of the best
candidate and over `MENTION_FEATURES` then predicts whether that candidate is correct. Both are
fitted in `decision.calibration`. Their weights are stored in a JSON file, and the contribution of a
feature is its weight times its value.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cache
from itertools import chain, compress
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from ...about import DATA
from ...errors import AngelError
from ...vocabulary.names.labels import wider_entity_types_of
from ..types import Candidate, Query
from .features import FEATURES, MENTION_FEATURES, columns_of

SHARE, LEAD = "share", "lead"
"""Features that the second model takes from the first: the logarithm of the best concept's share,
and the logarithm of the ratio of that share to the next concept's, capped at 10 and divided by
10."""
UNSURE = "_unsure"
CONCEPT_TERMS = (*FEATURES, *(f"{name}{UNSURE}" for name in FEATURES))
"""Terms of the first model: each feature, and each feature times the model's uncertainty."""
LINK_TERMS = (*CONCEPT_TERMS, *MENTION_FEATURES, SHARE, LEAD)
"""Terms of the second model: the terms of the best concept's best name, the features of the
mention, and `SHARE` and `LEAD`."""
ALL = "ALL"
PRIOR = "prior"
"""Key in explanations for the logarithm of a concept's share of its name; its weight is not
fitted."""
SURE = 0.95
"""The model is only run for mentions whose best concept so far is less probable than this."""
LIKELY = 0.5
"""Names with a similar meaning are only searched if the best concept is less probable than this."""
EXACT_MATCH_PROBABILITY = 0.96
"""Share of correct links among mentions that exactly match the name of a single concept and are
linked without a search, see docs/notebook/speed.md."""
_UNSURE_COLUMN = [*MENTION_FEATURES].index("unsure")
_MIN_SHARE = 1e-6
_MIN_PRIOR = 1e-9
_MAX_LEAD = 10.0


class Ranking(NamedTuple):
    """The ranked concepts and candidates of one mention.

    concepts (list[tuple[str, float]]): identifiers and their probabilities, most probable first.
        With the reranker, the remainder to 1 is the probability of NIL, i.e. that no candidate is
        correct; without it, the probabilities sum to 1.
    candidates (list[tuple[Candidate, float]]): candidates, each with its share of the probability
        of its concept.
    """

    concepts: list[tuple[str, float]]
    candidates: list[tuple[Candidate, float]]


@dataclass(frozen=True)
class Weights:
    """The weights of both models.

    concept (dict[str, float]): weights of `CONCEPT_TERMS`, in this order.
    link (dict[str, float]): weights of `LINK_TERMS`, in this order.
    RAISES (ValueError): weights are missing, or belong to unknown terms.
    """

    concept: dict[str, float]
    link: dict[str, float]

    def __post_init__(self) -> None:
        if (tuple(self.concept), tuple(self.link)) != (CONCEPT_TERMS, LINK_TERMS):
            raise ValueError("it has other features")


@dataclass(frozen=True)
class Ranker(Weights):
    """The reranker: general weights, and separate ones for some entity types.

    by_type (dict[str, Weights]): entity type → weights that replace the general ones. GENE has its
        own, for example, because a single letter distinguishes one gene from another.
    nil_shares (dict[str, float]): `ALL` or an entity type → share of NIL among the mentions its
        weights were fitted on.
    unsearched (Ranker | None): the reranker for candidates found without the model; None uses the
        same weights.
    kind (str), version (int): identify the format of the file.
    """

    by_type: dict[str, Weights] = field(default_factory=dict)
    nil_shares: dict[str, float] = field(default_factory=dict)
    unsearched: "Ranker | None" = None
    kind: Literal["spacy-angel ranker"] = "spacy-angel ranker"
    version: Literal[1] = 1

    @classmethod
    def from_disk(cls, path: str | Path) -> "Ranker":
        """Load a reranker.

        path (str | Path): the JSON file.
        RETURNS (Ranker): the reranker.
        RAISES (AngelError): the file cannot be read, or has a different kind, version or set of
            features.
        """
        try:
            return cls.from_json(Path(path).read_bytes())
        except (OSError, ValueError) as error:
            raise AngelError(f"{path} is not a ranker of this version: {error}.") from error

    @classmethod
    def from_json(cls, data: str | bytes) -> "Ranker":
        """data (str | bytes): the output of `to_json`. RETURNS (Ranker): the reranker."""
        return TypeAdapter(Ranker).validate_json(data)

    def to_json(self) -> str:
        """RETURNS (str): the content of the JSON file."""
        return TypeAdapter(Ranker).dump_json(self, indent=1, exclude_none=True).decode() + "\n"

    def expecting(self, nil_prior: float) -> "Ranker":
        """Adjust the reranker to texts with a different share of NIL. The odds of a link are
        multiplied by the ratio of the prior odds in these texts to the prior odds in the texts it
        was fitted on (Saerens et al., 2002, equation 2.4).

        nil_prior (float): share of mentions whose concept is missing from the vocabulary, between
            0 and 1.
        RETURNS (Ranker): the adjusted reranker.
        """

        def shifted(weights: Weights, entity_type: str = ALL) -> dict[str, float]:
            fitted = self.nil_shares.get(entity_type, self.nil_shares[ALL])
            shift = _log_odds(fitted) - _log_odds(nil_prior)
            return {**weights.link, "bias": weights.link["bias"] + shift}

        return replace(
            self,
            link=shifted(self),
            by_type={t: replace(w, link=shifted(w, t)) for t, w in self.by_type.items()},
            unsearched=self.unsearched and self.unsearched.expecting(nil_prior),
        )

    def type_of(self, label: str) -> str:
        """label (str): label of a mention. RETURNS (str): the entity type whose weights apply to
        the mention, or `ALL`."""
        return min(wider_entity_types_of(label) & self.by_type.keys(), default=ALL)

    def weights_of(self, label: str, is_searched: bool = True) -> Weights:
        """label (str): label of a mention. is_searched (bool): whether the model was run for it.
        RETURNS (Weights): the weights that apply to the mention."""
        if not is_searched and self.unsearched is not None:
            return self.unsearched.weights_of(label)
        return self.by_type.get(self.type_of(label), self)

    def explain(self, query: Query) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
        """Compute the contribution of each term, i.e. its weight times its value, in nats.

        query (Query): a mention with at least one candidate.
        RETURNS (tuple[dict[str, dict[str, float]], dict[str, float]]): for each concept, the
            contributions of the terms and `PRIOR` to its utility by its best name; then the
            contributions to the log-odds that the best concept is correct.
        """
        weights = self.weights_of(query.label, query.is_searched)
        [table] = tables_of([query])
        utilities = table.utilities(weights)
        parts = np.column_stack([table.terms * [*weights.concept.values()], table.log_priors])
        concepts: dict[str, dict[str, float]] = {}
        for i in np.argsort(-utilities, kind="stable").tolist():
            contributions = dict(zip((*CONCEPT_TERMS, PRIOR), parts[i].tolist(), strict=True))
            concepts.setdefault(query.candidates[i].concept_id, contributions)
        _, values, *_ = table.link_terms(utilities)
        link = (values * [*weights.link.values()]).tolist()
        return concepts, dict(zip(LINK_TERMS, link, strict=True))


def rank(queries: Sequence[Query], ranker: Ranker | None) -> list[Ranking]:
    """Rank the candidates of mentions.

    queries (Sequence[Query]): mentions with their candidates.
    ranker (Ranker | None): the reranker; None: see `rank_concepts`.
    RETURNS (list[Ranking]): the ranking of each mention; empty without candidates. A candidate that
        was chosen because it matches exactly has `EXACT_MATCH_PROBABILITY`.
    """
    is_ranked = [
        ranker is not None and bool(q.candidates) and not q.matched_exactly for q in queries
    ]
    tables = iter(tables_of(list(compress(queries, is_ranked))))
    rankings = []
    for query in queries:
        if query.matched_exactly:
            exact = [(c, EXACT_MATCH_PROBABILITY) for c in query.candidates]
            rankings.append(Ranking([(c.concept_id, p) for c, p in exact], exact))
        elif ranker is None or not query.candidates:
            rankings.append(rank_concepts(query.candidates))
        else:
            weights = ranker.weights_of(query.label, query.is_searched)
            rankings.append(next(tables).rank(weights))
    return rankings


def tables_of(queries: Sequence[Query]) -> "list[Table]":
    """Compute the terms of a batch of mentions at once.

    queries (Sequence[Query]): mentions, each with at least one candidate.
    RETURNS (list[Table]): one table per mention.
    """
    if not queries:
        return []
    columns = columns_of(queries)
    features = np.stack([feature(columns) for feature in FEATURES.values()], axis=1)
    terms = np.hstack([features, features * columns["unsure"][:, None]])
    mention_terms = np.stack([feature(columns) for feature in MENTION_FEATURES.values()], axis=1)
    log_priors = np.log(np.maximum(columns["prior"], _MIN_PRIOR))
    starts = columns["starts"].tolist()
    return [
        Table(query, terms[start:end], log_priors[start:end], mention_terms[start])
        for query, start, end in zip(queries, starts, [*starts[1:], len(terms)], strict=True)
    ]


class Table(NamedTuple):
    """The terms of a mention's n candidates, at least one.

    query (Query): the mention with its candidates.
    terms (np.ndarray): float64[n, t], in the order of `CONCEPT_TERMS`.
    log_priors (np.ndarray): float64[n], logarithm of each concept's share of its name.
    mention_terms (np.ndarray): float64, in the order of `MENTION_FEATURES`.
    """

    query: Query
    terms: np.ndarray
    log_priors: np.ndarray
    mention_terms: np.ndarray

    def utilities(self, weights: Weights) -> np.ndarray:
        """weights (Weights): the weights. RETURNS (np.ndarray): float64[n], the utility of each
        candidate."""
        return self.terms @ [*weights.concept.values()] + self.log_priors

    def link_terms(
        self, utilities: np.ndarray
    ) -> tuple[str, np.ndarray, list[float], dict[str, float]]:
        """Compute the terms of the second model.

        utilities (np.ndarray): float64[n], the utility of each candidate.
        RETURNS (tuple[str, np.ndarray, list[float], dict[str, float]]): the most probable concept
            according to the first model, where the share of a concept includes the shares of
            concepts with the same name in other vocabularies; float64, the terms, in the order of
            `LINK_TERMS`; the share of each candidate, i.e. its probability according to the first
            model, given that one of the candidates is correct; and the sum of the shares of each
            concept.
        """
        parts = np.exp(utilities - utilities.max())
        shares = (parts / parts.sum()).tolist()
        concept_ids = [c.concept_id for c in self.query.candidates]
        share_of = sum_by_concept(zip(concept_ids, shares, strict=True))
        # Ties go to the concept that comes first, so the order of several vocabularies matters.
        first = max(share_of, key=share_of.__getitem__)
        best = max(np.flatnonzero(np.array(concept_ids) == first), key=utilities.__getitem__)
        # Whether a name is correct does not depend on the vocabulary, so the concepts that have it
        # in other vocabularies count as well.
        prefix, name = first.partition(":")[0], self.query.candidates[best].name
        same = {first}
        for c in self.query.candidates:
            if c.name == name and c.concept_id.partition(":")[0] != prefix:
                same.add(c.concept_id)
        top = math.fsum([share for c, share in share_of.items() if c in same])
        second = max([share for c, share in share_of.items() if c not in same], default=0.0)
        ratio = max(top, _MIN_PRIOR) / max(second, _MIN_PRIOR)
        lead = min(math.log(ratio), _MAX_LEAD) / _MAX_LEAD
        # In a small vocabulary, being the only concept is not evidence if the model is unsure.
        if len(share_of) == 1 and self.query.is_searched:
            lead *= 1.0 - self.mention_terms[_UNSURE_COLUMN]
        of_mention = [*self.mention_terms, math.log(max(top, _MIN_SHARE)), lead]
        return first, np.concatenate([self.terms[best], of_mention]), shares, share_of

    def probabilities(self, weights: Weights) -> tuple[dict[str, float], list[float]]:
        """Compute the probability of each concept. The best concept has the probability q that the
        second model predicts. Every other concept has the probability 1 - q times its share,
        capped at q. The remainder is the probability of NIL. For example, with two concepts whose
        shares are 0.7 and 0.3:

            q      first   second               NIL
            0.80   0.80    0.2 · 0.3 = 0.06     0.14
            0.20   0.20    0.8 · 0.3 → 0.20     0.60

        weights (Weights): the weights.
        RETURNS (tuple[dict[str, float], list[float]]): probability of each concept, most probable
            first, with ties ordered by share; and each candidate's part of the probability of its
            concept.
        """
        first, values, shares, share_of = self.link_terms(self.utilities(weights))
        q = 1 / (1 + math.exp(-float(values @ [*weights.link.values()])))
        order = sorted([(c != first, -share, c) for c, share in share_of.items()])
        found = {c: q if c == first else min((1 - q) * share_of[c], q) for *_, c in order}
        parts = [
            (share / share_of[c.concept_id] if share else 0.0) * found[c.concept_id]
            for c, share in zip(self.query.candidates, shares, strict=True)
        ]
        return found, parts

    def rank(self, weights: Weights) -> Ranking:
        """Rank concepts and candidates by probability, see `probabilities`.

        weights (Weights): the weights.
        RETURNS (Ranking): the most probable concept first. Candidates are grouped by name, and
            names are ordered by their most probable concept.
        """
        concepts, shares = self.probabilities(weights)
        ranks = dict(zip(concepts, range(len(concepts)), strict=True))
        pairs = list(zip(self.query.candidates, shares, strict=True))
        keys = [(ranks[c.concept_id], -p, c.name, i) for i, (c, p) in enumerate(pairs)]
        by_name: dict[int, list[tuple[Candidate, float]]] = {}
        for *_, name, i in sorted(keys):
            by_name.setdefault(name, []).append(pairs[i])
        return Ranking(list(concepts.items()), list(chain.from_iterable(by_name.values())))


def sum_by_concept(shares: Iterable[tuple[str, float]]) -> dict[str, float]:
    """shares (Iterable[tuple[str, float]]): concepts with shares of their probability.
    RETURNS (dict[str, float]): the sum for each concept, in the order of their first occurrence;
    equal concepts get equal sums whatever the order of their names."""
    parts: defaultdict[str, list[float]] = defaultdict(list)
    for concept_id, share in shares:
        parts[concept_id].append(share)
    return {concept_id: math.fsum(of) for concept_id, of in parts.items()}


def rank_candidates(candidates: Iterable[Mapping[str, Any]]) -> list[tuple[str, float]]:
    """candidates (Iterable[Mapping[str, Any]]): candidates of a mention, as in `Link.candidates`.
    RETURNS (list[tuple[str, float]]): concepts and probabilities, best first, regardless of the
        threshold."""
    sums = sum_by_concept((c["concept_id"], c["probability"]) for c in candidates)
    # Sorting is stable, so ties keep the order of the reranker.
    return sorted(sums.items(), key=lambda pair: -pair[1])


def _log_odds(share: float) -> float:
    return math.log(share / (1 - share))


@cache
def shipped_ranker() -> Ranker:
    """RETURNS (Ranker): the reranker that ships with the package, fitted on several vocabularies,
    see docs/notebook/ranker.md."""
    return Ranker.from_disk(DATA / "ranker.json")


def rank_concepts(candidates: Sequence[Candidate]) -> Ranking:
    """Rank by the model's scores alone. The weight exp(log_prob) of a name is divided equally among
    its concepts; the probability of a concept is the sum of its weights, normalized to sum to 1
    over all concepts. For example, with the names `x` (concept A) of probability 0.4 and `y`
    (concepts A and B) of probability 0.2, A has 0.5 / 0.6 and B has 0.1 / 0.6.

    candidates (Sequence[Candidate]): candidates of one mention, in the order of the search.
    RETURNS (Ranking): concepts by probability, with ties in the order of the search; candidates in
        the order of the search.
    RAISES (AngelError): a log-probability is NaN.
    """
    for c in candidates:
        if math.isnan(c.log_prob):
            raise AngelError(f"The log-probability of {c.concept_id} is not a number. Use float32.")
    n_concepts = Counter([c.name for c in candidates])
    best = max([c.log_prob for c in candidates], default=-math.inf)
    if best == -math.inf:
        return Ranking([], [(c, 0.0) for c in candidates])
    weights = [math.exp(c.log_prob - best) / n_concepts[c.name] for c in candidates]
    sums = sum_by_concept(
        (c.concept_id, weight) for c, weight in zip(candidates, weights, strict=True)
    )
    total = math.fsum(sums.values())
    concepts = [(concept_id, weight / total) for concept_id, weight in sums.items()]
    return Ranking(
        sorted(concepts, key=lambda pair: -pair[1]),
        [(c, weight / total) for c, weight in zip(candidates, weights, strict=True)],
    )
