"""The ranker's weights, fitted by likelihood on mentions whose right concept is known."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from .features import LOWERING, RAISING, MentionCandidates
from .ranker import CONCEPT_TERMS, LINK_TERMS, UNSURE, Table, Weights, rank

_MAX_ITERATIONS = 500
_LEAST = 1e-12


class FitItem(NamedTuple):
    """found (MentionCandidates): for a mention. gold (Collection[str]): its right concepts, any of
    which will do; where none is found, no link is right. weight (float): how often it counts."""

    found: MentionCandidates
    gold: Collection[str]
    weight: float = 1.0


def no_weights() -> Weights:
    """RETURNS (Weights): 0 for each term."""
    return Weights(dict.fromkeys(CONCEPT_TERMS, 0.0), dict.fromkeys(LINK_TERMS, 0.0))


def fit_weights(items: Sequence[FitItem], start: Weights, *, penalty: float = 1.0) -> Weights:
    """The most likely weights, drawn towards those that there are.

    items (Sequence[FitItem]): mentions.
    start (Weights): to be drawn to: few mentions change little.
    penalty (float): half of it, times the sum of the squared changes, is added to the negative
        log-likelihood in nats.
    RETURNS (Weights): first those among concepts, on mentions of which a right one was found; then
        those of whether the best one is right, on all of which any was found.
    """
    tables = [Table(item.found) for item in items]
    rows = [i for i, table in enumerate(tables) if table.pairs]
    concept = _fit_concept(
        [tables[i] for i in rows], [items[i] for i in rows], start.concept, penalty
    )
    weights = Weights(concept, start.link)
    links = [tables[i].link_terms(tables[i].utilities(weights)) for i in rows]
    right = np.array(
        [link.concept_id in items[i].gold for i, link in zip(rows, links, strict=True)]
    )
    counts = np.array([items[i].weight for i in rows])
    terms = np.array([link.values for link in links]).reshape(-1, len(LINK_TERMS))
    signs = np.where(right, 1.0, -1.0)

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        margins = signs * (terms @ values)
        gradient = -(counts * signs / (1 + np.exp(np.minimum(margins, 500)))) @ terms
        return float((counts * np.logaddexp(0, -margins)).sum()), gradient

    return Weights(concept, _minimize(loss, start.link, LINK_TERMS, penalty))


def negative_log_likelihood(items: Sequence[FitItem], weights: Weights) -> float:
    """items (Sequence[FitItem]), weights (Weights): as for `fit_weights`.
    RETURNS (float): mean negative log-probability of what is right, in nats."""
    total = 0.0
    for item in items:
        concepts = rank(item.found, weights).concepts
        right = sum(c.probability for c in concepts if c.concept_id in item.gold)
        if not any(c.concept_id in item.gold for c in concepts):
            right = 1 - sum(c.probability for c in concepts)
        total -= item.weight * float(np.log(max(right, _LEAST)))
    return total / max(sum(item.weight for item in items), _LEAST)


def _fit_concept(
    tables: Sequence[Table],
    items: Sequence[FitItem],
    start: Mapping[str, float],
    penalty: float,
) -> dict[str, float]:
    right = [
        np.array([pair.concept_id in item.gold for pair in table.pairs])
        for table, item in zip(tables, items, strict=True)
    ]
    own = [i for i, some in enumerate(right) if some.any()]
    if not own:
        return dict(start)
    terms = np.concatenate([tables[i].terms for i in own])
    priors = np.concatenate([tables[i].log_priors for i in own])
    is_right = np.concatenate([right[i] for i in own])
    mention = np.repeat(np.arange(len(own)), [len(right[i]) for i in own])
    counts = np.array([items[i].weight for i in own])

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        utilities = terms @ values + priors
        top = np.full(len(own), -np.inf)
        np.maximum.at(top, mention, utilities)
        parts = np.exp(utilities - top[mention])
        parts /= np.bincount(mention, weights=parts)[mention]
        share = np.maximum(np.bincount(mention, weights=parts * is_right), _LEAST)
        change = (parts - parts * is_right / share[mention]) * counts[mention]
        return -float((counts * np.log(share)).sum()), change @ terms

    return _minimize(loss, start, CONCEPT_TERMS, penalty)


def _minimize(
    loss: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: Mapping[str, float],
    names: Sequence[str],
    penalty: float,
) -> dict[str, float]:
    first = np.array([start[name] for name in names])

    def penalised(values: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = loss(values)
        change = values - first
        return value + penalty * float(change @ change) / 2, gradient + penalty * change

    def limit(limits: Mapping[str, float], name: str) -> float | None:
        # Of a feature times how unsure the model is, the sign alone is limited.
        return limits.get(name, 0.0 if name.removesuffix(UNSURE) in limits else None)

    bounds = [(limit(RAISING, name), limit(LOWERING, name)) for name in names]
    fitted = minimize(
        penalised,
        first,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": _MAX_ITERATIONS},
    )
    return dict(zip(names, fitted.x.tolist(), strict=True))
