"""Calibrate a linker on a development set: fit the reranker's weights by maximum likelihood, then
choose the threshold with the best F-score."""

import math
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import minimize

from ...errors import AngelError, AngelWarning
from ..ranking.features import BOUNDS
from ..ranking.ranker import (
    ALL,
    CONCEPT_TERMS,
    LINK_TERMS,
    Ranker,
    Table,
    Weights,
    rank,
    tables_of,
)
from ..types import Query

EXPECTED_NIL_PRIOR = 0.1
"""Share of mentions whose concept is expected to be missing from the vocabulary."""
PENALTY = 10.0
"""Strength of the L2 penalty on the difference from the current weights."""
PARTS = 5
"""Number of folds for cross-validation on the development set."""
_MIN_PROBABILITY = 1e-12


@dataclass(frozen=True)
class CalibrationItem:
    """A mention of the development set.

    query (Query): the mention with its candidates.
    gold (Collection[str]): its gold identifiers, any of which is correct; if none of them is among
        the candidates, the correct answer is NIL.
    weight (float): weight of the mention.
    """

    query: Query
    gold: Collection[str]
    weight: float = 1.0

    @cached_property
    def table(self) -> Table:
        """RETURNS (Table): the terms of the candidates, at least one."""
        return tables_of([self.query])[0]

    @cached_property
    def is_right(self) -> np.ndarray:
        """RETURNS (np.ndarray): bool[n], whether each candidate is a gold concept."""
        return np.array([c.concept_id in self.gold for c in self.query.candidates], dtype=bool)

    def with_nil(self) -> "list[CalibrationItem]":
        """RETURNS (list[CalibrationItem]): the mention; and, unless it should link to NIL anyway,
        the mention without its gold concepts, weighted according to `EXPECTED_NIL_PRIOR`."""
        if not self.gold:
            return [self]
        weight = self.weight * EXPECTED_NIL_PRIOR / (1 - EXPECTED_NIL_PRIOR)
        return [self, CalibrationItem(self.query.without(self.gold), (), weight)]


@dataclass(frozen=True, slots=True)
class Calibration:
    """The result of a calibration.

    threshold (float | None): the threshold; None if no threshold improves the F-score.
    ranker (Ranker | None): the reranker with the fitted weights; None without a reranker, or if the
        fitted weights are no better on held-out mentions.
    n_mentions (int): number of mentions of the development set.
    nll_before (float | None), nll (float | None): mean negative log-probability of the correct
        answers before and after calibration, in nats; None without a reranker.
    """

    threshold: float | None
    ranker: Ranker | None
    n_mentions: int
    nll_before: float | None = None
    nll: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """RETURNS (dict[str, Any]): all values except the reranker, JSON-serializable."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "ranker"}

    def report(self) -> str:
        """RETURNS (str): all values as text, one per line."""
        values = self.to_dict() | {"weights": "fitted" if self.ranker else "unchanged"}
        return "\n".join(f"{name:<16}{value}" for name, value in values.items())


def calibrate(
    items: Iterable[CalibrationItem], ranker: Ranker | None, threshold: float | None = None
) -> Calibration:
    """Fit the weights of the reranker, then the threshold. Entity types with their own weights are
    fitted separately, on their mentions only. Without a reranker, only the threshold is fitted.

    A development set may have no mentions whose concept is missing from the vocabulary. With a
    reranker, each mention is therefore used a second time with its gold concepts removed, with a
    weight derived from `EXPECTED_NIL_PRIOR`.

    If the fitted weights are no better on held-out mentions, a warning is issued and the current
    weights and threshold are kept.

    items (Iterable[CalibrationItem]): the mentions of the development set.
    ranker (Ranker | None): the current reranker; fitted weights are penalized for deviating from
        its weights.
    threshold (float | None): the current threshold.
    RETURNS (Calibration): the fitted values and metrics.
    RAISES (AngelError): no mention has a gold concept among its candidates.
    """
    items = list(items)
    if not any(item.is_right.any() for item in items):
        raise AngelError(
            f"None of the {len(items)} mentions has its gold concept among the candidates."
        )
    if ranker is None:
        ranked = [ranking.concepts for ranking in rank([item.query for item in items], None)]
        return Calibration(fit_threshold(items, ranked), None, len(items))
    with_nil = [part for item in items for part in item.with_nil()]
    groups: dict[str, list[CalibrationItem]] = {}
    for item in with_nil:
        if item.query.candidates:
            groups.setdefault(ranker.type_of(item.query.label), []).append(item)
    before = {kind: ranker.by_type.get(kind, ranker) for kind in groups}
    old = mean_loss((group, before[kind]) for kind, group in groups.items())
    held_out = mean_loss(_held_out(groups, before))
    if held_out >= old:
        warnings.warn(
            f"Not calibrated: on held-out documents the loss is {held_out:.4f}, with the old "
            f"weights {old:.4f}.",
            AngelWarning,
            stacklevel=3,
        )
        return Calibration(threshold, None, len(items), old, old)
    fitted = {kind: fit_weights(g, before[kind], penalty=PENALTY) for kind, g in groups.items()}
    new = mean_loss((group, fitted[kind]) for kind, group in groups.items())
    general = fitted.pop(ALL, ranker)
    by_type = {**ranker.by_type, **fitted}
    ranker = replace(ranker, concept=general.concept, link=general.link, by_type=by_type)
    ranked = [ranking.concepts for ranking in rank([item.query for item in with_nil], ranker)]
    return Calibration(fit_threshold(with_nil, ranked), ranker, len(items), old, new)


def mean_loss(groups: Iterable[tuple[Sequence[CalibrationItem], Weights]]) -> float:
    """groups (Iterable[tuple[Sequence[CalibrationItem], Weights]]): groups of mentions and their
    weights. RETURNS (float): mean negative log-probability of the correct answer, in nats."""
    total = count = 0.0
    for items, weights in groups:
        for item in items:
            concepts, _ = item.table.probabilities(weights)
            right = sum(p for concept_id, p in concepts.items() if concept_id in item.gold)
            if concepts.keys().isdisjoint(item.gold):
                right = 1 - sum(concepts.values())
            total -= item.weight * math.log(max(right, _MIN_PROBABILITY))
            count += item.weight
    return total / count if count else math.inf


def _held_out(
    groups: Mapping[str, Sequence[CalibrationItem]], start: Mapping[str, Weights]
) -> Iterator[tuple[Sequence[CalibrationItem], Weights]]:
    """YIELDS (tuple[Sequence[CalibrationItem], Weights]): a fold of consecutive mentions, and
    weights that were fitted on the other folds."""
    for entity_type, group in groups.items():
        for first, last in pairwise(len(group) * i // PARTS for i in range(PARTS + 1)):
            others = [*group[:first], *group[last:]]
            if first < last and others:
                fitted = fit_weights(others, start[entity_type], penalty=PENALTY)
                yield group[first:last], fitted


def fit_threshold(
    items: Sequence[CalibrationItem], ranked: Sequence[Sequence[tuple[str, float]]]
) -> float | None:
    """Find the threshold with the best F-score, or the lowest of these if there are several.

    items (Sequence[CalibrationItem]): mentions.
    ranked (Sequence[Sequence[tuple[str, float]]]): concepts and probabilities of each mention, most
        probable first.
    RETURNS (float | None): the midpoint between the highest rejected and the lowest accepted
        probability; None if all links are accepted.
    """
    top = [
        (concepts[0][1], concepts[0][0] in item.gold, item.weight)
        for item, concepts in zip(items, ranked, strict=True)
        if concepts
    ]
    if not top:
        return None
    levels, right, weights = np.array(sorted(top, key=lambda row: -row[0])).T
    n_gold = sum(item.weight for item in items if item.gold)
    f = 2 * np.cumsum(right * weights) / (np.cumsum(weights) + n_gold)
    # Equal probabilities are accepted together.
    f[:-1][levels[:-1] == levels[1:]] = -1
    best = int(np.flatnonzero(f == f.max())[-1])
    return None if best == len(f) - 1 else float((levels[best] + levels[best + 1]) / 2)


def no_weights() -> Weights:
    """RETURNS (Weights): all weights set to 0."""
    return Weights(dict.fromkeys(CONCEPT_TERMS, 0.0), dict.fromkeys(LINK_TERMS, 0.0))


def fit_weights(
    items: Sequence[CalibrationItem], start: Weights, *, penalty: float = 1.0
) -> Weights:
    """Fit the weights by maximum likelihood, with an L2 penalty on the difference from the starting
    weights. The first model is fitted on the mentions with a gold concept among their candidates,
    the second on all mentions.

    items (Sequence[CalibrationItem]): mentions.
    start (Weights): the starting weights; few mentions change them little.
    penalty (float): strength of the penalty. `penalty / 2` times the sum of the squared changes is
        added to the negative log-likelihood in nats.
    RETURNS (Weights): the fitted weights.
    """
    own = [item for item in items if item.is_right.any()]
    choices = [(i.table.terms, i.table.log_priors, i.is_right, i.weight) for i in own]
    concept = _fit_choices(choices, start.concept, CONCEPT_TERMS, penalty)
    weights = Weights(concept, start.link)
    choices = []
    for item in items:
        concept_id, terms, *_ = item.table.link_terms(item.table.utilities(weights))
        terms = np.stack([terms, np.zeros_like(terms)])  # a link, or NIL
        is_right = concept_id in item.gold
        choices.append((terms, np.zeros(2), np.array([is_right, not is_right]), item.weight))
    return Weights(concept, _fit_choices(choices, start.link, LINK_TERMS, penalty))


def _fit_choices(
    choices: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray, float]],
    start: Mapping[str, float],
    names: Sequence[str],
    penalty: float,
) -> dict[str, float]:
    """Fit a conditional logistic model.

    choices (Sequence[tuple[np.ndarray, np.ndarray, np.ndarray, float]]): for each mention, the
        terms of its n alternatives, float64[n, t]; what is added to their utilities, float64[n];
        which ones are correct, bool[n], at least one; and the weight of the mention.
    start (Mapping[str, float]): the starting weights.
    names (Sequence[str]): names of the t terms.
    penalty (float): see `fit_weights`.
    RETURNS (dict[str, float]): the fitted weights; the starting weights if there are no choices.
    """
    if not choices:
        return dict(start)
    terms, offsets, right = (np.concatenate([choice[i] for choice in choices]) for i in range(3))
    sizes = np.array([len(is_right) for _, _, is_right, _ in choices])
    counts = np.array([weight for *_, weight in choices])
    mention = np.repeat(np.arange(len(choices)), sizes)
    firsts = np.cumsum(sizes) - sizes
    center = np.array([start[name] for name in names])

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        utilities = terms @ values + offsets
        parts = np.exp(utilities - np.maximum.reduceat(utilities, firsts)[mention])
        parts /= np.add.reduceat(parts, firsts)[mention]
        share = np.maximum(np.add.reduceat(parts * right, firsts), _MIN_PROBABILITY)
        change = (parts - parts * right / share[mention]) * counts[mention]
        moved = values - center
        value = penalty * float(moved @ moved) / 2 - float((counts * np.log(share)).sum())
        return value, change @ terms + penalty * moved

    fitted = minimize(
        loss,
        center,
        jac=True,
        method="L-BFGS-B",
        bounds=[BOUNDS.get(name, (None, None)) for name in names],
        options={"maxiter": 500},
    )
    return dict(zip(names, fitted.x.tolist(), strict=True))
