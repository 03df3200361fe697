"""Candidates of the model alone → concepts with probabilities, and when to link to NIL.

The search gives names with log-probabilities (ANGEL, equation 1); a name may stand for several
concepts and a concept may have several names.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from ...errors import AngelError
from ..types import NIL, Candidate

EXACT_MATCH_PROBABILITY = 0.96
"""Share of right links among mentions that are linked without the search, as the name of one
concept, see docs/notebook/speed.md."""


class Ranking(NamedTuple):
    """Of a mention.

    concepts (list[tuple[str, float]]): identifiers with their probability, most probable first.
        What the reranker's lack to 1 is the probability of NIL, that no concept found is right;
        those of the model alone sum to 1.
    candidates (list[tuple[Candidate, float]]): with their share of their concept's probability.
    """

    concepts: list[tuple[str, float]]
    candidates: list[tuple[Candidate, float]]


def rank_concepts(candidates: Sequence[Candidate]) -> Ranking:
    """Rank by the model alone: a name has the weight exp(log_prob), shared equally among its
    concepts; a concept has the sum of its shares, divided by the sum of all.

    candidates (Sequence[Candidate]): of one mention, in the order of the search.
    RETURNS (Ranking): equal concepts and all candidates as they were found. Names with
        probabilities 0.4 (of A), 0.2 (of A and B) → A 0.5 / 0.6, B 0.1 / 0.6.
    RAISES (AngelError): a log-probability is not a number.
    """
    n_concepts: defaultdict[int, int] = defaultdict(int)
    for c in candidates:
        if math.isnan(c.log_prob):
            raise AngelError(f"The log-probability of {c.concept_id} is not a number. Use float32.")
        n_concepts[c.name] += 1
    best = max([c.log_prob for c in candidates], default=-math.inf)
    if best == -math.inf:
        return Ranking([], [(c, 0.0) for c in candidates])
    weights = [math.exp(c.log_prob - best) / n_concepts[c.name] for c in candidates]
    parts: defaultdict[str, list[float]] = defaultdict(list)
    for c, weight in zip(candidates, weights, strict=True):
        parts[c.concept_id].append(weight)
    # fsum: equal concepts get equal sums whatever the order of their names
    sums = {concept_id: math.fsum(of) for concept_id, of in parts.items()}
    total = math.fsum(sums.values())
    concepts = [(concept_id, weight / total) for concept_id, weight in sums.items()]
    return Ranking(
        sorted(concepts, key=lambda pair: -pair[1]),
        [(c, weight / total) for c, weight in zip(candidates, weights, strict=True)],
    )


def choose_link(concepts: Sequence[tuple[str, float]], threshold: float | None = None) -> str:
    """concepts (Sequence[tuple[str, float]]): with their probability, most probable first.
    threshold (float | None): minimum probability; None is off.
    RETURNS (str): the first concept's identifier, or `NIL` if there is none, or its probability is
        under the threshold."""
    if not concepts or (threshold is not None and concepts[0][1] < threshold):
        return NIL
    return concepts[0][0]
