"""Accuracy by similarity, by entity type and by what training has shown; the paper's figure 3.

The bins are the paper's: accuracy by tf-idf similarity of mention and gold name (figures 4, B, C),
log-probability of the best positive against negatives (figure 3).
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..corpora.entity_types import entity_type
from ..vocabulary.lookup.tfidf import TrigramTfidf
from ..vocabulary.names.concepts import normalize_name
from .counts import MentionResult, Outcome, percent

if TYPE_CHECKING:
    from ..search.generator import Generator
    from ..vocabulary.kb import ConceptKB


def name_similarities(
    results: Sequence[MentionResult], kb: "ConceptKB", tfidf: TrigramTfidf
) -> list[float]:
    """Similarity of each mention to its gold name (section 5.3).

    results (Sequence[MentionResult]): mentions with gold identifiers.
    kb (ConceptKB): the vocabulary.
    tfidf (TrigramTfidf): fitted on its names.
    RETURNS (list[float]): tf-idf similarity to the nearest name of a gold concept, 0 to 1.
    """
    rows: list[int] = []
    names: list[str] = []
    texts = [normalize_name(result.answer.prompt.text) for result in results]
    for row, result in enumerate(results):
        for concept in result.gold:
            if concept in kb:
                own = kb.names_of(concept)
                names.extend(kb.name(name) for name in own)
                rows.extend([row] * len(own))
    best = np.zeros(len(results))
    np.maximum.at(best, rows, tfidf.pairwise([texts[row] for row in rows], names))
    return best.tolist()


def group_accuracies(
    outcomes: Sequence[Outcome], keys: Sequence[str], order: Iterable[str]
) -> list[dict[str, Any]]:
    """Accuracy at 1 by group.

    outcomes (Sequence[Outcome]): mentions with identifiers in the vocabulary.
    keys (Sequence[str]): their groups.
    order (Iterable[str]): all groups.
    RETURNS (list[dict[str, Any]]): for each its `name`, `mentions`, `errors` at rank 1 by the
        lenient count (figure 4's), and the `lenient` and `strict` accuracies in percent; None
        without mentions.
    """
    groups = []
    for name in order:
        chosen = [outcome for outcome, key in zip(outcomes, keys, strict=True) if key == name]
        hits = [outcome.lenient_rank == 1 for outcome in chosen]
        groups.append(
            {
                "name": name,
                "mentions": len(chosen),
                "errors": len(chosen) - sum(hits),
                "lenient": percent(hits) if chosen else None,
                "strict": percent([o.strict_rank == 1 for o in chosen]) if chosen else None,
            }
        )
    return groups


def analyze(outcomes: Iterable[Outcome]) -> dict[str, list[dict[str, Any]]]:
    """Accuracies by properties of the mentions.

    outcomes (Iterable[Outcome]): all mentions; those outside the vocabulary do not count.
    RETURNS (dict[str, list[dict[str, Any]]]): `similarity` in five bins, `type`, and with a
        training corpus `seen_mention` and `seen_concept`, see `group_accuracies`.
    """
    covered = [outcome for outcome in outcomes if outcome.covered]
    edges = [f"{low / 5:.1f}-{(low + 1) / 5:.1f}" for low in range(5)]
    bins = [edges[bin_of(outcome.similarity, 5)] for outcome in covered]
    types = [entity_type(outcome.label) for outcome in covered]
    groups = {
        "similarity": group_accuracies(covered, bins, edges),
        "type": group_accuracies(covered, types, sorted(set(types))),
    }
    seen = [outcome.seen for outcome in covered if outcome.seen is not None]
    for column, name in enumerate(("seen_mention", "seen_concept") if seen else ()):
        keys = ["seen" if one[column] else "unseen" for one in seen]
        groups[name] = group_accuracies(covered, keys, ["seen", "unseen"])
    return groups


def bin_of(value: float, n_bins: int) -> int:
    """value (float): 0 to 1. n_bins (int): of equal width. RETURNS (int): index of its bin; 1.0
    is in the last."""
    return min(int(value * n_bins), n_bins - 1)


def score_margins(
    results: Sequence[MentionResult],
    scorer: "Generator",
    kb: "ConceptKB",
    tfidf: TrigramTfidf,
    negatives: int = 10,
) -> list[tuple[float, float]]:
    """Log-probabilities of figure 3.

    results (Sequence[MentionResult]): mentions with a gold concept of the vocabulary.
    scorer (Generator): the model.
    kb (ConceptKB): the vocabulary.
    tfidf (TrigramTfidf): fitted on its names, in its order.
    negatives (int): names of other concepts per mention, the nearest ones.
    RETURNS (list[tuple[float, float]]): for each negative its similarity to the mention, and the
        log-probability of the top positive (the gold concept's most probable name) minus its own.
    """
    texts = [normalize_name(result.answer.prompt.text) for result in results]
    # The nearest names are mostly the concept's own, hence the factor.
    indices, similarities = tfidf.nearest(texts, 5 * negatives)
    jobs: list[tuple[int, str, float | None]] = []
    for row, result in enumerate(results):
        gold = set(result.gold)
        positives = {i for concept in gold if concept in kb for i in kb.names_of(concept)}
        jobs += [(row, kb.name(i), None) for i in sorted(positives)]
        wrong = [
            (row, kb.name(int(i)), float(similarity))
            for i, similarity in zip(indices[row], similarities[row], strict=True)
            if i >= 0 and gold.isdisjoint(kb.concept_ids_of(int(i)))
        ]
        jobs += wrong[:negatives]
    prompts = [results[row].answer.prompt for row, _, _ in jobs]
    scores = scorer.log_probs(prompts, [name for _, name, _ in jobs])
    top = np.full(len(results), -np.inf)
    for (row, _, similarity), score in zip(jobs, scores, strict=True):
        if similarity is None:
            top[row] = max(top[row], score)
    return [
        (similarity, float(top[row] - score))
        for (row, _, similarity), score in zip(jobs, scores, strict=True)
        if similarity is not None
    ]


def margin_bins(pairs: Iterable[tuple[float, float]], n_bins: int = 10) -> list[dict[str, Any]]:
    """Figure 3 by bins of the similarity.

    pairs (Iterable[tuple[float, float]]): similarity and difference, from `score_margins`.
    n_bins (int): bins of equal width from 0 to 1.
    RETURNS (list[dict[str, Any]]): for each bin its `name`, `mentions` (pairs), the `mean`
        difference in nats, and `below`, the percentage of negatives that are more probable; None
        without pairs.
    """
    values: list[list[float]] = [[] for _ in range(n_bins)]
    for similarity, difference in pairs:
        values[bin_of(similarity, n_bins)].append(difference)
    return [
        {
            "name": f"{number / n_bins:.1f}-{(number + 1) / n_bins:.1f}",
            "mentions": len(differences),
            "mean": float(np.mean(differences)) if differences else None,
            "below": percent([one < 0 for one in differences]) if differences else None,
        }
        for number, differences in enumerate(values)
    ]
