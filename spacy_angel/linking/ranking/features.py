"""The features of the reranker.

A feature is a function that computes float64[n] from the `Columns` of n candidates; its docstring
has the formula and an example. `FEATURES` lists the features of a candidate, `MENTION_FEATURES`
those of the mention. Features do not depend on a particular vocabulary or entity type.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from operator import attrgetter

import numpy as np

from ...vocabulary.species.reader import ABSENT_SPECIES, MAIN_SPECIES, OTHER_SPECIES
from ..types import FLOOR, SPELLING, Candidate, Query

UNSURE = 10.0
"""Log-probabilities are divided by this number of nats."""
SHORT = 4
"""Mentions of up to this many letters may be abbreviations; their spelling is not compared."""


Columns = Mapping[str, np.ndarray]
"""The n candidates of m queries, sorted by query: fields of `Candidate` as float64[n], with 1 for
true, and these:

    query          int64[n]: index of the query
    starts         int64[m]: first row of each query; each query has at least one row
    context        `Query.context` of the concept
    is_coherent    whether the concept is in `Query.coherent`
    is_spelled     whether the corrected spelling is most similar to the name
    is_short       whether the mention may be an abbreviation
    by_letters     0 if the mention may be an abbreviation and is not an exact match; else 1
    unsure         0 to 1 for a log-probability of 0 to -10 of the best name
    closest        the maximum of `meaning` over the candidates of the query
"""
Feature = Callable[[Columns], np.ndarray]
_OTHERS = ("concept_id", "name", "text", "score", "source")
_FIELDS = [own.name for own in fields(Candidate) if own.name not in _OTHERS]
_OF_CANDIDATE = attrgetter(*_FIELDS)


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
    names = (*_FIELDS, "context", "is_coherent", "is_spelled")
    c = dict(zip(names, np.array(rows, dtype=float).T, strict=True))
    c |= {"query": number, "starts": starts}
    c["is_short"] = np.array([is_short(q.text) for q in queries], dtype=float)[number]
    c["by_letters"] = 1.0 - c["is_short"] * (1.0 - c["is_query"])
    best = np.maximum.reduceat(c["log_prob"], starts)[number]
    c["unsure"] = np.clip(-best / UNSURE, 0.0, 1.0)
    c["closest"] = np.maximum.reduceat(c["meaning"], starts)[number]
    return c


def confidence(c: Columns) -> np.ndarray:
    """Log-probability of the name given the mention in its context (ANGEL, equation 1).

    value: log P(name | mention) / 10, at least -3
    example: -2 nats: -0.2
    """
    return np.maximum(c["log_prob"], FLOOR) / UNSURE


def similarity(c: Columns) -> np.ndarray:
    """String similarity of query and name; 0 for a short mention that is not an exact match.

    value: cosine of 3-grams, weighted by rarity
    example: photoreceptor, photoreceptor cell: 0.99
    """
    return c["cosine"] * c["by_letters"]


def edits(c: Columns) -> np.ndarray:
    """String similarity by edit distance (optimal string alignment); 0 as for `similarity`.

    value: (1 - edits / letters)²
    example: atack, attack: (1 - 1/6)² = 0.69
    """
    return (c["edits"] * c["by_letters"]) ** 2


def vectors(c: Columns) -> np.ndarray:
    """Similarity of the meanings of the words; 0 as for `similarity`.

    value: cosine of the names' vectors of word pieces
    example: renal stones, kidney calculi: 0.6
    """
    return c["vectors"] * c["by_letters"]


def meaning(c: Columns) -> np.ndarray:
    """Similarity in meaning of query and name (SapBERT, section 2); 0 as for `similarity`.

    value: cosine of the name encoder's vectors
    example: teeth were hurting, toothache: 0.8
    """
    return c["meaning"] * c["by_letters"]


def same_meaning(c: Columns) -> np.ndarray:
    """Distinguishes synonyms from other similar names.

    value: (`meaning` - 0.7) / 0.3, at least 0
    example: 0.85: 0.5
    """
    return np.maximum(c["meaning"] * c["by_letters"] - 0.7, 0.0) / 0.3


def closest(c: Columns) -> np.ndarray:
    """Whether another name is closer in meaning.

    value: `meaning` minus its maximum over the candidates
    example: 0.6, maximum 0.8: -0.2
    """
    return (c["meaning"] - c["closest"]) * c["by_letters"]


def exact(c: Columns) -> np.ndarray:
    """The name equals the mention or its long form, apart from case and punctuation.

    value: 1 for an exact match
    example: Heart attack, heart attack: 1
    """
    return c["is_query"] * (1.0 - c["is_spelled"])


def scope(c: Columns) -> np.ndarray:
    """Scope of the name in the vocabulary: `heart` is the canonical name of one concept and a
    related synonym of others.

    value: exact match: 1 canonical, -1 related, broad, or narrow synonym
    example: heart, Heart: 1
    """
    return c["scope"] * c["is_query"] * (1.0 - c["is_spelled"])


def spelled(c: Columns) -> np.ndarray:
    """The name was found by correcting the spelling of the mention.

    value: 1 if the corrected spelling is most similar
    example: heart atack, heart attack: 1
    """
    return c["is_spelled"]


def coherence(c: Columns) -> np.ndarray:
    """Document coherence: another mention clearly refers to the concept, which matters most for
    abbreviations.

    value: if the document names the concept in other words: 1 for a short mention, 0.2 for
        others
    example: WS and Williams syndrome: 1
    """
    return c["is_coherent"] * np.where(c["is_short"] > 0, 1.0, 0.2)


def number(c: Columns) -> np.ndarray:
    """Mention and name contain different numbers.

    value: 1 if numbers differ, 0.5 if only one has a number
    example: type 1 diabetes, type 2: 1
    """
    return c["number"]


def missing(c: Columns) -> np.ndarray:
    """A name with fewer words than the mention often belongs to a broader concept.

    value: share of the mention's words that the name lacks, weighted
    example: outer hair cell, hair cell: 0.4
    """
    return c["missing"]


def added(c: Columns) -> np.ndarray:
    """A name with more words than the mention often belongs to a narrower concept.

    value: share of the name's words that the mention lacks, weighted
    example: rod, rod cell: 0.3
    """
    return c["added"]


def overlap(c: Columns) -> np.ndarray:
    """Share of common words, ignoring plurals.

    value: 2 · shared / (words of both), 0 for an exact match
    example: type I fiber, type I muscle fiber: 0.86
    """
    return c["overlap"] * (1.0 - c["is_query"])


def context(c: Columns) -> np.ndarray:
    """Context of the mention, see `words.context_overlap`.

    value: weight of the concept's other names that occur around the mention
    example: TS … thymidylate: 0.6
    """
    return c["context"]


def species(c: Columns) -> np.ndarray:
    """Species of the document, for vocabularies whose concepts have a species; else 0.

    value: main species of the text 1, another 0.7, not in the text -1
    example: human TP53, text on mice: -1
    """
    is_other, is_absent = c["species"] == OTHER_SPECIES, c["species"] == ABSENT_SPECIES
    return (c["species"] == MAIN_SPECIES) + 0.7 * is_other - 1.0 * is_absent


def name_rank(c: Columns) -> np.ndarray:
    """Which name of the gene is used, for vocabularies with homonyms; else 0.

    value: canonical name, same case: 1; second name: 0.5
    example: Trp53, Trp53: 1
    """
    return c["name_rank"]


def bias(c: Columns) -> np.ndarray:
    """Intercept.

    value: 1
    example: 1
    """
    return np.ones(len(c["query"]))


def short(c: Columns) -> np.ndarray:
    """Short mentions are ambiguous.

    value: 1 for a mention of up to 4 letters
    example: CF: 1
    """
    return c["is_short"]


def unsure(c: Columns) -> np.ndarray:
    """Uncertainty of the model: no name has a high probability.

    value: -log P(best name | mention) / 10, at most 1
    example: -2 nats: 0.2
    """
    return c["unsure"]


_ALL: tuple[Feature, ...] = (
    *(confidence, similarity, edits, vectors, meaning, same_meaning, closest, exact, scope),
    *(spelled, coherence, number, missing, added, overlap, context, species, name_rank),
)
FEATURES = {feature.__name__: feature for feature in _ALL}
"""Features of a candidate, by name."""
MENTION_FEATURES = {feature.__name__: feature for feature in (bias, short, unsure)}
"""Features of a mention, by name."""
BOUNDS = {
    **{"exact": (0.0, None), "exact_unsure": (0.0, None)},
    **{"spelled": (None, -0.5), "spelled_unsure": (None, 0.0)},
}
"""Bounds on the fitted weights. `exact` is at least 0, because an exact match is never evidence
against a concept. `spelled` is at most -0.5: in the texts with artificial typos used for fitting,
every unknown word is a typo, but this is not true of real texts."""
