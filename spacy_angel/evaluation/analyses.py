"""Where a system is right: by similarity, by what training has shown, by length, by ambiguity.

The bins are the paper's: accuracy by tf-idf similarity of mention and gold name (figures 4, B, C),
log-probability of the best positive against negatives (figure 3).
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..model.mention import Mention
from ..vocabulary.lookup.tfidf import TrigramTfidf
from ..vocabulary.names.concepts import normalize_name
from .counts import Outcome

if TYPE_CHECKING:
    from ..search.generator import Generator
    from ..vocabulary.kb import ConceptKB


@dataclass(frozen=True, slots=True)
class Traits:
    """What a mention is like.

    similarity (float): tf-idf similarity to the nearest name of its concept, 0 to 1.
    words (int): words of the mention.
    ambiguity (int): concepts that have the mention as a name.
    seen_mention (bool | None), seen_concept (bool | None): the training corpus has this mention,
        all its concepts; None without a training corpus.
    """

    similarity: float
    words: int
    ambiguity: int
    seen_mention: bool | None = None
    seen_concept: bool | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """What a training corpus has shown.

    mentions (frozenset[str]): mentions in normal form.
    concepts (frozenset[str]): canonical identifiers.
    """

    mentions: frozenset[str]
    concepts: frozenset[str]


@dataclass(frozen=True, slots=True)
class Group:
    """Mentions of one kind.

    name (str): e.g. `0.0-0.2`.
    mentions (int): how many.
    errors (int): of them wrong at rank 1 by the lenient count, as figure 4 has them.
    strict_errors (int): by the strict one.
    lenient (float | None), strict (float | None): accuracy at 1 in per cent; None without mentions.
    """

    name: str
    mentions: int
    errors: int
    strict_errors: int
    lenient: float | None
    strict: float | None


@dataclass(frozen=True, slots=True)
class Margin:
    """Figure 3, one bin.

    low (float), high (float): similarity of mention and negative name.
    pairs (int): mentions with negatives.
    mean (float | None): mean log-probability of the top positive minus the negative's, in nats.
    below (float | None): per cent of pairs in which the negative is the more probable.
    """

    low: float
    high: float
    pairs: int
    mean: float | None
    below: float | None


def describe_mentions(
    mentions: Sequence[tuple[str, Sequence[str]]],
    kb: "ConceptKB",
    tfidf: TrigramTfidf,
    seen: Seen | None = None,
) -> list[Traits]:
    """Traits of mentions.

    mentions (Sequence[tuple[str, Sequence[str]]]): text and gold identifiers.
    kb (ConceptKB): for the names of concepts.
    tfidf (TrigramTfidf): fitted on its names.
    seen (Seen | None): what the training corpus has shown.
    RETURNS (list[Traits]): one a mention. The gold name is the name of a gold concept nearest to
        the mention (section 5.3).
    """
    rows: list[int] = []
    names: list[str] = []
    texts = [normalize_name(text) for text, _ in mentions]
    for row, (_, gold) in enumerate(mentions):
        for concept in gold:
            if concept in kb:
                own = kb.names_of(concept)
                names.extend(kb.name(name) for name in own)
                rows.extend([row] * len(own))
    best = np.zeros(len(mentions))
    np.maximum.at(best, rows, tfidf.pairwise([texts[row] for row in rows], names))
    return [
        Traits(
            similarity=float(similarity),
            words=len(text.split()),
            ambiguity=len(kb.concept_ids_of(name))
            if (name := kb.name_index(text)) is not None
            else 0,
            seen_mention=None if seen is None else text in seen.mentions,
            seen_concept=None if seen is None else seen.concepts.issuperset(gold),
        )
        for text, similarity, (_, gold) in zip(texts, best, mentions, strict=True)
    ]


def group_accuracies(
    outcomes: Sequence[Outcome], traits: Sequence[Traits]
) -> dict[str, list[Group]]:
    """Accuracy at 1 by every trait.

    outcomes (Sequence[Outcome]): mentions with identifiers in the vocabulary.
    traits (Sequence[Traits]): theirs.
    RETURNS (dict[str, list[Group]]): `similarity` (five bins, the last with 1.0), `words`,
        `ambiguity`, and with a training corpus `seen_mention`, `seen_concept`.
    """
    edges = [f"{low / 5:.1f}-{(low + 1) / 5:.1f}" for low in range(5)]
    groups = {
        "similarity": _groups(outcomes, [edges[bin_of(t.similarity, 5)] for t in traits], edges),
        "words": _groups(
            outcomes,
            [str(t.words) if t.words < 5 else "5+" for t in traits],
            ["0", "1", "2", "3", "4", "5+"],
        ),
        "ambiguity": _groups(
            outcomes,
            [("no name", "one concept", "several")[min(t.ambiguity, 2)] for t in traits],
            ["no name", "one concept", "several"],
        ),
    }
    for key in ("seen_mention", "seen_concept"):
        values = [getattr(trait, key) for trait in traits]
        if values and None not in values:
            names = ["seen" if value else "unseen" for value in values]
            groups[key] = _groups(outcomes, names, ["seen", "unseen"])
    return groups


def bin_of(value: float, n_bins: int) -> int:
    """value (float): 0 to 1. n_bins (int): of equal width. RETURNS (int): number of its bin; 1.0
    is in the last."""
    return min(int(value * n_bins), n_bins - 1)


def _groups(outcomes: Sequence[Outcome], keys: Sequence[str], order: Sequence[str]) -> list[Group]:
    groups = []
    for name in order:
        chosen = [o for o, key in zip(outcomes, keys, strict=True) if key == name]
        errors = sum(outcome.lenient_rank != 1 for outcome in chosen)
        strict_errors = sum(outcome.strict_rank != 1 for outcome in chosen)
        n = len(chosen)
        groups.append(
            Group(
                name=name,
                mentions=n,
                errors=errors,
                strict_errors=strict_errors,
                lenient=100 * (n - errors) / n if n else None,
                strict=100 * (n - strict_errors) / n if n else None,
            )
        )
    return groups


def score_margins(
    mentions: Sequence[tuple[Mention, Collection[str]]],
    scorer: "Generator",
    kb: "ConceptKB",
    tfidf: TrigramTfidf,
    negatives: int = 10,
) -> list[tuple[float, float]]:
    """Log-probabilities of figure 3.

    mentions (Sequence[tuple[Mention, Collection[str]]]): mentions and their gold identifiers, of
        which the vocabulary holds at least one.
    scorer (Generator): the model.
    kb (ConceptKB): the vocabulary.
    tfidf (TrigramTfidf): fitted on its names, in its order.
    negatives (int): names of other concepts a mention, the nearest ones.
    RETURNS (list[tuple[float, float]]): a pair a negative: its similarity to the mention, and the
        log-probability of the top positive (the gold concept's most probable name) minus its own.
    """
    texts = [normalize_name(mention.text) for mention, _ in mentions]
    # The nearest names are mostly the concept's own: look further than the number wanted.
    indices, similarities = tfidf.nearest(texts, 5 * negatives)
    jobs: list[tuple[int, str, float | None]] = []
    for row, (_, gold) in enumerate(mentions):
        wanted = set(gold)
        positives = {i for concept in gold if concept in kb for i in kb.names_of(concept)}
        jobs += [(row, kb.name(i), None) for i in sorted(positives)]
        wrong = [
            (row, kb.name(int(i)), float(similarity))
            for i, similarity in zip(indices[row], similarities[row], strict=True)
            if i >= 0 and wanted.isdisjoint(kb.concept_ids_of(int(i)))
        ]
        jobs += wrong[:negatives]
    scores = scorer.log_probs([mentions[row][0] for row, _, _ in jobs], [job[1] for job in jobs])
    top = np.full(len(mentions), -np.inf)
    for (row, _, similarity), score in zip(jobs, scores, strict=True):
        if similarity is None:
            top[row] = max(top[row], score)
    return [
        (similarity, float(top[row] - score))
        for (row, _, similarity), score in zip(jobs, scores, strict=True)
        if similarity is not None
    ]


def margin_bins(pairs: Iterable[tuple[float, float]], n_bins: int = 10) -> list[Margin]:
    """pairs (Iterable[tuple[float, float]]): similarity and difference, as `score_margins` gives
    them. n_bins (int): bins of equal width from 0 to 1. RETURNS (list[Margin]): all bins."""
    values: list[list[float]] = [[] for _ in range(n_bins)]
    for similarity, difference in pairs:
        values[bin_of(similarity, n_bins)].append(difference)
    return [
        Margin(
            low=number / n_bins,
            high=(number + 1) / n_bins,
            pairs=len(differences),
            mean=float(np.mean(differences)) if differences else None,
            below=100 * float(np.mean(np.array(differences) < 0)) if differences else None,
        )
        for number, differences in enumerate(values)
    ]
