"""Calibrate a linker on a development set: fit the reranker's weights by maximum likelihood, then
choose the threshold with the best F-score."""

import math
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from ...errors import AngelError, AngelWarning
from ..ranking.features import LOWERING, RAISING
from ..ranking.ranker import (
    ALL,
    CONCEPT_TERMS,
    LINK_TERMS,
    UNSURE,
    Ranker,
    Table,
    Weights,
    choose_link,
    rank_concepts,
    tables_of,
)
from ..types import NIL, Query

EXPECTED_NIL_PRIOR = 0.1
"""Share of mentions whose concept is expected to be missing from the vocabulary."""
PENALTY = 10.0
"""Strength of the L2 penalty on the difference from the current weights."""
PARTS = 5
"""Number of folds for cross-validation on the development set."""
_MAX_ITERATIONS = 500
_MIN_PROBABILITY = 1e-12


@dataclass(frozen=True, slots=True)
class CalibrationItem:
    """A mention of the development set.

    query (Query): the mention with its candidates.
    gold (frozenset[str]): its gold identifiers, any of which is correct; empty if the mention
        should link to NIL.
    """

    query: Query
    gold: frozenset[str]


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


@dataclass(frozen=True, slots=True)
class Calibration:
    """The result of a calibration, with metrics on the development set.

    threshold (float | None): the threshold; None if no threshold improves the F-score.
    ranker (Ranker | None): the reranker with the fitted weights; None without a reranker, or if the
        fitted weights are no better on held-out mentions.
    n_mentions (int): number of mentions.
    n_found (int): number of mentions with a gold concept among their candidates.
    n_right (int): number of mentions linked to a gold concept.
    n_outside (int): number of mentions that should get NIL.
    n_outside_nil (int): number of these that do get NIL.
    f (float): F-score of the links, 0 to 1, as spaCy's `Scorer.score_links` computes it.
    nll_before (float | None), nll (float | None): mean negative log-probability of the correct
        answers before and after calibration, in nats; None without a reranker.
    """

    threshold: float | None
    ranker: Ranker | None
    n_mentions: int
    n_found: int
    n_right: int
    n_outside: int
    n_outside_nil: int
    f: float
    nll_before: float | None = None
    nll: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """RETURNS (dict[str, Any]): all values except the reranker, JSON-serializable."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "ranker"}

    def report(self) -> str:
        """RETURNS (str): all values as text, one per line."""
        lines = [f"{name:<16}{value}" for name, value in self.to_dict().items()]
        return "\n".join([*lines, f"{'weights':<16}{'fitted' if self.ranker else 'unchanged'}"])


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
    if not any(map(_is_found, items)):
        raise AngelError(
            f"None of the {len(items)} mentions has its gold concept among the candidates."
        )
    if ranker is None:
        ranked = [rank_concepts(item.query.candidates).concepts for item in items]
        return _calibration(items, ranked, fit_threshold(ranked, [item.gold for item in items]))
    groups: dict[str, list[FitItem]] = {}
    for item in items:
        if item.query.candidates:
            groups.setdefault(ranker.type_of(item.query.label), []).extend(_with_nil(item))
    before = {kind: ranker.by_type.get(kind, ranker.weights) for kind in groups}
    old = mean_loss((group, before[kind]) for kind, group in groups.items())
    held_out = mean_loss(_held_out(groups, before))
    if held_out >= old:
        warnings.warn(
            f"Not calibrated: on held-out documents the loss is {held_out:.4f}, with the old "
            f"weights {old:.4f}.",
            AngelWarning,
            stacklevel=3,
        )
        kept = _calibration(items, _ranked(items, ranker), threshold)
        return replace(kept, nll_before=old, nll=old)
    fitted = {kind: fit_weights(g, before[kind], penalty=PENALTY) for kind, g in groups.items()}
    new = mean_loss((group, fitted[kind]) for kind, group in groups.items())
    weights = fitted.pop(ALL, ranker.weights)
    ranker = replace(ranker, weights=weights, by_type={**ranker.by_type, **fitted})
    ranked = _ranked(items, ranker)
    calibration = _calibration(items, ranked, _threshold_with_nil(items, ranked, ranker))
    return replace(calibration, ranker=ranker, nll_before=old, nll=new)


def _threshold_with_nil(
    items: Sequence[CalibrationItem],
    ranked: Sequence[Sequence[tuple[str, float]]],
    ranker: Ranker,
) -> float | None:
    """Fit the threshold on the mentions and on copies of some of them with the gold concepts
    removed, evenly sampled according to `EXPECTED_NIL_PRIOR`.

    RETURNS (float | None): the threshold; None disables it.
    """
    n = max(round(EXPECTED_NIL_PRIOR * len(items)), 1)
    spread = items[:: max(len(items) // n, 1)]
    removed = [CalibrationItem(item.query.without(item.gold), frozenset()) for item in spread]
    gold = [item.gold for item in (*items, *removed)]
    return fit_threshold([*ranked, *_ranked(removed, ranker)], gold)


def _ranked(items: Sequence[CalibrationItem], ranker: Ranker) -> list[list[tuple[str, float]]]:
    return [ranking.concepts for ranking in ranker.rank([item.query for item in items])]


def _with_nil(item: CalibrationItem) -> list[FitItem]:
    removed = item.query.without(item.gold)
    if not item.gold or not removed.candidates:
        return [FitItem(tables_of([item.query])[0], item.gold)]
    own, table = tables_of([item.query, removed])
    return [
        FitItem(own, item.gold),
        FitItem(table, (), EXPECTED_NIL_PRIOR / (1 - EXPECTED_NIL_PRIOR)),
    ]


def mean_loss(groups: Iterable[tuple[Sequence[FitItem], Weights]]) -> float:
    """groups (Iterable[tuple[Sequence[FitItem], Weights]]): groups of mentions and their weights.
    RETURNS (float): mean negative log-probability of the correct answer, in nats."""
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
    groups: Mapping[str, Sequence[FitItem]], start: Mapping[str, Weights]
) -> Iterator[tuple[Sequence[FitItem], Weights]]:
    """YIELDS (tuple[Sequence[FitItem], Weights]): a fold of consecutive mentions, and weights that
    were fitted on the other folds."""
    for entity_type, group in groups.items():
        edges = [len(group) * i // PARTS for i in range(PARTS + 1)]
        for first, last in pairwise(edges):
            others = [*group[:first], *group[last:]]
            if first < last and others:
                fitted = fit_weights(others, start[entity_type], penalty=PENALTY)
                yield group[first:last], fitted


def fit_threshold(
    ranked: Sequence[Sequence[tuple[str, float]]], gold: Sequence[Collection[str]]
) -> float | None:
    """Find the threshold with the best F-score, or the lowest of these if there are several.

    ranked (Sequence[Sequence[tuple[str, float]]]): concepts and probabilities of each mention, most
        probable first.
    gold (Sequence[Collection[str]]): gold identifiers of each mention; empty for NIL.
    RETURNS (float | None): the midpoint between the highest rejected and the lowest accepted
        probability; None if all links are accepted.
    """
    top = [(concepts[0], own) for concepts, own in zip(ranked, gold, strict=True) if concepts]
    if not top:
        return None
    probabilities = np.array([p for (_, p), _ in top])
    order = np.argsort(-probabilities, kind="stable")
    levels = probabilities[order]
    right = np.array([concept_id in own for (concept_id, _), own in top])[order]
    n_linked, n_gold = np.arange(1, len(order) + 1), sum(map(bool, gold))
    f = 2 * np.cumsum(right) / (n_linked + n_gold)
    # Equal probabilities are accepted together.
    f[:-1][levels[:-1] == levels[1:]] = -1
    best = int(np.flatnonzero(f == f.max())[-1])
    return None if best == len(f) - 1 else float((levels[best] + levels[best + 1]) / 2)


def _calibration(
    items: Sequence[CalibrationItem],
    ranked: Sequence[Sequence[tuple[str, float]]],
    threshold: float | None,
) -> Calibration:
    """RETURNS (Calibration): the metrics with a threshold, without a reranker."""
    gold = [item.gold for item in items]
    links = [choose_link(concepts, threshold) for concepts in ranked]
    n_right = sum(link in own for link, own in zip(links, gold, strict=True))
    nil = [link for link, own in zip(links, gold, strict=True) if not own]
    n_linked, n_gold = len(links) - links.count(NIL), len(gold) - len(nil)
    return Calibration(
        threshold,
        None,
        n_mentions=len(items),
        n_found=sum(map(_is_found, items)),
        n_right=n_right,
        n_outside=len(nil),
        n_outside_nil=nil.count(NIL),
        f=2 * n_right / max(n_linked + n_gold, 1),
    )


def _is_found(item: CalibrationItem) -> bool:
    return any(candidate.concept_id in item.gold for candidate in item.query.candidates)


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
