"""Evidence from letters beside evidence from the model: what each speaks for, and what they say
together.

A conditional logistic model (McFadden 1974) over the names found for a mention and one alternative
more, that none of them is right. A name's utility is a weighted sum of `NAME_FEATURES`, that of
nothing one of `NOTHING_FEATURES`; probabilities are their softmax, and a concept has the sum over
its names. With the weight of `log_prob` alone, and without nothing, that is the method's own rule
(`ranking.rank_concepts`).
"""

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..vocabulary.hints import SAID, SAID_FIRST, UNSAID
from ..vocabulary.letters import Alike
from .ranking import Candidate, RankedConcept
from .weights import NAME_FEATURES, NOTHING_FEATURES
from .wording import content_of, numbers_of, words_of

FLOOR = -30.0
"""Least log-probability that counts, in nats."""
LOST = 10.0
"""The model is lost where it gives its best name exp(-10) or less, and sure where it gives 1."""
SHORT = 4
"""Letters up to which a mention may be a short form, for which letters that are alike mean
nothing."""
OBEYED = 50.0
OBEYED_LESS = 2.0
"""A mention that is the name of one concept links to another where that is so many times more
probable; the lesser number is for short mentions, and for names that merely say the same."""
_TWO_LETTERS_FROM = 8


@dataclass(frozen=True, slots=True)
class FoundName:
    """A name found for a mention, by the search or by its letters.

    name (int): the vocabulary's index.
    text (str): in normal form.
    log_prob (float): of the name given the mention, in nats; for one that was not asked for, the
        least of the search's names, which it is not above.
    score (float): the search's, else the log-probability.
    alike (Alike): mention and name.
    concepts (tuple[str, ...]): that it stands for and the mention may have, at least one.
    canonical (frozenset[str]): those of them whose canonical name it is.
    ending (str | None): what told these concepts from others of the name, see `Candidate`.
    has_others (bool): the mention may have further concepts of the name, under other endings.
    shares (tuple[float, ...]): which part of the name's probability each concept has, before the
        weights; empty: equal parts.
    places (tuple[int, ...]): of each concept, see `vocabulary.hints.Hinter.place`; empty: 0.
    same_case (frozenset[str]): those of the concepts whose canonical name is the mention in small
        and capital letters, too, as TP53 is a man's gene and Trp53 a mouse's.
    second (frozenset[str]): those whose second name it is, which of genes is the full one.
    said (tuple[float, ...]): of each concept, see `context.said_around`; empty: 0.
    """

    name: int
    text: str
    log_prob: float
    score: float
    alike: Alike
    concepts: tuple[str, ...]
    canonical: frozenset[str] = frozenset()
    ending: str | None = None
    has_others: bool = False
    shares: tuple[float, ...] = ()
    places: tuple[int, ...] = ()
    same_case: frozenset[str] = frozenset()
    second: frozenset[str] = frozenset()
    said: tuple[float, ...] = ()

    @property
    def is_of_one(self) -> bool:
        """RETURNS (bool): whether the name stands for one concept alone."""
        return len(self.concepts) == 1 and not self.has_others


class Evidence(NamedTuple):
    """All that speaks for the candidates of a mention.

    candidates (tuple[Candidate, ...]): n, each a name with one of its concepts.
    features (np.ndarray): float64[n, len(NAME_FEATURES)].
    nothing (np.ndarray): float64[len(NOTHING_FEATURES)].
    shares (np.ndarray): float64[n], concepts that each candidate's name stands for, or, where they
        are not alike, one over the candidate's part.
    own (str | None): the concept that the mention is a name of, if it is one of no other, and of no
        species of which the document is silent; or, of a mention that is no name and not short, the
        only one that has a name which says the same (`wording.content_of`).
    obeyed (float): how many times more probable than `own` another concept must be.
    """

    candidates: tuple[Candidate, ...]
    features: np.ndarray
    nothing: np.ndarray
    shares: np.ndarray
    own: str | None = None
    obeyed: float = OBEYED

    def probabilities(self, weights: Mapping[str, float]) -> np.ndarray:
        """weights (Mapping[str, float]): one a feature. RETURNS (np.ndarray): float64[n]; what
        they lack to 1 is the probability that none is right."""
        utilities = self.features @ _vector(weights, NAME_FEATURES) - np.log(self.shares)
        nothing = float(self.nothing @ _vector(weights, NOTHING_FEATURES))
        top = max(nothing, *utilities.tolist()) if len(utilities) else nothing
        exponentials = np.exp(utilities - top)
        return exponentials / (exponentials.sum() + math.exp(nothing - top))


def weigh(
    mention: str,
    names: Sequence[FoundName],
    agreed: Collection[str] = (),
    *,
    respelled: bool = False,
) -> Evidence:
    """Put the evidence for each candidate in numbers.

    mention (str): in normal form.
    names (Sequence[FoundName]): found for it, each once, or once with each ending.
    agreed (Collection[str]): concepts that the document names elsewhere, in other words and beyond
        doubt.
    respelled (bool): whether the mention is not as it stands in the text.
    RETURNS (Evidence): with, of `NAME_FEATURES`:
        `log_prob` (tens of nats) and `sure_log_prob`, the same times 1 - lost, where lost is 0 to 1
        as the log-probability of the best name is 0 to -10;
        `cosine`, and `lost_cosine` and `lost_edits`, cosine and the square of edits times lost; 0
        for a name of a short mention that is not the mention;
        1 or 0: `name`, it is the mention, which is not short, and `short_name`, which is;
        `only_name`, and of one concept only; `canonical`, and the canonical one; `one_letter`, one
        letter away; `two_letters`, two of eight and more; `agrees`, the concept is agreed on, and
        the name has the numbers of a mention that is a name itself;
        `short_log_prob` and `short_agrees`, `log_prob` and `agrees` of a short mention;
        `other_number`, name and mention have numbers, but not the same, and `lost_number`, one of
        them alone has; `said_ending`, the document speaks of the concept's species, or whatever
        its endings are, first; `other_ending`, besides; `unsaid_ending`, not at all;
        `same_case`, with endings, the concept's canonical name is written so; `second_name`, its
        second one is the mention;
        of a name that is not the mention `mention_words`, the part of the mention's words that it
        has, and `name_words`, the part of its words that the mention has; 1 or 0: `same_words`, all
        of both; `said_around`, see `context`.
        Of `NOTHING_FEATURES`: `nothing` 1; the greatest edits and cosine of the names; whether one
        is the mention, not short or short; whether the mention is short; lost; whether it is
        respelled, and then it is no concept's name.
    """
    n_letters = len(mention.replace(" ", ""))
    is_short = n_letters <= SHORT
    best = max((name.log_prob for name in names), default=FLOOR)
    lost = min(max(-best / LOST, 0.0), 1.0)
    candidates, rows, shares = [], [], []
    edits = cosine = 0.0
    is_name = False
    numbers, words = numbers_of(mention), frozenset(words_of(mention))
    own = None if respelled else _own_concept(mention, names, is_short=is_short)
    for name in names:
        is_mention = name.text == mention
        log_prob = max(name.log_prob, FLOOR) / 10
        alike = Alike(0.0, 0.0) if is_short and not is_mention else name.alike
        edits, cosine = max(edits, alike.edits), max(cosine, alike.cosine)
        is_name |= is_mention
        n_edits = round((1 - alike.edits) * max(len(name.text), len(mention)))
        may_err = not is_mention and not is_short
        own_numbers, own_words = numbers_of(name.text), frozenset(words_of(name.text))
        n_alike = 0 if is_mention else len(words & own_words)
        # HIV-1 is no HIV, however much a document speaks of that.
        may_agree = own is None or own_numbers == numbers
        for i, concept_id in enumerate(name.concepts):
            place = name.places[i] if name.places else 0
            candidates.append(
                Candidate(concept_id, name.name, name.score, name.log_prob, name.ending)
            )
            shares.append(1 / name.shares[i] if name.shares else len(name.concepts))
            rows.append(
                (
                    log_prob,
                    log_prob * (1 - lost),
                    alike.cosine,
                    alike.cosine * lost,
                    alike.edits**2 * lost,
                    is_mention and not is_short,
                    is_mention and is_short,
                    is_mention and name.is_of_one,
                    is_mention and concept_id in name.canonical,
                    may_err and n_edits == 1,
                    may_err and n_edits == 2 and n_letters >= _TWO_LETTERS_FROM,
                    may_agree and concept_id in agreed,
                    log_prob * is_short,
                    is_short and may_agree and concept_id in agreed,
                    bool(numbers and own_numbers) and numbers != own_numbers,
                    bool(numbers) != bool(own_numbers),
                    place == SAID_FIRST,
                    place == SAID,
                    place == UNSAID,
                    concept_id in name.same_case,
                    concept_id in name.second,
                    n_alike / max(len(words), 1),
                    n_alike / max(len(own_words), 1),
                    not is_mention and words == own_words,
                    name.said[i] if name.said else 0.0,
                )
            )
    nothing = (
        1.0,
        edits,
        cosine,
        is_name and not is_short,
        is_name and is_short,
        is_short,
        lost,
        respelled,
    )
    return Evidence(
        tuple(candidates),
        np.array(rows, dtype=float).reshape(-1, len(NAME_FEATURES)),
        np.array(nothing, dtype=float),
        np.array(shares, dtype=float),
        own,
        OBEYED if is_name and not is_short else OBEYED_LESS,
    )


def _own_concept(mention: str, names: Sequence[FoundName], *, is_short: bool) -> str | None:
    """RETURNS (str | None): see `Evidence`."""
    own = [name for name in names if name.text == mention]
    if own:
        clear = (f.concepts[0] for f in own if f.is_of_one and f.places != (UNSAID,))
        return next(clear, None)
    if is_short:
        return None
    # That something is mild makes it no other disease, but what is `severe` by name is that.
    contents = {content_of(mention), content_of(mention, degrees=False)} - {frozenset()}
    same = [name for name in names if content_of(name.text) in contents]
    concepts = {concept_id for name in same for concept_id in name.concepts}
    is_clear = not any(name.has_others or name.places == (UNSAID,) for name in same)
    return concepts.pop() if is_clear and len(concepts) == 1 else None


def rank_by_evidence(
    evidence: Evidence, weights: Mapping[str, float], *, obey: bool = False
) -> tuple[list[RankedConcept], list[tuple[Candidate, float]]]:
    """Concepts and candidates in the order of their probability.

    evidence (Evidence): of a mention.
    weights (Mapping[str, float]): one a feature.
    obey (bool): where the mention is the name of one concept only, and no other is many times more
        probable (`OBEYED`, `OBEYED_LESS`), that concept comes first, and it and the most probable
        one change their probabilities.
    RETURNS (tuple[list[RankedConcept], list[tuple[Candidate, float]]]): concepts, most probable
        first, equal ones by identifier; and candidates with their share of their concept's
        probability, names with the more probable concept first, the candidates of one name
        together.
    """
    parts = evidence.probabilities(weights).tolist()
    shares: defaultdict[str, list[float]] = defaultdict(list)
    log_probs: defaultdict[str, float] = defaultdict(lambda: -math.inf)
    for candidate, part in zip(evidence.candidates, parts, strict=True):
        shares[candidate.concept_id].append(part)
        log_probs[candidate.concept_id] = max(log_probs[candidate.concept_id], candidate.log_prob)
    sums = {concept_id: math.fsum(some) for concept_id, some in shares.items()}
    scale = dict.fromkeys(sums, 1.0)
    if obey and evidence.own in sums:
        own, top = sums[evidence.own], max(sums.values())
        first = min(c for c, probability in sums.items() if probability == top)
        if first != evidence.own and 0 < top < own * evidence.obeyed:
            scale[evidence.own], scale[first] = top / own, own / top
    ranked = [RankedConcept(c, sums[c] * scale[c], log_probs[c]) for c in sums]
    ranked.sort(key=lambda concept: (-concept.probability, concept.concept_id))
    places = {concept.concept_id: place for place, concept in enumerate(ranked)}
    pairs = [
        (candidate, part * scale[candidate.concept_id])
        for candidate, part in zip(evidence.candidates, parts, strict=True)
    ]
    best: defaultdict[int, tuple[int, float]] = defaultdict(lambda: (len(places), 0.0))
    for candidate, part in pairs:
        best[candidate.name] = min(best[candidate.name], (places[candidate.concept_id], -part))
    pairs.sort(key=lambda pair: (*best[pair[0].name], pair[0].name, places[pair[0].concept_id]))
    return ranked, pairs


def _vector(weights: Mapping[str, float], names: Sequence[str]) -> np.ndarray:
    return np.array([weights[name] for name in names])
