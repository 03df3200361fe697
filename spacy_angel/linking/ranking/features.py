"""The evidence that the reranker weighs: numbers that tell the right concept of a mention from the
others, and from none.

A feature is one function with its name, its formula and an example, which `@feature` puts into
`FEATURES`, or into `MENTION_FEATURES` if it is a property of the mention. It takes the candidates
of many mentions as columns, n rows, and returns float64[n]. None knows a vocabulary or an entity
type by name.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ...vocabulary.species.reader import ABSENT_SPECIES, MAIN_SPECIES, OTHER_SPECIES
from ..types import FLOOR, SPELLING, Query

UNSURE = 10.0
"""The model is unsure if it gives its best name exp(-10) or less, and sure if it gives 1."""
SHORT = 4
"""Letters up to which a mention may be a short form, of which similar letters mean nothing."""
_OF_LONG = 0.2


class Columns(NamedTuple):
    """The candidates of m queries, n rows sorted by query: fields of `Candidate`, and those of
    `Query` for the concept, as float64[n], true as 1. Beside them:

    query (np.ndarray): int64[n], number of the query. starts (np.ndarray): int64[m], first row of
        each query, which has at least one.
    is_spelled (np.ndarray): the name resembles the corrected spelling most.
    by_letters (np.ndarray): 0 if the mention is short and not the name: it may be a short form of
        it, whose letters mean nothing; else 1.
    is_short (np.ndarray): the mention may be a short form.
    unsure (np.ndarray): of the mention, 0 to 1, as the log-probability of its best name is 0 to
        -10.
    closest (np.ndarray): of the mention, the greatest `meaning`.
    """

    query: np.ndarray
    starts: np.ndarray
    log_prob: np.ndarray
    is_query: np.ndarray
    is_spelled: np.ndarray
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
    by_letters: np.ndarray
    is_short: np.ndarray
    unsure: np.ndarray
    closest: np.ndarray


def is_short(text: str) -> bool:
    """text (str): a mention in normal form. RETURNS (bool): whether it may be a short form."""
    return len(text.replace(" ", "")) <= SHORT


def columns_of(queries: Sequence[Query]) -> Columns:
    """queries (Sequence[Query]): each with at least one candidate. RETURNS (Columns): of all their
    candidates."""
    sizes = np.array([len(query.candidates) for query in queries])
    number = np.repeat(np.arange(len(queries)), sizes)
    starts = np.cumsum(sizes) - sizes
    rows = [
        (
            *(c.log_prob, c.is_query, c.source == SPELLING, c.cosine, c.edits),
            *(c.missing, c.added, c.overlap, c.number, c.vectors, c.meaning),
            *(c.scope, c.name_rank, c.species, c.prior),
            *(q.context.get(c.concept_id, 0.0), c.concept_id in q.coherent),
        )
        for q in queries
        for c in q.candidates
    ]
    fields = np.array(rows, dtype=float).T
    log_prob, is_query, meaning = fields[0], fields[1], fields[10]
    short = np.array([is_short(query.text) for query in queries])[number]
    best = np.maximum.reduceat(log_prob, starts)[number]
    by_letters, unsure = 1.0 - short * (1.0 - is_query), np.clip(-best / UNSURE, 0.0, 1.0)
    closest = np.maximum.reduceat(meaning, starts)[number]
    short = short.astype(float)
    return Columns(*(number, starts, *fields, by_letters, short, unsure, closest))


class Feature(NamedTuple):
    """name (str): in the reranker's file. formula (str): what it is. example (str): one value.
    values (Callable): `Columns` to float64[n]."""

    name: str
    formula: str
    example: str
    values: Callable[[Columns], np.ndarray]


FEATURES: dict[str, Feature] = {}
MENTION_FEATURES: dict[str, Feature] = {}
RAISING, LOWERING = {"exact": 0.0}, {"spelled": -0.5}
"""Features with a limited weight, whatever they are fitted on: `exact` has at least 0, because an
exact match is never evidence against a concept; `spelled` at most -0.5, because the unknown words
of real texts are not all typos, as they are in text with typos made for fitting."""


def feature(
    formula: str, example: str, *, mention: bool = False
) -> Callable[[Callable[[Columns], np.ndarray]], Callable[[Columns], np.ndarray]]:
    """formula (str), example (str): see `Feature`. mention (bool): of the mention.
    RETURNS (Callable): a decorator, which registers a function under its name."""

    def register(function: Callable[[Columns], np.ndarray]) -> Callable[[Columns], np.ndarray]:
        table = MENTION_FEATURES if mention else FEATURES
        table[function.__name__] = Feature(function.__name__, formula, example, function)
        return function

    return register


@feature("log P(name | mention) / 10, at least -3", "-2 nats: -0.2")
def confidence(c: Columns) -> np.ndarray:
    """Confidence of the model: of the name given the mention in its context (ANGEL, equation 1)."""
    return np.maximum(c.log_prob, FLOOR) / UNSURE


@feature("cosine of 3-grams, weighted by rarity", "photoreceptor, photoreceptor cell: 0.99")
def similarity(c: Columns) -> np.ndarray:
    """String similarity of wording and name; 0 for a short mention that is not the name."""
    return c.cosine * c.by_letters


@feature("(1 - edits / letters)²", "atack, attack: (1 - 1/6)² = 0.69")
def edits(c: Columns) -> np.ndarray:
    """String similarity by edit distance (optimal string alignment); 0 as for `similarity`."""
    return (c.edits * c.by_letters) ** 2


@feature("cosine of the names' vectors of word pieces", "renal stones, kidney calculi: 0.6")
def vectors(c: Columns) -> np.ndarray:
    """Similarity of the words' meanings; 0 as for `similarity`."""
    return c.vectors * c.by_letters


@feature("cosine of the name encoder's vectors", "teeth were hurting, toothache: 0.8")
def meaning(c: Columns) -> np.ndarray:
    """Similarity in meaning of name and wording (SapBERT, section 2); 0 as for `similarity`."""
    return c.meaning * c.by_letters


@feature("what `meaning` has above 0.7, / 0.3", "0.85: 0.5")
def same_meaning(c: Columns) -> np.ndarray:
    """Synonyms are close, and other names of a vocabulary are at some distance."""
    return np.maximum(c.meaning * c.by_letters - 0.7, 0.0) / 0.3


@feature("`meaning` less the greatest of all candidates", "0.6 beside one of 0.8: -0.2")
def closest(c: Columns) -> np.ndarray:
    """Whether another name is closer in meaning."""
    return (c.meaning - c.closest) * c.by_letters


@feature("1 for an exact match", "Heart attack, heart attack: 1")
def exact(c: Columns) -> np.ndarray:
    """The name is what the document says, apart from case and punctuation."""
    return c.is_query * (1.0 - c.is_spelled)


@feature("of an exact match: 1 canonical, -1 related, broad or narrow synonym", "heart, Heart: 1")
def scope(c: Columns) -> np.ndarray:
    """What the vocabulary says of the name: `heart` is the name of one concept, and a related
    synonym of others."""
    return c.scope * c.is_query * (1.0 - c.is_spelled)


@feature("1 if the name resembles the corrected spelling most", "heart atack, heart attack: 1")
def spelled(c: Columns) -> np.ndarray:
    """The mention was read as another word than the document has."""
    return c.is_spelled


@feature(
    "if the document names the concept in other words: 1 for a short mention, 0.2 for others",
    "WS beside Williams syndrome: 1",
)
def coherence(c: Columns) -> np.ndarray:
    """Document coherence: another mention names the concept beyond doubt, which matters most for
    short forms."""
    return c.is_coherent * np.where(c.is_short > 0, 1.0, _OF_LONG)


@feature("1 for other numbers, 0.5 for numbers on one side only", "type 1 diabetes, type 2: 1")
def number(c: Columns) -> np.ndarray:
    """Mention and name have different numbers."""
    return c.number


@feature(
    "share of the mention's words that the name lacks, weighted", "outer hair cell, hair cell: 0.4"
)
def missing(c: Columns) -> np.ndarray:
    """A name that says less than the mention is often that of a broader concept."""
    return c.missing


@feature("share of the name's words that the mention lacks, weighted", "rod, rod cell: 0.3")
def added(c: Columns) -> np.ndarray:
    """A name that says more than the mention is often that of a narrower concept."""
    return c.added


@feature(
    "2 · shared / (words of both), unless it is a wording",
    "type I fiber, type I muscle fiber: 0.86",
)
def overlap(c: Columns) -> np.ndarray:
    """Words that are the same apart from plurals."""
    return c.overlap * (1.0 - c.is_query)


@feature(
    "weight of the concept's other names that occur around the mention", "TS … thymidylate: 0.6"
)
def context(c: Columns) -> np.ndarray:
    """The rest of the text, see `context.context_overlap`."""
    return c.context


@feature(
    "1 the first species of the text, 0.7 another, -1 none of it", "TP53 in a text of mice: -1"
)
def species(c: Columns) -> np.ndarray:
    """Species context, for vocabularies whose concepts have a species; else 0."""
    absent, other, main = (
        c.species == rank for rank in (ABSENT_SPECIES, OTHER_SPECIES, MAIN_SPECIES)
    )
    return main + 0.7 * other - 1.0 * absent


@feature("1 the canonical name letter by letter, 0.5 the second name", "Trp53, Trp53: 1")
def name_rank(c: Columns) -> np.ndarray:
    """Which of its names a gene is called by; for vocabularies with homonyms, else 0."""
    return c.name_rank


@feature("1", "1", mention=True)
def bias(c: Columns) -> np.ndarray:
    """How often a link is right, all else being equal."""
    return np.ones(len(c.query))


@feature("1 for a mention of up to 4 letters", "CF: 1", mention=True)
def short(c: Columns) -> np.ndarray:
    """A short form may be that of something else."""
    return c.is_short


@feature("-log P(best name | mention) / 10, at most 1", "-2 nats: 0.2", mention=True)
def unsure(c: Columns) -> np.ndarray:
    """The model gives no name a high probability."""
    return c.unsure
