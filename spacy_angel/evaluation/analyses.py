"""Accuracy by entity type, and by similarity of mention and gold name in the bins of the paper's
figures 4, B and C."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..corpora.entity_types import entity_type
from ..vocabulary.lookup.tfidf import TrigramTfidf
from ..vocabulary.names.concepts import normalize_name
from .counts import MentionResult, Outcome, percent

if TYPE_CHECKING:
    from ..vocabulary.kb import ConceptKB

_BINS = tuple(f"{n / 5:.1f}-{(n + 1) / 5:.1f}" for n in range(5))


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


def analyze(outcomes: Iterable[Outcome]) -> dict[str, list[dict[str, Any]]]:
    """Accuracies by properties of the mentions.

    outcomes (Iterable[Outcome]): all mentions; those outside the vocabulary are not counted.
    RETURNS (dict[str, list[dict[str, Any]]]): groups by `similarity`, in five bins, and by `type`.
        Each group has its `name`, the number of `mentions`, the `errors` at rank 1 by the lenient
        count (as in figure 4), and the `lenient` and `strict` accuracies in percent, None without
        mentions.
    """
    bins: dict[str, list[Outcome]] = {name: [] for name in _BINS}
    types: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.covered:
            bins[_BINS[min(int(outcome.similarity * 5), 4)]].append(outcome)
            types.setdefault(entity_type(outcome.label), []).append(outcome)
    return {
        "similarity": [_group(name, own) for name, own in bins.items()],
        "type": [_group(name, own) for name, own in sorted(types.items())],
    }


def _group(name: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    hits = [outcome.lenient_rank == 1 for outcome in outcomes]
    return {
        "name": name,
        "mentions": len(outcomes),
        "errors": len(outcomes) - sum(hits),
        "lenient": percent(hits) if outcomes else None,
        "strict": percent([o.strict_rank == 1 for o in outcomes]) if outcomes else None,
    }
