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
from ..ranking.concepts import choose_link, rank_concepts
from ..ranking.fit import FitItem, fit_weights, negative_log_likelihood
from ..ranking.ranker import ALL, Ranker, Weights, tables_of
from ..types import NIL, Query

EXPECTED_NIL_PRIOR = 0.1
"""Share of mentions whose concept is expected to be missing from the vocabulary."""
PENALTY = 10.0
"""How strongly weights are drawn to those there are."""
PARTS = 5
"""Parts of a development set, each of which is measured with weights fitted on the others."""
_MIN_PROBABILITY = 1e-300


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
    n_mentions (int): mentions in all.
    n_found (int): mentions whose right concept was among the candidates.
    nll_before (float), nll (float): mean negative log-probability of what is right, in nats, before
        and after.
    f_before (float), f (float): F-score of the links between 0 and 1, without the threshold and
        with it.
    n_right (int): mentions that get their right concept, with the threshold.
    n_outside (int): mentions that should link to NIL.
    n_outside_nil (int): those of them that do, with the threshold.
    """

    threshold: float | None
    ranker: Ranker | None
    n_mentions: int
    n_found: int
    nll_before: float
    nll: float
    f_before: float
    f: float
    n_right: int
    n_outside: int
    n_outside_nil: int

    def to_dict(self) -> dict[str, Any]:
        """RETURNS (dict[str, Any]): all but the weights, for JSON."""
        names = (name for name in self.__slots__ if name != "ranker")
        return {name: getattr(self, name) for name in names}

    def report(self) -> str:
        """RETURNS (str): all of it in a few lines for a person."""
        n_inside = self.n_mentions - self.n_outside
        threshold = "null" if self.threshold is None else f"{self.threshold:.4g}"
        fitted = "as they were" if self.ranker is None else ", ".join(sorted(self.ranker.by_type))
        return "\n".join(
            [
                f"{self.n_mentions:,} mentions, {self.n_found:,} with the right concept found",
                f"  threshold           {threshold}",
                f"  weights             {fitted}",
                f"  loss                {self.nll_before:.4f} → {self.nll:.4f} nats",
                f"  F-score of links    {self.f_before:.4f}, with the threshold {self.f:.4f}",
                f"  in the vocabulary: {n_inside:,}, {self.n_right:,} get the right link",
                f"  not in it:         {self.n_outside:,}, {self.n_outside_nil:,} get none",
            ]
        )


def calibrate(
    items: Iterable[CalibrationItem], ranker: Ranker | None, threshold: float | None = None
) -> Calibration:
    """Fit the weights of a reranker, for entity types that have their own on their mentions alone;
    then the threshold. Without a reranker, fit the threshold alone.

    With a reranker every mention counts a little more, as often as `EXPECTED_NIL_PRIOR` says, as
    one whose concept the vocabulary lacks: a development set without such mentions says nothing of
    them.

    items (Iterable[CalibrationItem]): the development set, with what was found.
    ranker (Ranker | None): the weights there are, which the fitted ones are drawn to.
    threshold (float | None): the one in use, which stays if the weights do.
    RETURNS (Calibration): what was fitted, and figures; with a warning if the fitted weights are no
        better on mentions that they were not fitted on.
    RAISES (AngelError): no mention's right concept is among its candidates.
    """
    items = list(items)
    if not any(_is_found(item) for item in items):
        raise AngelError(
            f"None of the {len(items)} mentions has its gold concept among the candidates."
        )
    if ranker is None:
        ranked = [rank_concepts(item.query.candidates).concepts for item in items]
        loss = _loss_by_model(items, ranked)
        threshold = fit_threshold(ranked, [item.gold for item in items])
        return Calibration(threshold, None, **_figures(items, ranked, threshold, loss, loss))
    groups: dict[str, list[FitItem]] = {}
    for item in items:
        if item.query.candidates:
            groups.setdefault(ranker.type_of(item.query.label), []).extend(_with_nil(item))
    before = {kind: ranker.by_type.get(kind, ranker.weights) for kind in groups}
    old = _mean_loss((group, before[kind]) for kind, group in groups.items())
    held_out = _mean_loss(_held_out(groups, before))
    fitted: dict[str, Weights] = {}
    if held_out < old:
        fitted = {kind: fit_weights(g, before[kind], penalty=PENALTY) for kind, g in groups.items()}
        own = {kind: weights for kind, weights in fitted.items() if kind != ALL}
        ranker = replace(
            ranker,
            weights=fitted.get(ALL, ranker.weights),
            by_type={**ranker.by_type, **own},
        )
    else:
        warnings.warn(
            f"Not calibrated: on held-out documents the loss is {held_out:.4f}, with the old "
            f"weights {old:.4f}.",
            AngelWarning,
            stacklevel=3,
        )
    ranked = _ranked(items, ranker)
    if fitted:
        threshold = _threshold_with_nil(items, ranked, ranker)
    new = _mean_loss((group, (before | fitted)[kind]) for kind, group in groups.items())
    figures = _figures(items, ranked, threshold, old, new)
    return Calibration(threshold, ranker if fitted else None, **figures)


def _threshold_with_nil(
    items: Sequence[CalibrationItem],
    ranked: Sequence[Sequence[tuple[str, float]]],
    ranker: Ranker,
) -> float | None:
    """RETURNS (float | None): threshold on the mentions and, evenly drawn, so many as the
    vocabulary would lack of them."""
    extra = [_removed(item) for item in items]
    n = max(round(EXPECTED_NIL_PRIOR * len(items)), 1)
    spread = extra[:: max(len(extra) // n, 1)]
    gold = [*(item.gold for item in items), *(item.gold for item in spread)]
    return fit_threshold([*ranked, *_ranked(spread, ranker)], gold)


def _ranked(items: Sequence[CalibrationItem], ranker: Ranker) -> list[list[tuple[str, float]]]:
    return [ranking.concepts for ranking in ranker.rank([item.query for item in items])]


def _removed(item: CalibrationItem) -> CalibrationItem:
    """RETURNS (CalibrationItem): as if the vocabulary had none of the right concepts."""
    return CalibrationItem(item.query.without(item.gold), frozenset())


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


def _loss_by_model(
    items: Sequence[CalibrationItem], ranked: Sequence[Sequence[tuple[str, float]]]
) -> float:
    """RETURNS (float): mean of -log of the summed probability of the right concepts, in nats, over
    the mentions for which one was found."""
    losses = [
        -math.log(max(math.fsum(p for c, p in concepts if c in item.gold), _MIN_PROBABILITY))
        for item, concepts in zip(items, ranked, strict=True)
        if _is_found(item)
    ]
    return sum(losses) / len(losses)


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


def link_f_score(links: Sequence[str], gold: Sequence[Collection[str]]) -> float:
    """Micro-averaged F-score as spaCy's `Scorer.score_links` counts: a right NIL
    counts nowhere, a wrong link is a false positive and, where there was a right one, also a
    false negative.

    links (Sequence[str]): identifiers or `NIL`.
    gold (Sequence[Collection[str]]): right identifiers of each; empty: links to NIL.
    RETURNS (float): between 0 and 1.
    """
    n_right = sum(link in g for link, g in zip(links, gold, strict=True))
    n_linked = sum(link != NIL for link in links)
    n_gold = sum(bool(g) for g in gold)
    return 2 * n_right / max(n_linked + n_gold, 1)


def _figures(
    items: Sequence[CalibrationItem],
    ranked: Sequence[Sequence[tuple[str, float]]],
    threshold: float | None,
    nll_before: float,
    nll: float,
) -> dict[str, Any]:
    """The figures of a `Calibration`."""
    gold = [item.gold for item in items]
    links = [choose_link(concepts, threshold) for concepts in ranked]
    nil = [link for link, own in zip(links, gold, strict=True) if not own]
    return {
        "n_mentions": len(items),
        "n_found": sum(map(_is_found, items)),
        "nll_before": nll_before,
        "nll": nll,
        "f_before": link_f_score([choose_link(concepts) for concepts in ranked], gold),
        "f": link_f_score(links, gold),
        "n_right": sum(link in own for link, own in zip(links, gold, strict=True)),
        "n_outside": len(nil),
        "n_outside_nil": nil.count(NIL),
    }


def _is_found(item: CalibrationItem) -> bool:
    return any(candidate.concept_id in item.gold for candidate in item.query.candidates)
