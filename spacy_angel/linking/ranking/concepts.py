"""Candidates of the model alone → concepts with probabilities, and when to link to NIL.

The search gives names with log-probabilities (ANGEL, equation 1); a name may stand for several
concepts and a concept may have several names.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...errors import AngelError
from ..types import NIL, Candidate

EXACT_MATCH_PROBABILITY = 0.96
"""Share of right links among mentions that are linked without the search, as the name of one
concept, see docs/notebook/speed.md."""


@dataclass(frozen=True, slots=True)
class RankedConcept:
    """A concept with its probability among the concepts found.

    concept_id (str): the concept.
    probability (float): between 0 and 1; those of a mention sum to 1, or, by the ranker, to less.
    log_prob (float): log-probability of its best name, in nats, without temperature.
    """

    concept_id: str
    probability: float
    log_prob: float


def rank_concepts(candidates: Iterable[Candidate], temperature: float = 1.0) -> list[RankedConcept]:
    """Probability of each concept: a name has the weight exp(log_prob / temperature), shared
    equally among its concepts; a concept has the sum of its shares, divided by the sum of all.

    candidates (Iterable[Candidate]): of one mention, in the order of the search.
    temperature (float): above 0; over 1 flattens, under 1 sharpens.
    RETURNS (list[RankedConcept]): most probable first, equal ones as they were found. Names with
        probabilities 0.4 (of A), 0.2 (of A and B) → A 0.5 / 0.6, B 0.1 / 0.6.
    RAISES (AngelError): a log-probability is not a number.
    """
    concepts_of: dict[int, list[str]] = {}
    log_probs: dict[int, float] = {}
    for candidate in candidates:
        if math.isnan(candidate.log_prob):
            raise AngelError(
                f"The log-probability of {candidate.concept_id} is not a number. Use float32."
            )
        concepts_of.setdefault(candidate.name, []).append(candidate.concept_id)
        log_probs[candidate.name] = candidate.log_prob
    best = max(log_probs.values(), default=-math.inf)
    if best == -math.inf:
        return []
    shares: dict[str, list[float]] = {}
    best_name: dict[str, float] = {}
    for name, concept_ids in concepts_of.items():
        weight = math.exp((log_probs[name] - best) / temperature) / len(concept_ids)
        for concept_id in concept_ids:
            shares.setdefault(concept_id, []).append(weight)
            best_name[concept_id] = max(best_name.get(concept_id, -math.inf), log_probs[name])
    # fsum: equal concepts get equal sums whatever the order of their names
    weights = {concept_id: math.fsum(parts) for concept_id, parts in shares.items()}
    total = math.fsum(weights.values())
    ranked = [RankedConcept(c, weight / total, best_name[c]) for c, weight in weights.items()]
    return sorted(ranked, key=lambda concept: -concept.probability)


def choose_link(
    ranked: Sequence[RankedConcept],
    threshold: float | None = None,
    min_log_prob: float | None = None,
) -> str:
    """The concept to link to, or NIL. Where probabilities sum to 1, a lone candidate has 1, so
    the second rule is what tells a mention outside the vocabulary; those of the ranker sum to less,
    and the first rule tells it.

    ranked (Sequence[RankedConcept]): most probable first.
    threshold (float | None): least probability; None is off.
    min_log_prob (float | None): least log-probability of the concept's best name; None is off.
    RETURNS (str): the first concept's identifier, or `NIL` where there is none, or it is under
        a threshold.
    """
    if not ranked:
        return NIL
    top = ranked[0]
    if threshold is not None and top.probability < threshold:
        return NIL
    if min_log_prob is not None and top.log_prob < min_log_prob:
        return NIL
    return top.concept_id
