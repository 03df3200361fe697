"""Fit the reranker's weights by maximum likelihood on mentions whose gold concept is known."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from .features import LOWERING, RAISING
from .ranker import CONCEPT_TERMS, LINK_TERMS, UNSURE, Table, Weights

_MAX_ITERATIONS = 500
_MIN_PROBABILITY = 1e-12


class FitItem(NamedTuple):
    """A mention to fit on.

    table (Table): terms of its candidates.
    gold (Collection[str]): its gold concepts, any of which is correct; if none of them is among
        the candidates, the correct answer is NIL.
    weight (float): weight of the mention in the loss.
    """

    table: Table
    gold: Collection[str]
    weight: float = 1.0


def no_weights() -> Weights:
    """RETURNS (Weights): all weights set to 0."""
    return Weights(dict.fromkeys(CONCEPT_TERMS, 0.0), dict.fromkeys(LINK_TERMS, 0.0))


def fit_weights(items: Sequence[FitItem], start: Weights, *, penalty: float = 1.0) -> Weights:
    """Fit the weights by maximum likelihood, with an L2 penalty on the difference from the starting
    weights. The first model is fitted on the mentions with a gold concept among their candidates,
    the second on all mentions.

    items (Sequence[FitItem]): mentions.
    start (Weights): the starting weights; few mentions change them little.
    penalty (float): strength of the penalty. `penalty / 2` times the sum of the squared changes is
        added to the negative log-likelihood in nats.
    RETURNS (Weights): the fitted weights.
    """
    concept = _fit_concept(items, start.concept, penalty)
    weights = Weights(concept, start.link)
    links = [item.table.link_terms(item.table.utilities(weights)) for item in items]
    right = np.array(
        [link.concept_id in item.gold for item, link in zip(items, links, strict=True)]
    )
    counts = np.array([item.weight for item in items])
    terms = np.array([link.values for link in links]).reshape(-1, len(LINK_TERMS))
    signs = np.where(right, 1.0, -1.0)

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        margins = signs * (terms @ values)
        gradient = -(counts * signs / (1 + np.exp(np.minimum(margins, 500)))) @ terms
        return float((counts * np.logaddexp(0, -margins)).sum()), gradient

    return Weights(concept, _minimize(loss, start.link, LINK_TERMS, penalty))


def negative_log_likelihood(items: Sequence[FitItem], weights: Weights) -> float:
    """items (Sequence[FitItem]): mentions. weights (Weights): the weights to evaluate.
    RETURNS (float): mean negative log-probability of the correct answer, in nats."""
    total = 0.0
    for item in items:
        concepts, _ = item.table.probabilities(weights)
        right = sum(p for concept_id, p in concepts.items() if concept_id in item.gold)
        if concepts.keys().isdisjoint(item.gold):
            right = 1 - sum(concepts.values())
        total -= item.weight * float(np.log(max(right, _MIN_PROBABILITY)))
    return total / max(sum(item.weight for item in items), _MIN_PROBABILITY)


def _fit_concept(
    items: Sequence[FitItem], start: Mapping[str, float], penalty: float
) -> dict[str, float]:
    right = [np.array([c in item.gold for c in item.table.concept_ids]) for item in items]
    own = [i for i, of_item in enumerate(right) if of_item.any()]
    if not own:
        return dict(start)
    terms = np.concatenate([items[i].table.terms for i in own])
    priors = np.concatenate([items[i].table.log_priors for i in own])
    is_right = np.concatenate([right[i] for i in own])
    sizes = np.array([len(right[i]) for i in own])
    mention = np.repeat(np.arange(len(own)), sizes)
    firsts = np.cumsum(sizes) - sizes
    counts = np.array([items[i].weight for i in own])

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        utilities = terms @ values + priors
        parts = np.exp(utilities - np.maximum.reduceat(utilities, firsts)[mention])
        parts /= np.add.reduceat(parts, firsts)[mention]
        share = np.maximum(np.add.reduceat(parts * is_right, firsts), _MIN_PROBABILITY)
        change = (parts - parts * is_right / share[mention]) * counts[mention]
        return -float((counts * np.log(share)).sum()), change @ terms

    return _minimize(loss, start, CONCEPT_TERMS, penalty)


def _minimize(
    loss: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: Mapping[str, float],
    names: Sequence[str],
    penalty: float,
) -> dict[str, float]:
    center = np.array([start[name] for name in names])

    def penalized(values: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = loss(values)
        change = values - center
        return value + penalty * float(change @ change) / 2, gradient + penalty * change

    def limit(limits: Mapping[str, float], name: str) -> float | None:
        # For a feature times the model's uncertainty, only the sign is constrained.
        return limits.get(name, 0.0 if name.removesuffix(UNSURE) in limits else None)

    bounds = [(limit(RAISING, name), limit(LOWERING, name)) for name in names]
    fitted = minimize(
        penalized,
        center,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": _MAX_ITERATIONS},
    )
    return dict(zip(names, fitted.x.tolist(), strict=True))
