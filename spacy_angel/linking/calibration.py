"""Temperature, or the weights of the evidence, and the limits of «links to nothing», fitted on a
development set.

The temperature makes the probabilities honest (it is fitted by likelihood and cannot change which
names are found); the limits are then chosen for the best F-score of the links.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize_scalar

from ..errors import AngelError, Errors
from .evidence import Evidence, rank_by_evidence
from .evidence_fit import evidence_loss, fit_weights
from .ranking import NIL, Candidate, RankedConcept, choose_link, rank_concepts

if TYPE_CHECKING:
    from .settings import LinkerSettings

TEMPERATURES = (0.05, 20.0)
"""Lowest and highest temperature tried."""
MAX_LIMITS = 200
"""Most values tried for each limit; of more, evenly spread quantiles are."""


@dataclass(frozen=True, slots=True)
class CalibrationItem:
    """What the search found for one mention of the development set.

    candidates (tuple[Candidate, ...]): in the order of the search.
    gold (frozenset[str]): its right identifiers, any of which will do; empty where the mention
        should link to nothing.
    evidence (Evidence | None): all that speaks for each candidate, where it is weighed.
    label (str): of the mention.
    """

    candidates: tuple[Candidate, ...]
    gold: frozenset[str]
    evidence: Evidence | None = None
    label: str = ""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was fitted, and how good it is on the mentions it was fitted on.

    temperature (float): see `ranking.rank_concepts`.
    threshold (float | None), min_log_prob (float | None): see `ranking.choose_link`; None where
        no limit does better.
    n_mentions (int): mentions in all.
    n_found (int): mentions whose right concept was among the candidates.
    nll_before (float), nll (float): mean negative log-probability of the right concept where it
        was found, in nats, at temperature 1 and at the fitted one.
    f_before (float), f (float): F-score of the links between 0 and 1, without limits and with.
    n_right (int): mentions that get their right concept, with the limits.
    n_outside (int): mentions that should link to nothing.
    n_outside_nil (int): those of them that do, with the limits.
    evidence_weights (Mapping[str, float] | None): see `weights`; where they are fitted,
        temperature and min_log_prob are not, and `nll_before` is by the weights there were.
    weights_by_label (Mapping[str, Mapping[str, float]]): of labels that have their own.
    """

    temperature: float
    threshold: float | None
    min_log_prob: float | None
    n_mentions: int
    n_found: int
    nll_before: float
    nll: float
    f_before: float
    f: float
    n_right: int
    n_outside: int
    n_outside_nil: int
    evidence_weights: Mapping[str, float] | None = None
    weights_by_label: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, Any]:
        """RETURNS (dict[str, Any]): what was fitted, by its name in `LinkerSettings`."""
        if self.evidence_weights is not None:
            return {
                "evidence_weights": dict(self.evidence_weights),
                "evidence_weights_by_label": {
                    label: dict(weights) for label, weights in self.weights_by_label.items()
                },
                "threshold": self.threshold,
            }
        names = ("temperature", "threshold", "min_log_prob")
        return {name: getattr(self, name) for name in names}

    def report(self) -> str:
        """RETURNS (str): all of it in a few lines for a person."""
        n_inside = self.n_mentions - self.n_outside
        change = f"(loss {self.nll_before:.4f} → {self.nll:.4f} nats)"
        if self.evidence_weights is None:
            fitted = [
                f"  temperature   {self.temperature:.4g} {change}",
                f"  threshold     {_limit_text(self.threshold)}",
                f"  min_log_prob  {_limit_text(self.min_log_prob)}",
            ]
        else:
            fitted = [
                f"  weights of the evidence {change}",
                *_weight_lines(self.evidence_weights),
                *chain.from_iterable(
                    [f"  weights of the evidence for {label}", *_weight_lines(weights)]
                    for label, weights in self.weights_by_label.items()
                ),
                f"  threshold     {_limit_text(self.threshold)}",
            ]
        return "\n".join(
            [
                f"{self.n_mentions:,} mentions, {self.n_found:,} with the right concept found",
                *fitted,
                f"  F-score of the links {self.f_before:.4f} → {self.f:.4f}",
                f"  in the vocabulary: {n_inside:,}, {self.n_right:,} get the right link",
                f"  not in it:         {self.n_outside:,}, {self.n_outside_nil:,} get none",
            ]
        )


def calibrate(items: Iterable[CalibrationItem]) -> Calibration:
    """Fit temperature, then the limits.

    items (Iterable[CalibrationItem]): the development set.
    RETURNS (Calibration): settings for the component, and figures.
    RAISES (AngelError): no mention's right concept is among its candidates.
    """
    items = list(items)
    temperature = fit_temperature(items)
    ranked = [rank_concepts(item.candidates, temperature) for item in items]
    gold = [item.gold for item in items]
    threshold, min_log_prob = fit_limits(ranked, gold)
    return Calibration(
        temperature=temperature,
        threshold=threshold,
        min_log_prob=min_log_prob,
        nll_before=negative_log_likelihood(items, 1.0),
        nll=negative_log_likelihood(items, temperature),
        **_figures(items, ranked, threshold, min_log_prob),
    )


def calibrate_evidence(items: Iterable[CalibrationItem], settings: "LinkerSettings") -> Calibration:
    """Fit the weights of the evidence, those for labels that have their own on their mentions
    alone; then the threshold.

    items (Iterable[CalibrationItem]): the development set, with its evidence.
    settings (LinkerSettings): the weights there are, which the fitted ones are drawn to.
    RETURNS (Calibration): settings for the component, and figures.
    RAISES (AngelError): no mention's right concept is among its candidates.
    """
    items = list(items)
    if not any(_is_found(item) for item in items):
        raise AngelError(Errors.E303.format(n_mentions=len(items)))
    groups: dict[str, list[tuple[Evidence, Set[str]]]] = {"": []}
    for item in items:
        if item.evidence is not None:
            group = item.label if settings.has_own_weights(item.label) else ""
            groups.setdefault(group, []).append((item.evidence, item.gold))
    before = {label: settings.weights(label) for label in groups}
    fitted = {
        label: fit_weights(weighed, before[label]) if weighed else before[label]
        for label, weighed in groups.items()
    }
    n = sum(map(len, groups.values()))
    ranked = [
        []
        if item.evidence is None
        else rank_by_evidence(item.evidence, fitted.get(item.label, fitted[""]))[0]
        for item in items
    ]
    fitted_own = {label: weights for label, weights in fitted.items() if label}
    gold = [item.gold for item in items]
    threshold = fit_threshold(ranked, gold)
    return Calibration(
        temperature=1.0,
        threshold=threshold,
        min_log_prob=None,
        nll_before=sum(evidence_loss(w, before[g]) * len(w) for g, w in groups.items() if w) / n,
        nll=sum(evidence_loss(w, fitted[g]) * len(w) for g, w in groups.items() if w) / n,
        evidence_weights=fitted[""],
        weights_by_label=dict(settings.evidence_weights_by_label) | fitted_own,
        **_figures(items, ranked, threshold, None),
    )


def fit_temperature(items: Sequence[CalibrationItem]) -> float:
    """The temperature under which the right concepts are most likely.

    items (Sequence[CalibrationItem]): mentions whose right concept was not found do not count.
    RETURNS (float): within `TEMPERATURES`; 1 where it makes no difference.
    RAISES (AngelError): no mention's right concept is among its candidates.
    """
    if not any(_is_found(item) for item in items):
        raise AngelError(Errors.E303.format(n_mentions=len(items)))
    # A coarse grid first: with several names a concept, the likelihood need not be convex.
    grid = np.geomspace(*TEMPERATURES, 25)
    values = [negative_log_likelihood(items, float(t)) for t in grid]
    position = int(np.argmin(values))
    bounds = np.log([grid[max(position - 1, 0)], grid[min(position + 1, len(grid) - 1)]])
    fitted = minimize_scalar(
        lambda t: negative_log_likelihood(items, float(np.exp(t))), bounds=bounds, method="bounded"
    )
    gain = negative_log_likelihood(items, 1.0) - fitted.fun
    return float(np.exp(fitted.x)) if gain > 1e-9 else 1.0


def negative_log_likelihood(items: Sequence[CalibrationItem], temperature: float) -> float:
    """RETURNS (float): mean of -log of the summed probability of the right concepts, in nats,
    over the mentions where one was found."""
    losses = []
    for item in items:
        if _is_found(item):
            ranked = rank_concepts(item.candidates, temperature)
            right = sum(r.probability for r in ranked if r.concept_id in item.gold)
            losses.append(-np.log(max(right, np.finfo(float).tiny)))
    return float(np.mean(losses)) if losses else 0.0


def fit_limits(
    ranked: Sequence[Sequence[RankedConcept]], gold: Sequence[Collection[str]]
) -> tuple[float | None, float | None]:
    """The pair of limits with the best F-score of the links; of equal pairs the least strict.

    ranked (Sequence[Sequence[RankedConcept]]): concepts of each mention, most probable first.
    gold (Sequence[Collection[str]]): right identifiers of each; empty: links to nothing.
    RETURNS (tuple[float | None, float | None]): `threshold` and `min_log_prob`; None is off. A
        limit lies halfway between the last value that it refuses and the first that it accepts.
    """
    top = [(r[0], r[0].concept_id in g) for r, g in zip(ranked, gold, strict=True) if r]
    probability = np.array([concept.probability for concept, _ in top])
    log_prob = np.array([concept.log_prob for concept, _ in top])
    right = np.array([is_right for _, is_right in top], dtype=bool)
    n_gold = sum(bool(g) for g in gold)
    thresholds, min_log_probs = _limits(probability), _limits(log_prob)
    # counts[i, j]: mentions accepted by threshold i and by min_log_prob j
    by_probability = probability >= thresholds[:, None]
    by_log_prob = log_prob >= min_log_probs[:, None]
    n_right = (by_probability & right).astype(np.float32) @ by_log_prob.T.astype(np.float32)
    n_linked = by_probability.astype(np.float32) @ by_log_prob.T.astype(np.float32)
    f = 2 * n_right / np.maximum(n_linked + n_gold, 1)
    # argmax takes the first of equals, and the limits rise from «off»
    i, j = np.unravel_index(int(np.argmax(f)), f.shape)
    return _limit(thresholds[i]), _limit(min_log_probs[j])


def fit_threshold(
    ranked: Sequence[Sequence[RankedConcept]], gold: Sequence[Collection[str]]
) -> float | None:
    """The threshold alone with the best F-score of the links; see `fit_limits`.

    ranked (Sequence[Sequence[RankedConcept]]), gold (Sequence[Collection[str]]): see there.
    RETURNS (float | None): `threshold`; None is off.
    """
    linked = [r if choose_link(r) != NIL else [] for r in ranked]
    level = [[replace(concept, log_prob=0.0) for concept in r[:1]] for r in linked]
    return fit_limits(level, gold)[0]


def link_f_score(links: Sequence[str], gold: Sequence[Collection[str]]) -> float:
    """Micro-averaged F-score as spaCy's `Scorer.score_links` counts: a right «links to nothing»
    counts nowhere, a wrong link is a false positive and, where there was a right one, also a
    false negative.

    links (Sequence[str]): identifiers or `NIL`.
    gold (Sequence[Collection[str]]): right identifiers of each; empty: links to nothing.
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
    return any(candidate.concept_id in item.gold for candidate in item.candidates)


def _limits(values: np.ndarray) -> np.ndarray:
    """«Off», then the middles between neighbouring values, rising."""
    levels = np.unique(values)
    middles = (levels[1:] + levels[:-1]) / 2
    if len(middles) > MAX_LIMITS:
        middles = np.unique(np.quantile(middles, np.linspace(0, 1, MAX_LIMITS), method="nearest"))
    return np.concatenate([[-np.inf], middles])


def _weight_lines(weights: Mapping[str, float]) -> Iterator[str]:
    return (f"    {name:<20}{weight:8.3f}" for name, weight in weights.items())


def _limit_text(limit: float | None) -> str:
    return "off" if limit is None else f"{limit:.4g}"


def _limit(value: float) -> float | None:
    return None if np.isneginf(value) else float(value)
