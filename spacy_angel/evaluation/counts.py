"""Linking metrics, in percent. Whether a link is correct is decided in three ways:

* Lenient (GenBioEL; ANGEL, section 4.3): one of the first k names must belong to a gold concept. A
  name shared by several concepts counts for all of them, one correct part of a composite is enough,
  and mentions whose concept is not in the vocabulary are excluded.
* BioSyn: like lenient, but composites are split and all parts must be correct.
* Strict: concepts are ranked by their own scores, and tied concepts get the worst rank. All parts
  of a composite must be correct, each with a different concept. A mention whose concept is not in
  the vocabulary is an error.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching
from scipy.stats import binomtest
from spacy.scorer import PRFScore

from ..corpora.documents import GoldMention
from ..corpora.entity_types import entity_type
from ..errors import AngelError

N_RANKS = 5
"""The largest k for which accuracy at k is computed."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The ranked candidates for one mention.

    names (tuple[str, ...]): candidate names, best first.
    name_ids (tuple[tuple[str, ...], ...]): identifiers of each name.
    scores (tuple[float, ...]): score of each name (a log-probability or a cosine).
    concepts (tuple[tuple[str, float], ...]): concepts with their scores, best first.
    """

    names: tuple[str, ...] = ()
    name_ids: tuple[tuple[str, ...], ...] = ()
    scores: tuple[float, ...] = ()
    concepts: tuple[tuple[str, float], ...] = ()

    @property
    def best_concepts(self) -> tuple[str, ...]:
        """RETURNS (tuple[str, ...]): the concepts with the highest score."""
        return tuple(concept for concept, score in self.concepts if score == self.concepts[0][1])


@dataclass(frozen=True, slots=True)
class Answer:
    """A system's output for one gold mention.

    ranking (Ranking): ranked names and concepts.
    linked (bool): whether the mention is linked to its first concept rather than to NIL.
    found (bool): whether the system predicted a mention with the same offsets.
    kb_ids (tuple[str, ...]): predicted identifiers: those of `span._.kb_id` from a pipeline,
        all concepts with the highest score from a baseline, or none for NIL.
    """

    ranking: Ranking = Ranking()
    linked: bool = True
    found: bool = True
    kb_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MentionResult:
    """A gold mention and the output of a system for it.

    doc_id (str): identifier of the document.
    mention (GoldMention): the gold mention.
    gold (tuple[str, ...]): canonical identifiers; several for a composite, none for NIL.
    known (tuple[bool, ...]): whether each gold identifier is in the vocabulary.
    answer (Answer): the output for the whole mention.
    parts (tuple[tuple[str, Ranking], ...]): text and candidates of each part, if the mention is a
        composite that could be split.
    """

    doc_id: str
    mention: GoldMention
    gold: tuple[str, ...]
    known: tuple[bool, ...]
    answer: Answer
    parts: tuple[tuple[str, Ranking], ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The evaluation of one gold mention.

    label (str): label of the gold mention.
    gold (tuple[str, ...]): gold identifiers.
    covered (bool): whether there are gold identifiers and all of them are in the vocabulary.
    partly_covered (bool): whether at least one gold identifier is in the vocabulary.
    lenient_rank, biosyn_rank, strict_rank (int | None): see the functions with these names.
    found (bool), linked (bool): see `Answer`.
    split (bool): whether it is a composite that was split.
    confidence (float | None): score of the first concept; None for a composite that was split.
    first_is_right (bool): whether the first concept is a gold concept, regardless of thresholds.
    kb_id_is_right (bool): whether identifiers are predicted, and all of them are gold identifiers.
    """

    label: str
    gold: tuple[str, ...]
    covered: bool
    partly_covered: bool
    lenient_rank: int | None
    biosyn_rank: int | None
    strict_rank: int | None
    found: bool
    linked: bool
    split: bool
    confidence: float | None
    first_is_right: bool
    kb_id_is_right: bool

    @property
    def is_nil(self) -> bool:
        """RETURNS (bool): whether the mention was found but linked to NIL."""
        return self.found and not self.linked


def count_result(result: MentionResult) -> Outcome:
    """Evaluate the output of a system for one mention.

    result (MentionResult): the mention and the output.
    RETURNS (Outcome): the evaluation.
    """
    answer, gold = result.answer, result.gold
    concepts, name_ids = answer.ranking.concepts, answer.ranking.name_ids
    parts = [ranking for _, ranking in result.parts]
    return Outcome(
        label=result.mention.label,
        gold=gold,
        covered=bool(result.known) and all(result.known),
        partly_covered=any(result.known),
        lenient_rank=lenient_rank(name_ids, gold),
        biosyn_rank=biosyn_rank([one.name_ids for one in parts or [answer.ranking]], gold),
        strict_rank=composite_rank([part.concepts for part in parts], gold)
        if parts
        else whole_rank(concepts, gold),
        found=answer.found,
        linked=answer.found and answer.linked and bool(concepts or parts),
        split=bool(parts),
        confidence=concepts[0][1] if concepts and not parts else None,
        first_is_right=bool(concepts) and concepts[0][0] in gold,
        kb_id_is_right=bool(answer.kb_ids) and set(answer.kb_ids) <= set(gold),
    )


def lenient_rank(name_ids: Sequence[Sequence[str]], gold: Iterable[str]) -> int | None:
    """Rank of the first name that belongs to any gold concept (GenBioEL's rule).

    name_ids (Sequence[Sequence[str]]): identifiers of each ranked name.
    gold (Iterable[str]): gold identifiers.
    RETURNS (int | None): the rank, starting from 1, or None if no name is correct, e.g.
        ([["D1"], ["D2", "D3"]], ["D3"]) → 2.
    """
    wanted = set(gold)
    return next((rank for rank, ids in enumerate(name_ids, 1) if wanted.intersection(ids)), None)


def biosyn_rank(parts: Sequence[Sequence[Sequence[str]]], gold: Iterable[str]) -> int | None:
    """Rank at which all parts of a mention have a correct name, as published for BioSyn.

    parts (Sequence[Sequence[Sequence[str]]]): for each part, the identifiers of each ranked name. A
        mention that was not split has one part.
    gold (Iterable[str]): gold identifiers of the whole mention. Each of them is correct for every
        part.
    RETURNS (int | None): the rank, or None if a part has no correct name, e.g.
        ([[["D1"]], [["D9"], ["D2"]]], ["D1", "D2"]) → 2.
    """
    wanted = set(gold)
    ranks = [lenient_rank(name_ids, wanted) or 0 for name_ids in parts]
    return max(ranks) if ranks and all(ranks) else None


def strict_rank(concepts: Sequence[tuple[str, float]], gold: str) -> int | None:
    """Rank of the gold concept, which is the worst rank among concepts with equal scores.

    concepts (Sequence[tuple[str, float]]): identifiers with scores, in any order.
    gold (str): the gold identifier.
    RETURNS (int | None): number of concepts that score at least as high, including itself, e.g.
        ([("D1", 0.4), ("D2", 0.4), ("D3", 0.1)], "D1") → 2; None if it is not among the concepts.
    """
    score = next((score for concept, score in concepts if concept == gold), None)
    if score is None:
        return None
    return sum(other >= score or math.isclose(other, score) for _, other in concepts)


def whole_rank(concepts: Sequence[tuple[str, float]], gold: Sequence[str]) -> int | None:
    """Rank of the gold concepts of a mention that was not split. For a composite with n gold
    concepts, these must be the first n concepts.

    concepts (Sequence[tuple[str, float]]): identifiers with scores, in any order.
    gold (Sequence[str]): the gold identifiers.
    RETURNS (int | None): the smallest k for which all n concepts have a `strict_rank` of at most
        n - 1 + k, e.g. ([("D1", 0.6), ("D3", 0.3), ("D2", 0.1)], ["D1", "D2"]) → 2.
    """
    ranks = [strict_rank(concepts, concept) or 0 for concept in gold]
    return max(ranks) - len(ranks) + 1 if all(ranks) and ranks else None


def composite_rank(parts: Sequence[Sequence[tuple[str, float]]], gold: Sequence[str]) -> int | None:
    """Rank of a composite that was split, assigning a different concept to each part.

    parts (Sequence[Sequence[tuple[str, float]]]): identifiers with scores, for each part.
    gold (Sequence[str]): the gold identifiers, in any order.
    RETURNS (int | None): the smallest k for which all parts are correct; None if there is no such
        assignment, or if the numbers of parts and gold identifiers differ.
    """
    if not gold or len(parts) != len(gold):
        return None
    ranks = np.array([[strict_rank(part, concept) or 0 for concept in gold] for part in parts])
    for k in np.unique(ranks[ranks > 0]).tolist():
        matching = maximum_bipartite_matching(csr_matrix((ranks > 0) & (ranks <= k)))
        if (matching >= 0).all():
            return k
    return None


def rank_figures(ranks: Sequence[int | None]) -> dict[str, Any]:
    """Compute accuracies from ranks.

    ranks (Sequence[int | None]): the rank for each mention.
    RETURNS (dict[str, Any]): `mentions`, `acc@1` to `acc@5`, the mean reciprocal rank `mrr`, and
        `interval` (see `accuracy_interval`).
    """
    accuracies = {
        f"acc@{highest}": percent([rank is not None and rank <= highest for rank in ranks])
        for highest in range(1, N_RANKS + 1)
    }
    return {
        "mentions": len(ranks),
        **accuracies,
        "mrr": percent([1 / rank if rank else 0.0 for rank in ranks]),
        "interval": accuracy_interval([rank == 1 for rank in ranks]),
    }


def accuracy_interval(hits: Sequence[bool]) -> list[float]:
    """Compute the 95 % Wilson confidence interval of an accuracy.

    hits (Sequence[bool]): whether the link is correct, for each mention.
    RETURNS (list[float]): lower and upper limit in percent.
    """
    interval = binomtest(sum(hits), len(hits)).proportion_ci(method="wilson")
    return [100 * float(interval.low), 100 * float(interval.high)]


def percent(values: Sequence[float]) -> float:
    """values (Sequence[float]): one per mention. RETURNS (float): their mean in percent."""
    return 100 * float(np.mean(values))


def rates(score: PRFScore) -> dict[str, float]:
    """score (PRFScore): spaCy's counts. RETURNS (dict[str, float]): `precision`, `recall`, and `f`
    in percent; 0 if the denominator is 0."""
    return {
        "precision": 100 * score.precision,
        "recall": 100 * score.recall,
        "f": 100 * score.fscore,
    }


def calibration_error(confidences: Sequence[float], right: Sequence[bool]) -> float:
    """Expected calibration error: the mean of |accuracy - confidence| over ten bins of equal width,
    weighted by the number of mentions. Mentions that should be linked to NIL are included: their
    first concept is wrong, so its score should be low.

    confidences (Sequence[float]): probability of the first concept, from 0 to 1.
    right (Sequence[bool]): whether the first concept is correct.
    RETURNS (float): the error in percentage points, e.g. ([0.8, 0.8], [True, False]) → 30.
    """
    probabilities = np.asarray(confidences, float)
    bins = np.minimum((probabilities * 10).astype(int), 9)
    gaps = np.bincount(bins, np.asarray(right, float) - probabilities)
    return 100 * float(np.abs(gaps).sum()) / max(len(confidences), 1)


def type_figures(outcomes: Iterable[Outcome]) -> list[dict[str, Any]]:
    """Compute accuracies by entity type, for mentions whose concepts are in the vocabulary.

    outcomes (Iterable[Outcome]): all gold mentions.
    RETURNS (list[dict[str, Any]]): for each type, the keys `type`, `mentions`, and the accuracies
        `lenient` and `strict` in percent.
    """
    types: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.covered:
            types.setdefault(entity_type(outcome.label), []).append(outcome)
    return [
        {
            "type": name,
            "mentions": len(own),
            "lenient": percent([one.lenient_rank == 1 for one in own]),
            "strict": percent([one.strict_rank == 1 for one in own]),
        }
        for name, own in sorted(types.items())
    ]


def linking_scores(
    outcomes: Sequence[Outcome], spurious_linked: int = 0, spurious_nil: int = 0
) -> dict[str, dict[str, float]]:
    """Compute precision, recall, and F-score of the predicted links, and of the mentions found.

    outcomes (Sequence[Outcome]): all gold mentions, including those without an identifier.
    spurious_linked (int), spurious_nil (int): number of predicted mentions whose offsets match no
        gold mention, by whether they are linked to a concept or to NIL.
    RETURNS (dict[str, dict[str, float]]): `linking`, which compares links by the strict criterion,
        and `detection`, which compares only offsets.
    """
    links = sum(outcome.linked for outcome in outcomes)
    n_found = sum(outcome.found for outcome in outcomes)
    spurious = spurious_linked + spurious_nil
    right = sum(outcome.linked and outcome.strict_rank == 1 for outcome in outcomes)
    with_ids = sum(bool(outcome.gold) for outcome in outcomes)
    linking = PRFScore(tp=right, fp=links + spurious_linked - right, fn=with_ids - right)
    detection = PRFScore(tp=n_found, fp=spurious, fn=len(outcomes) - n_found)
    return {"linking": rates(linking), "detection": rates(detection)}


def summarize(
    outcomes: Sequence[Outcome],
    *,
    probabilities: bool = True,
    spurious_linked: int = 0,
    spurious_nil: int = 0,
) -> dict[str, Any]:
    """Compute all metrics of a run.

    outcomes (Sequence[Outcome]): all gold mentions.
    probabilities (bool): whether the scores of concepts are probabilities; if so, their calibration
        is evaluated.
    spurious_linked (int), spurious_nil (int): see `linking_scores`.
    RETURNS (dict[str, Any]): a dictionary with these keys, and the keys of `linking_scores`:
        `mentions`, `nil`: number of mentions with and without an identifier.
        `composites`, `composites_split`: number of composites, and how many were split.
        `coverage`: percentage of mentions with all identifiers in the vocabulary.
        `lenient`, `biosyn`, `strict`: see `rank_figures`.
        `kb_id`: `mentions`, `acc@1`, and `interval`; for mentions with all identifiers in the
        vocabulary, the accuracy `in_vocabulary`, the number `nil` linked to NIL, and the number
        `nil_right_first` linked to NIL although their first concept is correct.
        `confidence`: if `probabilities` is set, the number of `mentions` with a score, and the
        calibration error `ece` (see `calibration_error`).
    RAISES (AngelError): if no mention has an identifier, or no identifier is in the vocabulary.
    """
    counted = [outcome for outcome in outcomes if outcome.gold]
    if not counted:
        raise AngelError(f"None of the {len(outcomes)} mentions has a gold identifier.")
    covered = [outcome for outcome in counted if outcome.covered]
    if not covered:
        raise AngelError(
            f"None of the {len(counted)} gold concepts (e.g. {', '.join(counted[0].gold[:3])}) is "
            "in the vocabulary. Check the prefixes."
        )
    hits = [outcome.kb_id_is_right for outcome in counted]
    figures: dict[str, Any] = {
        "mentions": len(counted),
        "nil": len(outcomes) - len(counted),
        "composites": sum(len(outcome.gold) > 1 for outcome in counted),
        "composites_split": sum(outcome.split for outcome in counted),
        "coverage": percent([outcome.covered for outcome in counted]),
        "lenient": rank_figures([outcome.lenient_rank for outcome in covered]),
        "biosyn": rank_figures([outcome.biosyn_rank for outcome in covered]),
        "strict": rank_figures([outcome.strict_rank for outcome in counted]),
        "kb_id": {
            "mentions": len(counted),
            "acc@1": percent(hits),
            "interval": accuracy_interval(hits),
            "in_vocabulary": percent([outcome.kb_id_is_right for outcome in covered]),
            "nil": sum(outcome.is_nil for outcome in covered),
            "nil_right_first": sum(o.is_nil and o.first_is_right for o in covered),
        },
        **linking_scores(outcomes, spurious_linked, spurious_nil),
    }
    answered = [outcome for outcome in outcomes if outcome.confidence is not None]
    if probabilities and answered:
        confidences = [outcome.confidence or 0.0 for outcome in answered]
        right = [outcome.first_is_right for outcome in answered]
        figures["confidence"] = {
            "mentions": len(answered),
            "ece": calibration_error(confidences, right),
        }
    return figures
