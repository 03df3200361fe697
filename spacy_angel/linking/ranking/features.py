"""The features of the reranker.

A feature is a function that computes float64[n] from the `Columns` of n candidates. `@feature`
registers it with a formula and an example, in `FEATURES`, or in `MENTION_FEATURES` if it is a
property of the mention. Features do not depend on a particular vocabulary or entity type.
"""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from ...vocabulary.species.reader import ABSENT_SPECIES, MAIN_SPECIES, OTHER_SPECIES
from ..types import FLOOR, SPELLING, Query

UNSURE = 10.0
"""Log-probabilities are divided by this number of nats."""
SHORT = 4
"""Mentions of up to this many letters may be abbreviations; their spelling is not compared."""
_OF_LONG = 0.2


class Columns(NamedTuple):
    """The n candidates of m queries, sorted by query: fields of `Candidate` and of `Query` as
    float64[n], with 1 for true, and these:

    query (np.ndarray): int64[n], index of the query.
    starts (np.ndarray): int64[m], first row of each query; each query has at least one row.
    is_spelled (np.ndarray): whether the corrected spelling is most similar to the name.
    by_letters (np.ndarray): 0 if the mention may be an abbreviation and is not an exact match;
        else 1.
    is_short (np.ndarray): whether the mention may be an abbreviation.
    unsure (np.ndarray): uncertainty of the model: 0 to 1 for a log-probability of 0 to -10 of the
        best name.
    closest (np.ndarray): the maximum of `meaning` over the candidates of the query.
    """

    query: np.ndarray
    starts: np.ndarray
    log_prob: np.ndarray
    is_query: np.ndarray
    cosine: np.ndarray
    edits: np.ndarray
    missing: np.ndarray
    added: np.ndarray
    overlap: np.ndarray
    number: np.ndarray
    vectors: np.ndarray
    meaning: np.ndarray
    scope: np.ndarray
    name_rank: np.ndarray
    species: np.ndarray
    prior: np.ndarray
    context: np.ndarray
    is_coherent: np.ndarray
    is_spelled: np.ndarray
    by_letters: np.ndarray
    is_short: np.ndarray
    unsure: np.ndarray
    closest: np.ndarray


_OF_CANDIDATE = attrgetter(*Columns._fields[2:16])


def is_short(text: str) -> bool:
    """text (str): a mention in normal form. RETURNS (bool): whether it may be a short form."""
    return len(text.replace(" ", "")) <= SHORT


def columns_of(queries: Sequence[Query]) -> Columns:
    """queries (Sequence[Query]): queries, each with at least one candidate. RETURNS (Columns): the
    columns of all candidates."""
    sizes = np.array([len(query.candidates) for query in queries])
    number = np.repeat(np.arange(len(queries)), sizes)
    starts = np.cumsum(sizes) - sizes
    rows = [
        (
            *_OF_CANDIDATE(c),
            q.context.get(c.concept_id, 0.0),
            c.concept_id in q.coherent,
            c.source == SPELLING,
        )
        for q in queries
        for c in q.candidates
    ]
    fields = np.array(rows, dtype=float).T
    log_prob, is_query, meaning = fields[0], fields[1], fields[9]
    short = np.array([is_short(query.text) for query in queries])[number]
    best = np.maximum.reduceat(log_prob, starts)[number]
    by_letters, unsure = 1.0 - short * (1.0 - is_query), np.clip(-best / UNSURE, 0.0, 1.0)
    closest = np.maximum.reduceat(meaning, starts)[number]
    short = short.astype(float)
    return Columns(*(number, starts, *fields, by_letters, short, unsure, closest))


class Feature(NamedTuple):
    """name (str): name in the file of weights. formula (str): definition. example (str): an example
    with its value. values (Callable): computes float64[n] from `Columns`."""

    name: str
    formula: str
    example: str
    values: Callable[[Columns], np.ndarray]


FEATURES: dict[str, Feature] = {}
MENTION_FEATURES: dict[str, Feature] = {}
RAISING, LOWERING = {"exact": 0.0}, {"spelled": -0.5}
"""Bounds on the fitted weights. `exact` is at least 0, because an exact match is never evidence
against a concept. `spelled` is at most -0.5: in the texts with artificial typos used for fitting,
every unknown word is a typo, but this is not true of real texts."""


def feature(
    formula: str, example: str, *, mention: bool = False
) -> Callable[[Callable[[Columns], np.ndarray]], Callable[[Columns], np.ndarray]]:
    """formula (str), example (str): see `Feature`. mention (bool): whether it is a property of the
    mention. RETURNS (Callable): a decorator that registers a function under its name."""

    def register(function: Callable[[Columns], np.ndarray]) -> Callable[[Columns], np.ndarray]:
        table = MENTION_FEATURES if mention else FEATURES
        table[function.__name__] = Feature(function.__name__, formula, example, function)
        return function

    return register


@feature("log P(name | mention) / 10, at least -3", "-2 nats: -0.2")
def confidence(c: Columns) -> np.ndarray:
    """Log-probability of the name given the mention in its context (ANGEL, equation 1)."""
    return np.maximum(c.log_prob, FLOOR) / UNSURE


@feature("cosine of 3-grams, weighted by rarity", "photoreceptor, photoreceptor cell: 0.99")
def similarity(c: Columns) -> np.ndarray:
    """String similarity of query and name; 0 for a short mention that is not an exact match."""
    return c.cosine * c.by_letters


@feature("(1 - edits / letters)²", "atack, attack: (1 - 1/6)² = 0.69")
def edits(c: Columns) -> np.ndarray:
    """String similarity by edit distance (optimal string alignment); 0 as for `similarity`."""
    return (c.edits * c.by_letters) ** 2


@feature("cosine of the names' vectors of word pieces", "renal stones, kidney calculi: 0.6")
def vectors(c: Columns) -> np.ndarray:
    """Similarity of the meanings of the words; 0 as for `similarity`."""
    return c.vectors * c.by_letters


@feature("cosine of the name encoder's vectors", "teeth were hurting, toothache: 0.8")
def meaning(c: Columns) -> np.ndarray:
    """Similarity in meaning of query and name (SapBERT, section 2); 0 as for `similarity`."""
    return c.meaning * c.by_letters


@feature("(`meaning` - 0.7) / 0.3, at least 0", "0.85: 0.5")
def same_meaning(c: Columns) -> np.ndarray:
    """Distinguishes synonyms from other similar names."""
    return np.maximum(c.meaning * c.by_letters - 0.7, 0.0) / 0.3


@feature("`meaning` minus its maximum over the candidates", "0.6, maximum 0.8: -0.2")
def closest(c: Columns) -> np.ndarray:
    """Whether another name is closer in meaning."""
    return (c.meaning - c.closest) * c.by_letters


@feature("1 for an exact match", "Heart attack, heart attack: 1")
def exact(c: Columns) -> np.ndarray:
    """The name equals the mention or its long form, apart from case and punctuation."""
    return c.is_query * (1.0 - c.is_spelled)


@feature("exact match: 1 canonical, -1 related, broad, or narrow synonym", "heart, Heart: 1")
def scope(c: Columns) -> np.ndarray:
    """Scope of the name in the vocabulary: `heart` is the canonical name of one concept and a
    related synonym of others."""
    return c.scope * c.is_query * (1.0 - c.is_spelled)


@feature("1 if the corrected spelling is most similar", "heart atack, heart attack: 1")
def spelled(c: Columns) -> np.ndarray:
    """The name was found by correcting the spelling of the mention."""
    return c.is_spelled


@feature(
    "if the document names the concept in other words: 1 for a short mention, 0.2 for others",
    "WS and Williams syndrome: 1",
)
def coherence(c: Columns) -> np.ndarray:
    """Document coherence: another mention clearly refers to the concept, which matters most for
    abbreviations."""
    return c.is_coherent * np.where(c.is_short > 0, 1.0, _OF_LONG)


@feature("1 if numbers differ, 0.5 if only one has a number", "type 1 diabetes, type 2: 1")
def number(c: Columns) -> np.ndarray:
    """Mention and name contain different numbers."""
    return c.number


@feature(
    "share of the mention's words that the name lacks, weighted", "outer hair cell, hair cell: 0.4"
)
def missing(c: Columns) -> np.ndarray:
    """A name with fewer words than the mention often belongs to a broader concept."""
    return c.missing


@feature("share of the name's words that the mention lacks, weighted", "rod, rod cell: 0.3")
def added(c: Columns) -> np.ndarray:
    """A name with more words than the mention often belongs to a narrower concept."""
    return c.added


@feature(
    "2 · shared / (words of both), 0 for an exact match",
    "type I fiber, type I muscle fiber: 0.86",
)
def overlap(c: Columns) -> np.ndarray:
    """Share of common words, ignoring plurals."""
    return c.overlap * (1.0 - c.is_query)


@feature(
    "weight of the concept's other names that occur around the mention", "TS … thymidylate: 0.6"
)
def context(c: Columns) -> np.ndarray:
    """Context of the mention, see `words.context_overlap`."""
    return c.context


@feature(
    "main species of the text 1, another 0.7, not in the text -1", "human TP53, text on mice: -1"
)
def species(c: Columns) -> np.ndarray:
    """Species of the document, for vocabularies whose concepts have a species; else 0."""
    is_other, is_absent = c.species == OTHER_SPECIES, c.species == ABSENT_SPECIES
    return (c.species == MAIN_SPECIES) + 0.7 * is_other - 1.0 * is_absent


@feature("canonical name, same case: 1; second name: 0.5", "Trp53, Trp53: 1")
def name_rank(c: Columns) -> np.ndarray:
    """Which name of the gene is used, for vocabularies with homonyms; else 0."""
    return c.name_rank


@feature("1", "1", mention=True)
def bias(c: Columns) -> np.ndarray:
    """Intercept."""
    return np.ones(len(c.query))


@feature("1 for a mention of up to 4 letters", "CF: 1", mention=True)
def short(c: Columns) -> np.ndarray:
    """Short mentions are ambiguous."""
    return c.is_short


@feature("-log P(best name | mention) / 10, at most 1", "-2 nats: 0.2", mention=True)
def unsure(c: Columns) -> np.ndarray:
    """Uncertainty of the model: no name has a high probability."""
    return c.unsure
