"""The reranker's weights and the threshold of NIL, fitted on a development set: the weights by
likelihood, then the threshold for the best F-score of the links."""

import math
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from ...errors import AngelError, AngelWarning
from ..ranking.fit import FitItem, fit_weights, negative_log_likelihood
from ..ranking.ranker import ALL, Ranker, Weights, choose_link, rank_concepts, tables_of
from ..types import NIL, Query

EXPECTED_NIL_PRIOR = 0.1
"""Share of mentions whose concept is expected to be missing from the vocabulary."""
PENALTY = 10.0
"""How strongly weights are drawn to those there are."""
PARTS = 5
"""Parts of a development set, each of which is measured with weights fitted on the others."""


@dataclass(frozen=True, slots=True)
class CalibrationItem:
    """What the search found for one mention of the development set.

    query (Query): the mention with its candidates.
    gold (frozenset[str]): its right identifiers, any of which will do; empty if the mention should
        link to NIL.
    """

    query: Query
    gold: frozenset[str]


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was fitted, and how good it is on the mentions it was fitted on.

    threshold (float | None): None if none does better.
    ranker (Ranker | None): with the fitted weights; None without a reranker, and if the fitted
        weights are no better on mentions that they were not fitted on.
    n_mentions (int): number of mentions.
    n_found (int): mentions whose gold concept was among the candidates.
    n_right (int): mentions that get their gold concept.
    n_outside (int): mentions that should get NIL.
    n_outside_nil (int): number of them that do.
    f (float): F-score of the links, 0 to 1, as spaCy's `Scorer.score_links` computes it.
    nll_before (float | None), nll (float | None): mean negative log-probability of the correct
        answers before and after, in nats; None without a reranker.
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
        """RETURNS (dict[str, Any]): all but the weights, for JSON."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "ranker"}

    def report(self) -> str:
        """RETURNS (str): all values as text, one per line."""
        lines = [f"{name:<16}{value}" for name, value in self.to_dict().items()]
        return "\n".join([*lines, f"{'weights':<16}{'fitted' if self.ranker else 'unchanged'}"])


def calibrate(
    items: Iterable[CalibrationItem], ranker: Ranker | None, threshold: float | None = None
) -> Calibration:
    """Fit the weights of a reranker, for entity types that have their own on their mentions alone;
    then the threshold. Without a reranker, fit only the threshold.

    With a reranker, every mention also counts, with a weight according to `EXPECTED_NIL_PRIOR`, as
    one whose concept is missing from the vocabulary: a development set may have no such mentions.

    items (Iterable[CalibrationItem]): the development set, with what was found.
    ranker (Ranker | None): the current weights, which the fitted ones are drawn to.
    threshold (float | None): the current threshold, which is kept if the weights are.
    RETURNS (Calibration): what was fitted, and figures; with a warning if the fitted weights are no
        better on mentions that they were not fitted on.
    RAISES (AngelError): no mention's gold concept is among its candidates.
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
    old = _mean_loss((group, before[kind]) for kind, group in groups.items())
    held_out = _mean_loss(_held_out(groups, before))
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
    new = _mean_loss((group, fitted[kind]) for kind, group in groups.items())
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
    """RETURNS (float | None): threshold on the mentions and, evenly drawn, so many as the
    vocabulary would lack of them."""
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


def _mean_loss(groups: Iterable[tuple[Sequence[FitItem], Weights]]) -> float:
    """groups (Iterable[tuple[Sequence[FitItem], Weights]]): mentions, and the weights for them.
    RETURNS (float): mean negative log-probability of what is right, in nats."""
    total = count = 0.0
    for items, weights in groups:
        n = sum(item.weight for item in items)
        total += n * negative_log_likelihood(items, weights)
        count += n
    return total / count if count else math.inf


def _held_out(
    groups: Mapping[str, Sequence[FitItem]], start: Mapping[str, Weights]
) -> Iterator[tuple[Sequence[FitItem], Weights]]:
    """YIELDS (tuple[Sequence[FitItem], Weights]): parts of the set, each of consecutive mentions,
    with weights that were fitted on the others."""
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
    """The threshold with the best F-score of the links; of equal ones the least strict.

    ranked (Sequence[Sequence[tuple[str, float]]]): concepts of each mention with their probability,
        most probable first.
    gold (Sequence[Collection[str]]): right identifiers of each; empty: links to NIL.
    RETURNS (float | None): halfway between the last value that it refuses and the first that it
        accepts; None is off.
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
    """RETURNS (Calibration): figures of a threshold, without weights."""
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
