"""Counts of correct links. All figures are percentages.

* Lenient (GenBioEL; ANGEL, section 4.3): one of the first k names belongs to a gold concept. A name
  shared by several concepts counts for all of them, any part of a composite is enough, and mentions
  whose concept is not in the vocabulary are not counted.
* BioSyn: like lenient, but composites are split and all parts must be correct.
* Strict: concepts are ranked by their own score, ties get their worst rank, all parts of a
  composite must be correct, each with a different concept, and a mention whose concept is not in
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
from ..model.mention import Mention

N_RANKS = 5
"""Accuracies are at 1 to so many candidates."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates of one mention.

    names (tuple[str, ...]): candidate names, best first.
    name_ids (tuple[tuple[str, ...], ...]): identifiers of each name.
    scores (tuple[float, ...]): score of each name (a log-probability or a cosine).
    concepts (tuple[tuple[str, float], ...]): concepts with their own score, best first.
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

    prompt (Mention): the mention as the system read it.
    ranking (Ranking): names and concepts.
    linked (bool): the mention is linked to its first concept, and not to NIL.
    found (bool): the system has a mention on these characters.
    kb_ids (tuple[str, ...]): identifiers that the mention gets: one from a pipeline
        (`span._.kb_id`), all concepts with the highest score from a baseline; none for NIL.
    """

    prompt: Mention
    ranking: Ranking = Ranking()
    linked: bool = True
    found: bool = True
    kb_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MentionResult:
    """A gold mention with the output of a system.

    doc_id (str): identifier of the document.
    mention (GoldMention): the gold mention.
    gold (tuple[str, ...]): canonical identifiers; several for a composite, none for NIL.
    known (tuple[bool, ...]): for each of them, whether it is in the vocabulary.
    answer (Answer): output for the whole mention.
    parts (tuple[tuple[str, Ranking], ...]): text and candidates of each part of a composite that
        could be split.
    """

    doc_id: str
    mention: GoldMention
    gold: tuple[str, ...]
    known: tuple[bool, ...]
    answer: Answer
    parts: tuple[tuple[str, Ranking], ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The counts of one mention.

    label (str): label of the gold mention.
    gold (tuple[str, ...]): gold identifiers.
    covered (bool): whether all of them are in the vocabulary, and there is at least one.
    partly_covered (bool): whether at least one of them is in the vocabulary.
    lenient_rank, biosyn_rank, strict_rank (int | None): see the functions of these names.
    found (bool), linked (bool): see `Answer`.
    split (bool): whether it is a composite that was split.
    confidence (float | None): score of the first concept; None for a split composite.
    first_is_right (bool): whether the first concept is a gold concept, regardless of thresholds.
    kb_id_is_right (bool): whether exactly one identifier is given, and it is a gold identifier.
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
        """RETURNS (bool): found, but linked to NIL."""
        return self.found and not self.linked


def count_result(result: MentionResult) -> Outcome:
    """result (MentionResult): a mention. RETURNS (Outcome): its counts."""
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
        kb_id_is_right=len(answer.kb_ids) == 1 and answer.kb_ids[0] in gold,
    )


def lenient_rank(name_ids: Sequence[Sequence[str]], gold: Iterable[str]) -> int | None:
    """Rank of the first name that belongs to any gold concept (GenBioEL's rule).

    name_ids (Sequence[Sequence[str]]): identifiers of each ranked name.
    gold (Iterable[str]): gold identifiers.
    RETURNS (int | None): 1 for the first; None if no name is correct, e.g.
        ([["D1"], ["D2", "D3"]], ["D3"]) → 2.
    """
    wanted = set(gold)
    return next((rank for rank, ids in enumerate(name_ids, 1) if wanted.intersection(ids)), None)


def biosyn_rank(parts: Sequence[Sequence[Sequence[str]]], gold: Iterable[str]) -> int | None:
    """Rank at which all parts of a mention have a correct name (BioSyn's published count).

    parts (Sequence[Sequence[Sequence[str]]]): identifiers of each ranked name, for each part; one
        part if the mention is not split.
    gold (Iterable[str]): gold identifiers of the whole mention; each counts as correct for all
        parts.
    RETURNS (int | None): None if a part has no correct name, e.g.
        ([[["D1"]], [["D9"], ["D2"]]], ["D1", "D2"]) → 2.
    """
    wanted = set(gold)
    ranks = [lenient_rank(name_ids, wanted) or 0 for name_ids in parts]
    return max(ranks) if ranks and all(ranks) else None


def strict_rank(concepts: Sequence[tuple[str, float]], gold: str) -> int | None:
    """Worst rank of the gold concept among concepts of equal score.

    concepts (Sequence[tuple[str, float]]): identifiers with scores, in any order.
    gold (str): the gold identifier.
    RETURNS (int | None): number of concepts with at least its score, itself included, e.g.
        ([("D1", 0.4), ("D2", 0.4), ("D3", 0.1)], "D1") → 2; None if it is not among them.
    """
    score = next((score for concept, score in concepts if concept == gold), None)
    if score is None:
        return None
    return sum(other >= score or math.isclose(other, score) for _, other in concepts)


def whole_rank(concepts: Sequence[tuple[str, float]], gold: Sequence[str]) -> int | None:
    """Rank of the concept of a mention. For a composite that could not be split, all n concepts
    must be ranked first.

    concepts (Sequence[tuple[str, float]]): identifiers with scores, in any order.
    gold (Sequence[str]): the gold identifiers.
    RETURNS (int | None): smallest k for which all n are among the first n - 1 + k, by
        `strict_rank`, e.g. ([("D1", 0.6), ("D3", 0.3), ("D2", 0.1)], ["D1", "D2"]) → 2.
    """
    ranks = [strict_rank(concepts, concept) or 0 for concept in gold]
    return max(ranks) - len(ranks) + 1 if all(ranks) and ranks else None


def composite_rank(parts: Sequence[Sequence[tuple[str, float]]], gold: Sequence[str]) -> int | None:
    """Rank of a split composite, with a different concept for each part.

    parts (Sequence[Sequence[tuple[str, float]]]): identifiers with scores, for each part.
    gold (Sequence[str]): the gold identifiers, as many, in any order.
    RETURNS (int | None): smallest k at which all are correct; None if there is no such assignment.
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
    """Accuracies over ranks.

    ranks (Sequence[int | None]): one per mention.
    RETURNS (dict[str, Any]): `mentions`, `acc@1` to `acc@5`, the mean reciprocal rank `mrr`, and
        `interval`, see `accuracy_interval`.
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
    """hits (Sequence[bool]): one per mention. RETURNS (list[float]): the 95 % Wilson interval of
    their share, in percent."""
    interval = binomtest(sum(hits), len(hits)).proportion_ci(method="wilson")
    return [100 * float(interval.low), 100 * float(interval.high)]


def percent(values: Sequence[float]) -> float:
    """values (Sequence[float]): one per mention. RETURNS (float): their mean in percent."""
    return 100 * float(np.mean(values))


def rates(score: PRFScore) -> dict[str, float]:
    """score (PRFScore): spaCy's counts. RETURNS (dict[str, float]): `precision`, `recall`, `f` in
    percent; 0 where the denominator is 0."""
    return {
        "precision": 100 * score.precision,
        "recall": 100 * score.recall,
        "f": 100 * score.fscore,
    }


def calibration_error(confidences: Sequence[float], right: Sequence[bool]) -> float:
    """Expected calibration error: |accuracy - confidence| in ten bins of equal width, weighted by
    the number of mentions. Mentions that should get NIL count as well: their first concept is
    wrong, so a calibrated score is low for them.

    confidences (Sequence[float]): probability of the first concept, 0 to 1.
    right (Sequence[bool]): whether it was correct.
    RETURNS (float): percentage points, e.g. ([0.8, 0.8], [True, False]) → 30.
    """
    probabilities = np.asarray(confidences, float)
    bins = np.minimum((probabilities * 10).astype(int), 9)
    gaps = np.bincount(bins, np.asarray(right, float) - probabilities)
    return 100 * float(np.abs(gaps).sum()) / max(len(confidences), 1)


def type_figures(outcomes: Iterable[Outcome]) -> list[dict[str, Any]]:
    """Accuracies by entity type of the mentions that the vocabulary covers.

    outcomes (Iterable[Outcome]): all gold mentions.
    RETURNS (list[dict[str, Any]]): `type`, `mentions`, `lenient` and `strict` in percent.
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
    """Precision, recall and F-score of the decisions, by the strict count.

    outcomes (Sequence[Outcome]): all gold mentions, including those without an identifier.
    spurious_linked (int), spurious_nil (int): predicted mentions on other characters.
    RETURNS (dict[str, dict[str, float]]): `linking`: only links count; `detection`: only the
        characters count.
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
    """All figures of a run.

    outcomes (Sequence[Outcome]): all gold mentions.
    probabilities (bool): whether the concepts' scores are probabilities that can be calibrated.
    spurious_linked (int), spurious_nil (int): see `linking_scores`.
    RETURNS (dict[str, Any]): `mentions` (with identifiers), `nil` (without), `composites`,
        `composites_split`, `coverage` (mentions of which the vocabulary has all identifiers);
        `lenient`, `biosyn` and `strict` as `rank_figures` returns them; `kb_id`: `mentions`,
        `acc@1`, `interval`, `in_vocabulary` (accuracy where the vocabulary has all identifiers),
        and of the mentions in the vocabulary how many are linked to NIL, `nil`, and for how many of
        these the first concept is right, `nil_right_first`; the keys of `linking_scores`; with
        probabilities, `confidence`: `mentions` with a score and `ece` (see `calibration_error`).
    RAISES (AngelError): no mention has an identifier, or no identifier is in the vocabulary.
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
