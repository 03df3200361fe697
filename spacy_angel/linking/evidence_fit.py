"""The weights of the evidence, fitted by likelihood on mentions whose right concept is known."""

from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from .evidence import Evidence
from .weights import FEATURES, NAME_FEATURES

_MAX_ITERATIONS = 500


class _Stacked(NamedTuple):
    """The evidence of m mentions, one under the other; c candidates in all."""

    features: np.ndarray  # float64[c, name features]
    offsets: np.ndarray  # float64[c], minus the logarithm of the shares
    right: np.ndarray  # bool[c]
    mention: np.ndarray  # int64[c]
    nothing: np.ndarray  # float64[m, nothing features]
    none_right: np.ndarray  # bool[m]


def fit_weights(
    items: Sequence[tuple[Evidence, Set[str]]],
    start: Mapping[str, float],
    *,
    penalty: float = 1.0,
) -> dict[str, float]:
    """The most likely weights, drawn towards those that there are.

    items (Sequence[tuple[Evidence, Set[str]]]): of each mention the evidence and its right
        concepts, any of which will do; where none is among the candidates, none is right.
    start (Mapping[str, float]): weights by feature, to be drawn to: few mentions change little.
    penalty (float): half of it, times the sum of the squared changes, is added to the negative
        log-likelihood in nats.
    RETURNS (dict[str, float]): one a feature.
    """
    data = _stack(items)
    first = np.array([start[name] for name in FEATURES])

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = _loss(data, weights)
        change = weights - first
        return value + penalty * float(change @ change) / 2, gradient + penalty * change

    fitted = minimize(
        loss, first, jac=True, method="L-BFGS-B", options={"maxiter": _MAX_ITERATIONS}
    )
    return dict(zip(FEATURES, fitted.x.tolist(), strict=True))


def evidence_loss(
    items: Sequence[tuple[Evidence, Set[str]]], weights: Mapping[str, float]
) -> float:
    """items (Sequence[tuple[Evidence, Set[str]]]), weights (Mapping[str, float]): as for
    `fit_weights`. RETURNS (float): mean negative log-probability of what is right, in nats."""
    value, _ = _loss(_stack(items), np.array([weights[name] for name in FEATURES]))
    return value / max(len(items), 1)


def _stack(items: Sequence[tuple[Evidence, Set[str]]]) -> _Stacked:
    sizes = [len(evidence.candidates) for evidence, _ in items]
    right = [
        np.array([c.concept_id in gold for c in evidence.candidates], dtype=bool)
        for evidence, gold in items
    ]
    return _Stacked(
        np.concatenate([evidence.features for evidence, _ in items]),
        -np.log(np.concatenate([evidence.shares for evidence, _ in items])),
        np.concatenate(right),
        np.repeat(np.arange(len(items)), sizes),
        np.array([evidence.nothing for evidence, _ in items]),
        np.array([not some.any() for some in right]),
    )


def _loss(data: _Stacked, weights: np.ndarray) -> tuple[float, np.ndarray]:
    """RETURNS (tuple[float, np.ndarray]): sum of the negative log-probabilities of what is right,
    and its gradient."""
    n = len(NAME_FEATURES)
    m = len(data.nothing)
    utilities = data.features @ weights[:n] + data.offsets
    nothing = data.nothing @ weights[n:]
    top = nothing.copy()
    np.maximum.at(top, data.mention, utilities)
    names = np.exp(utilities - top[data.mention])
    none = np.exp(nothing - top)
    total = none + np.bincount(data.mention, weights=names, minlength=m)
    names, none = names / total[data.mention], none / total
    right = np.bincount(data.mention, weights=names * data.right, minlength=m)
    right = np.maximum(right + none * data.none_right, np.finfo(float).tiny)
    gradient = np.concatenate(
        [
            (names - names * data.right / right[data.mention]) @ data.features,
            (none - none * data.none_right / right) @ data.nothing,
        ]
    )
    return -float(np.log(right).sum()), gradient
