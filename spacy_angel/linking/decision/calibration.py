"""Temperature, or the weights of the ranker, and the thresholds of NIL, fitted on a
development set.

The temperature calibrates the probabilities (it is fitted by likelihood and cannot change which
names are found); the thresholds are then chosen for the best F-score of the links.
"""

import math
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize_scalar

from ...errors import AngelError, AngelWarning
from ..ranking.concepts import RankedConcept, choose_link, rank_concepts
from ..ranking.fit import FitItem, fit_weights, negative_log_likelihood
from ..ranking.ranker import CONCEPT, LINK, Ranker, Weights, tables_of
from ..types import NIL, Query

if TYPE_CHECKING:
    from ..settings.linker_settings import LinkerSettings

TEMPERATURES = (0.05, 20.0)
"""Lowest and highest temperature tried."""
MAX_THRESHOLDS = 200
"""Most values tried for each threshold; of more, evenly spread quantiles are."""
EXPECTED_NIL_PRIOR = 0.1
"""Share of mentions whose concept is thought to be missing in the vocabulary."""
PENALTY = 10.0
"""How strongly weights are drawn to those there are."""
PARTS = 5
"""Parts of a development set, of which each is measured by weights of the others."""


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

    settings (Mapping[str, Any]): what was fitted, by its name in `LinkerSettings`, flat; a
        threshold is None where none does better.
    n_mentions (int): mentions in all.
    n_found (int): mentions whose right concept was among the candidates.
    nll_before (float), nll (float): mean negative log-probability of the right concept where it
        was found, in nats, with temperature 1, or the weights there were, and as fitted.
    f_before (float), f (float): F-score of the links between 0 and 1, without thresholds and with.
    n_right (int): mentions that get their right concept, with the thresholds.
    n_outside (int): mentions that should link to NIL.
    n_outside_nil (int): those of them that do, with the thresholds.
    """

    settings: Mapping[str, Any]
    n_mentions: int
    n_found: int
    nll_before: float
    nll: float
    f_before: float
    f: float
    n_right: int
    n_outside: int
    n_outside_nil: int

    def report(self) -> str:
        """RETURNS (str): all of it in a few lines for a person."""
        n_inside = self.n_mentions - self.n_outside
        lines = [f"{self.n_mentions:,} mentions, {self.n_found:,} with the right concept found"]
        for name, value in self.settings.items():
            shown = "null" if value is None else value
            if isinstance(value, Mapping):
                shown = ", ".join(sorted(value)) or "as they were"
            elif isinstance(value, float):
                shown = f"{value:.4g}"
            lines.append(f"  {name:19} {shown}")
        return "\n".join(
            [
                *lines,
                f"  loss                {self.nll_before:.4f} → {self.nll:.4f} nats",
                f"  F-score of links    {self.f_before:.4f} → {self.f:.4f}",
                f"  in the vocabulary: {n_inside:,}, {self.n_right:,} get the right link",
                f"  not in it:         {self.n_outside:,}, {self.n_outside_nil:,} get none",
            ]
        )


def calibrate(items: Iterable[CalibrationItem]) -> Calibration:
    """Fit temperature, then the thresholds.

    items (Iterable[CalibrationItem]): the development set.
    RETURNS (Calibration): settings for the component, and figures.
    RAISES (AngelError): no mention's right concept is among its candidates.
    """
    items = list(items)
    temperature = fit_temperature(items)
    ranked = [rank_concepts(item.query.candidates, temperature) for item in items]
    gold = [item.gold for item in items]
    threshold, min_log_prob = fit_thresholds(ranked, gold)
    return Calibration(
        {
            "search.temperature": temperature,
            "threshold": threshold,
            "search.min_log_prob": min_log_prob,
        },
        nll_before=temperature_loss(items, 1.0),
        nll=temperature_loss(items, temperature),
        **_figures(items, ranked, threshold, min_log_prob),
    )


def calibrate_ranker(items: Iterable[CalibrationItem], settings: "LinkerSettings") -> Calibration:
    """Fit the ranker's weights, those of entity types that have their own on their mentions alone;
    then the threshold.

    Every mention counts a little more, as often as `EXPECTED_NIL_PRIOR` says, as one whose concept
    the vocabulary lacks: a development set without such mentions says nothing of them.

    items (Iterable[CalibrationItem]): the development set, with what was found.
    settings (LinkerSettings): the weights there are, which the fitted ones are drawn to.
    RETURNS (Calibration): settings for the component, and figures; those there are, with a warning,
        where the fitted weights are no better on mentions that they have not seen.
    RAISES (AngelError): no mention's right concept is among its candidates.
    """
    items = list(items)
    if not any(_is_found(item) for item in items):
        raise AngelError(
            f"None of the {len(items)} mentions has its gold concept among the candidates."
        )
    ranker = settings.ranker_in_use
    groups: dict[str, list[FitItem]] = {}
    for item in items:
        if item.query.candidates:
            groups.setdefault(ranker.type_of(item.query.label), []).extend(_with_nil(item))
    before = {
        entity_type: ranker.by_type.get(entity_type, ranker.weights) for entity_type in groups
    }
    old = _mean_loss((group, before[name]) for name, group in groups.items())
    held = _mean_loss(_held_out(groups, before))
    fitted: dict[str, Weights] = {}
    if held < old:
        fitted = {name: fit_weights(g, before[name], penalty=PENALTY) for name, g in groups.items()}
    else:
        warnings.warn(
            f"Not calibrated: on held-out documents the loss is {held:.4f}, with the old "
            f"weights {old:.4f}.",
            AngelWarning,
            stacklevel=3,
        )
    own = {
        entity_type: {CONCEPT: dict(w.concept), LINK: dict(w.link)}
        for entity_type, w in fitted.items()
    }
    weights = {**settings.ranker.weights, **own}
    in_use = ranker.with_weights(weights)
    ranked = _ranked(items, in_use)
    threshold = _threshold_with_nil(items, ranked, in_use) if fitted else settings.threshold
    return Calibration(
        # The fitted weights include the expected share of NIL.
        {"ranker.weights": weights, "ranker.nil_prior": None, "threshold": threshold},
        nll_before=old,
        nll=_mean_loss((group, (before | fitted)[name]) for name, group in groups.items()),
        **_figures(items, ranked, threshold, None),
    )


def _threshold_with_nil(
    items: Sequence[CalibrationItem], ranked: Sequence[list[RankedConcept]], ranker: Ranker
) -> float | None:
    """RETURNS (float | None): threshold on the mentions and, evenly drawn, so many as the
    vocabulary would lack of them."""
    extra = [_removed(item) for item in items]
    n = max(round(EXPECTED_NIL_PRIOR * len(items)), 1)
    spread = extra[:: max(len(extra) // n, 1)]
    return fit_thresholds(
        [
            [replace(concept, log_prob=0.0) for concept in concepts[:1]]
            for concepts in (*ranked, *_ranked(spread, ranker))
        ],
        [*(item.gold for item in items), *(item.gold for item in spread)],
    )[0]


def _ranked(items: Sequence[CalibrationItem], ranker: Ranker) -> list[list[RankedConcept]]:
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


def fit_temperature(items: Sequence[CalibrationItem]) -> float:
    """The temperature under which the right concepts are most likely.

    items (Sequence[CalibrationItem]): mentions whose right concept was not found do not count.
    RETURNS (float): within `TEMPERATURES`; 1 where it makes no difference.
    RAISES (AngelError): no mention's right concept is among its candidates.
    """
    if not any(_is_found(item) for item in items):
        raise AngelError(
            f"None of the {len(items)} mentions has its gold concept among the candidates."
        )
    # A coarse grid first: with several names a concept, the likelihood need not be convex.
    grid = np.geomspace(*TEMPERATURES, 25)
    values = [temperature_loss(items, float(t)) for t in grid]
    position = int(np.argmin(values))
    bounds = np.log([grid[max(position - 1, 0)], grid[min(position + 1, len(grid) - 1)]])
    fitted = minimize_scalar(
        lambda t: temperature_loss(items, float(np.exp(t))), bounds=bounds, method="bounded"
    )
    gain = temperature_loss(items, 1.0) - fitted.fun
    return float(np.exp(fitted.x)) if gain > 1e-9 else 1.0


def temperature_loss(items: Sequence[CalibrationItem], temperature: float) -> float:
    """RETURNS (float): mean of -log of the summed probability of the right concepts, in nats,
    over the mentions where one was found."""
    losses = []
    for item in items:
        if _is_found(item):
            ranked = rank_concepts(item.query.candidates, temperature)
            right = sum(r.probability for r in ranked if r.concept_id in item.gold)
            losses.append(-np.log(max(right, np.finfo(float).tiny)))
    return float(np.mean(losses)) if losses else 0.0


def fit_thresholds(
    ranked: Sequence[Sequence[RankedConcept]], gold: Sequence[Collection[str]]
) -> tuple[float | None, float | None]:
    """The pair of thresholds with the best F-score of the links; of equal pairs the least strict.

    ranked (Sequence[Sequence[RankedConcept]]): concepts of each mention, most probable first.
    gold (Sequence[Collection[str]]): right identifiers of each; empty: links to NIL.
    RETURNS (tuple[float | None, float | None]): `threshold` and `min_log_prob`; None is off. A
        threshold lies halfway between the last value that it refuses and the first that it accepts.
    """
    top = [(r[0], r[0].concept_id in g) for r, g in zip(ranked, gold, strict=True) if r]
    probability = np.array([concept.probability for concept, _ in top])
    log_prob = np.array([concept.log_prob for concept, _ in top])
    right = np.array([is_right for _, is_right in top], dtype=bool)
    n_gold = sum(bool(g) for g in gold)
    thresholds, min_log_probs = _threshold_values(probability), _threshold_values(log_prob)
    # counts[i, j]: mentions accepted by threshold i and by min_log_prob j
    by_probability = probability >= thresholds[:, None]
    by_log_prob = log_prob >= min_log_probs[:, None]
    n_right = (by_probability & right).astype(np.float32) @ by_log_prob.T.astype(np.float32)
    n_linked = by_probability.astype(np.float32) @ by_log_prob.T.astype(np.float32)
    f = 2 * n_right / np.maximum(n_linked + n_gold, 1)
    # argmax takes the first of equals, and the thresholds rise from «off»
    i, j = np.unravel_index(int(np.argmax(f)), f.shape)
    return _threshold(thresholds[i]), _threshold(min_log_probs[j])


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
    ranked: Sequence[Sequence[RankedConcept]],
    threshold: float | None,
    min_log_prob: float | None,
) -> dict[str, Any]:
    """The figures of a `Calibration` that count mentions and links."""
    gold = [item.gold for item in items]
    links = [choose_link(r, threshold, min_log_prob) for r in ranked]
    return {
        "n_mentions": len(items),
        "n_found": sum(_is_found(item) for item in items),
        "f_before": link_f_score([choose_link(r) for r in ranked], gold),
        "f": link_f_score(links, gold),
        "n_right": sum(link in g for link, g in zip(links, gold, strict=True)),
        "n_outside": sum(not g for g in gold),
        "n_outside_nil": sum(link == NIL and not g for link, g in zip(links, gold, strict=True)),
    }


def _is_found(item: CalibrationItem) -> bool:
    return any(candidate.concept_id in item.gold for candidate in item.query.candidates)


def _threshold_values(values: np.ndarray) -> np.ndarray:
    """«Off», then the middles between neighbouring values, rising."""
    levels = np.unique(values)
    middles = (levels[1:] + levels[:-1]) / 2
    if len(middles) > MAX_THRESHOLDS:
        middles = np.unique(
            np.quantile(middles, np.linspace(0, 1, MAX_THRESHOLDS), method="nearest")
        )
    return np.concatenate([[-np.inf], middles])


def _threshold(value: float) -> float | None:
    return None if np.isneginf(value) else float(value)
