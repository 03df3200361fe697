"""What counts as a hit: the published, lenient counts and the strict one beside them.

Pure rules over plain values. Lenient (GenBioEL, ANGEL section 4.3): the gold identifiers meet the
identifiers of one of the first k names; a name shared by several concepts counts for all, any part
of a composite is enough, and mentions whose concept the vocabulary lacks are left out, as the
published preprocessing leaves them out. BioSyn's count differs in composites: they are split, and
each part must be right. Strict: concepts are ranked by their own score, equal
scores stand at their worst rank, all parts of a composite must be right, each a concept of its
own, and a mention whose concept the vocabulary lacks is a miss. Every figure is in per cent.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching

from ..errors import AngelError
from .confidence import Confidence, calibration_error, confidence_figures
from .statistics import bootstrap_interval


@dataclass(frozen=True, slots=True)
class Ranking:
    """What a system answers for one mention.

    names (tuple[str, ...]): candidate names, best first.
    name_ids (tuple[tuple[str, ...], ...]): identifiers of each of these names.
    scores (tuple[float, ...]): the system's score of each name (a log-probability or a cosine).
    concepts (tuple[tuple[str, float], ...]): concepts with their own score, best first.
    """

    names: tuple[str, ...] = ()
    name_ids: tuple[tuple[str, ...], ...] = ()
    scores: tuple[float, ...] = ()
    concepts: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class MentionResult:
    """A gold mention and what the system made of it.

    doc_id (str): the document.
    start (int), end (int): character offsets in the document.
    mention (str): its text.
    label (str): its label in the corpus.
    left (str), right (str): the sentence around it.
    annotated (str): its identifiers as the corpus gives them.
    gold (tuple[str, ...]): canonical identifiers; several for a composite, none for NIL.
    known (tuple[bool, ...]): which of them the vocabulary holds.
    ranking (Ranking): the answer for the whole mention.
    parts (tuple[Ranking, ...]): the answers for the parts of a composite that could be split.
    queries (tuple[str, ...]): the texts of these parts.
    linked (bool): the system links the mention to its first concept, it does not call it NIL.
    found (bool): the system has a mention on these characters.
    kb_ids (tuple[str, ...]): identifiers that the system gives the mention: a pipeline one
        (`span._.kb_id`), a baseline all concepts of the highest score; none for NIL.
    """

    doc_id: str
    start: int
    end: int
    mention: str
    label: str = ""
    left: str = ""
    right: str = ""
    annotated: str = ""
    gold: tuple[str, ...] = ()
    known: tuple[bool, ...] = ()
    ranking: Ranking = Ranking()
    parts: tuple[Ranking, ...] = ()
    queries: tuple[str, ...] = ()
    linked: bool = True
    found: bool = True
    kb_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What of a mention is counted: small, so that a corpus of any size fits.

    gold (tuple[str, ...]): its identifiers.
    covered (bool): the vocabulary holds all of them (and there is one).
    partly_covered (bool): it holds at least one.
    lenient_rank (int | None): see `lenient_rank`.
    biosyn_rank (int | None): see `biosyn_rank`.
    strict_rank (int | None): see `whole_rank` and `composite_rank`.
    found (bool): the system has a mention on these characters.
    linked (bool): the system links it.
    split (bool): a composite that was split.
    confidence (float | None): score of the first concept; none for a split composite.
    first_is_right (bool): the first concept is a gold one, whatever the thresholds make of it.
    best_name_is_right (bool): the first identifier of the best name is a gold one.
    kb_id_is_right (bool): exactly one identifier is given, and it is a gold one.
    """

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
    best_name_is_right: bool
    kb_id_is_right: bool

    @property
    def is_right(self) -> bool:
        """RETURNS (bool): linked, and to the right concept by the strict count."""
        return self.linked and self.strict_rank == 1

    @property
    def is_nil(self) -> bool:
        """RETURNS (bool): found, but linked to NIL."""
        return self.found and not self.linked


def count_result(result: MentionResult) -> Outcome:
    """result (MentionResult): a mention. RETURNS (Outcome): what of it is counted."""
    concepts, name_ids = result.ranking.concepts, result.ranking.name_ids
    answers = result.parts or (result.ranking,)
    return Outcome(
        gold=result.gold,
        covered=bool(result.known) and all(result.known),
        partly_covered=any(result.known),
        lenient_rank=lenient_rank(name_ids, result.gold),
        biosyn_rank=biosyn_rank([answer.name_ids for answer in answers], result.gold),
        strict_rank=(
            composite_rank([part.concepts for part in result.parts], result.gold)
            if result.parts
            else whole_rank(concepts, result.gold)
        ),
        found=result.found,
        linked=result.found and result.linked and bool(concepts or result.parts),
        split=bool(result.parts),
        confidence=concepts[0][1] if concepts and not result.parts else None,
        first_is_right=bool(concepts) and concepts[0][0] in result.gold,
        best_name_is_right=bool(name_ids and name_ids[0]) and name_ids[0][0] in result.gold,
        kb_id_is_right=len(result.kb_ids) == 1 and result.kb_ids[0] in result.gold,
    )


def lenient_rank(name_ids: Sequence[Sequence[str]], gold: Iterable[str]) -> int | None:
    """Rank of the first name that stands for any gold concept (GenBioEL's rule).

    name_ids (Sequence[Sequence[str]]): identifiers of each ranked name.
    gold (Iterable[str]): gold identifiers.
    RETURNS (int | None): 1 for the first; None where no name is right, e.g.
        ([["D1"], ["D2", "D3"]], ["D3"]) → 2.
    """
    wanted = set(gold)
    return next((rank for rank, ids in enumerate(name_ids, 1) if wanted.intersection(ids)), None)


def biosyn_rank(parts: Sequence[Sequence[Sequence[str]]], gold: Iterable[str]) -> int | None:
    """Rank at which every part of a mention has a right name (BioSyn's published count).

    parts (Sequence[Sequence[Sequence[str]]]): identifiers of each ranked name, for each part; one
        part where the mention is not split.
    gold (Iterable[str]): gold identifiers of the whole mention; each is right for each part.
    RETURNS (int | None): None where a part has no right name, e.g.
        ([[["D1"]], [["D9"], ["D2"]]], ["D1", "D2"]) → 2.
    """
    wanted = set(gold)
    ranks = [lenient_rank(name_ids, wanted) or 0 for name_ids in parts]
    return max(ranks) if ranks and all(ranks) else None


def strict_rank(concepts: Sequence[tuple[str, float]], gold: str) -> int | None:
    """Worst rank that the gold concept can take among concepts of equal score.

    concepts (Sequence[tuple[str, float]]): identifiers with scores, in any order.
    gold (str): the gold identifier.
    RETURNS (int | None): concepts that score at least as much, itself included, e.g.
        ([("D1", 0.4), ("D2", 0.4), ("D3", 0.1)], "D1") → 2; None where it is not among them.
    """
    score = next((score for concept, score in concepts if concept == gold), None)
    if score is None:
        return None
    return sum(other >= score or math.isclose(other, score) for _, other in concepts)


def whole_rank(concepts: Sequence[tuple[str, float]], gold: Sequence[str]) -> int | None:
    """Rank of a mention's concept; of a composite that could not be split, all n concepts are
    wanted, and the first n ranks are theirs.

    concepts (Sequence[tuple[str, float]]): identifiers with scores, in any order.
    gold (Sequence[str]): the gold identifiers.
    RETURNS (int | None): smallest k for which all n stand among the first n - 1 + k, by
        `strict_rank`, e.g. ([("D1", 0.6), ("D3", 0.3), ("D2", 0.1)], ["D1", "D2"]) → 2.
    """
    ranks = [strict_rank(concepts, concept) or 0 for concept in gold]
    return max(ranks) - len(ranks) + 1 if all(ranks) and ranks else None


def composite_rank(parts: Sequence[Sequence[tuple[str, float]]], gold: Sequence[str]) -> int | None:
    """Rank of a split composite: each part answers for one concept of its own.

    parts (Sequence[Sequence[tuple[str, float]]]): identifiers with scores, for each part.
    gold (Sequence[str]): the gold identifiers, as many, in any order.
    RETURNS (int | None): smallest k at which all are right; None where some concept is found by
        no part of its own.
    """
    if not gold or len(parts) != len(gold):
        return None
    ranks = np.array([[strict_rank(part, concept) or 0 for concept in gold] for part in parts])
    for k in np.unique(ranks[ranks > 0]).tolist():
        matching = maximum_bipartite_matching(csr_matrix((ranks > 0) & (ranks <= k)))
        if (matching >= 0).all():
            return k
    return None


def accuracy(ranks: Sequence[int | None], k: int) -> float:
    """ranks (Sequence[int | None]): one a mention. RETURNS (float): per cent at most k."""
    return _per_cent([rank is not None and rank <= k for rank in ranks])


def mean_reciprocal_rank(ranks: Sequence[int | None]) -> float:
    """ranks (Sequence[int | None]): one a mention. RETURNS (float): per cent; (1, 2, None) → 50."""
    return 100 * float(np.mean([1 / rank if rank else 0.0 for rank in ranks]))


def precision_recall_f(right: int, predicted: int, gold: int) -> dict[str, float]:
    """right (int), predicted (int), gold (int): counts. RETURNS (dict[str, float]): `precision`,
    `recall`, `f` in per cent; what divides by nothing is 0."""
    precision = 100 * right / predicted if predicted else 0.0
    recall = 100 * right / gold if gold else 0.0
    total = precision + recall
    return {
        "precision": precision,
        "recall": recall,
        "f": 2 * precision * recall / total if total else 0.0,
    }


def linking_scores(
    outcomes: Sequence[Outcome], spurious_linked: int = 0, spurious_nil: int = 0
) -> dict[str, dict[str, float]]:
    """Precision, recall and F of the decisions, by the strict count.

    outcomes (Sequence[Outcome]): all gold mentions, those without identifier included.
    spurious_linked (int), spurious_nil (int): predicted mentions on other characters.
    RETURNS (dict[str, dict[str, float]]): `linking`: only links count; a gold mention without
        identifier has none. `linking_with_nil`: NIL is an answer of its own, right where no gold
        identifier is in the vocabulary. `detection`: the characters alone.
    """
    links = sum(outcome.linked for outcome in outcomes)
    n_found = sum(outcome.found for outcome in outcomes)
    right = sum(outcome.is_right for outcome in outcomes)
    right_nil = sum(outcome.is_nil and not outcome.partly_covered for outcome in outcomes)
    with_ids = sum(bool(outcome.gold) for outcome in outcomes)
    answers = n_found + spurious_linked + spurious_nil
    return {
        "linking": precision_recall_f(right, links + spurious_linked, with_ids),
        "linking_with_nil": precision_recall_f(right + right_nil, answers, len(outcomes)),
        "detection": precision_recall_f(n_found, answers, len(outcomes)),
    }


def summarize(
    outcomes: Sequence[Outcome],
    k: int = 5,
    *,
    probabilities: bool = True,
    spurious_linked: int = 0,
    spurious_nil: int = 0,
) -> dict:
    """All figures of a run.

    outcomes (Sequence[Outcome]): all gold mentions.
    k (int): accuracies at 1 to k.
    probabilities (bool): the concepts' scores are probabilities, so that calibration means
        something.
    spurious_linked (int), spurious_nil (int): see `linking_scores`.
    RETURNS (dict): `mentions` (with identifiers), `nil` (without), `composites`,
        `composites_split`, `coverage` (mentions of which the vocabulary holds all identifiers),
        `lenient`, `biosyn` and `strict` (`mentions` counted, `acc@1` …, `mrr`,
        and `interval` of accuracy at 1), `kb_id` (`mentions`, `acc@1`, `interval`;
        `in_vocabulary`, the accuracy where the vocabulary holds all identifiers; and what it would
        be without thresholds by the first identifier of the `best_name`, the paper's y*, and by the
        `first_concept`, which has the highest score of its own; how many mentions whose identifiers
        the vocabulary holds are linked to NIL, `nil`, and how many of them have a right concept
        first, `nil_right_first`),
        `linking`, `linking_with_nil`, `detection`, and with probabilities `ece` (of mentions with
        identifiers, by the strict count) and `confidence` (see `confidence.confidence_figures`).
    RAISES (AngelError): there is no mention with an identifier, or no identifier is in the
        vocabulary.
    """
    counted = [outcome for outcome in outcomes if outcome.gold]
    if not counted:
        raise AngelError(f"None of the {len(outcomes)} mentions has a gold identifier.")
    covered = [outcome for outcome in counted if outcome.covered]
    if not covered:
        examples = ", ".join(counted[0].gold[:3])
        raise AngelError(
            f"None of the {len(counted)} gold concepts (e.g. {examples}) is in the vocabulary. "
            "Check the prefixes."
        )
    figures: dict = {
        "mentions": len(counted),
        "nil": len(outcomes) - len(counted),
        "composites": sum(len(outcome.gold) > 1 for outcome in counted),
        "composites_split": sum(outcome.split for outcome in counted),
        "coverage": _per_cent([outcome.covered for outcome in counted]),
        "lenient": _accuracies([outcome.lenient_rank for outcome in covered], k),
        "biosyn": _accuracies([outcome.biosyn_rank for outcome in covered], k),
        "strict": _accuracies([outcome.strict_rank for outcome in counted], k),
        "kb_id": {
            "mentions": len(counted),
            "acc@1": _per_cent([outcome.kb_id_is_right for outcome in counted]),
            "in_vocabulary": _per_cent([outcome.kb_id_is_right for outcome in covered]),
            "interval": list(bootstrap_interval([o.kb_id_is_right for o in counted])),
            "best_name": _per_cent([outcome.best_name_is_right for outcome in counted]),
            "first_concept": _per_cent([outcome.first_is_right for outcome in counted]),
            "nil": sum(outcome.is_nil for outcome in covered),
            "nil_right_first": sum(o.is_nil and o.first_is_right for o in covered),
        },
        **linking_scores(outcomes, spurious_linked, spurious_nil),
    }
    answered = [outcome for outcome in counted if outcome.confidence is not None]
    if probabilities and answered:
        figures["ece"] = calibration_error(
            [outcome.confidence or 0.0 for outcome in answered],
            [outcome.strict_rank == 1 for outcome in answered],
        )
        figures["confidence"] = confidence_figures(
            [
                Confidence(outcome.confidence, outcome.first_is_right, outcome.covered)
                for outcome in outcomes
                if outcome.confidence is not None
            ],
            n_covered=sum(outcome.covered and not outcome.split for outcome in counted),
        )
    return figures


def _per_cent(values: Sequence[bool]) -> float:
    return 100 * float(np.mean(values))


def _accuracies(ranks: list[int | None], k: int) -> dict:
    return {
        "mentions": len(ranks),
        **{f"acc@{highest}": accuracy(ranks, highest) for highest in range(1, k + 1)},
        "mrr": mean_reciprocal_rank(ranks),
        "interval": list(bootstrap_interval([float(rank == 1) for rank in ranks])),
    }


def mean_and_spread(runs: Sequence[dict]) -> dict[str, dict]:
    """Figures over folds.

    runs (Sequence[dict]): dictionaries of the same shape, as `summarize` gives them.
    RETURNS (dict[str, dict]): `mean` and `spread` (standard deviation, n - 1; 0 for one run), each
        of the shape of a run; counts are averaged as well. What a run lacks is left out.
    """
    return {"mean": _over_runs(runs, np.mean), "spread": _over_runs(runs, _spread)}


def _over_runs(runs: Sequence[dict], function) -> dict:
    merged: dict = {}
    for key, value in runs[0].items():
        values = [run[key] for run in runs if key in run]
        if len(values) < len(runs):
            continue
        if isinstance(value, dict):
            merged[key] = _over_runs(values, function)
        elif isinstance(value, (int, float)):
            merged[key] = float(function(values))
    return merged


def _spread(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
