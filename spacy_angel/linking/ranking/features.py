"""What tells the right concept of a mention from the others, and from none: a number each, which
the ranker weighs.

A feature is one function with its name, its formula and an example, which `@feature` puts into
`FEATURES`, or `MENTION_FEATURES` for one of a mention alone. None knows a vocabulary or an entity
type by name.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from ...model.mention import SPELLING
from ...vocabulary.lookup.string_similarity import Similarity
from ...vocabulary.species.reader import ABSENT_SPECIES, MAIN_SPECIES, OTHER_SPECIES
from .alignment import Alignment
from .concepts import Candidate
from .wording import numbers_of, words_of

FLOOR = -30.0
"""Least log-probability that counts, in nats."""
UNSURE = 10.0
"""The model is unsure where it gives its best name exp(-10) or less, and sure where it gives 1."""
SHORT = 4
"""Letters up to which a mention may be a short form, of which similar letters mean nothing."""
_OF_LONG = 0.2
_RELATED = frozenset({"RELATED", "BROAD", "NARROW"})
_SPECIES = {MAIN_SPECIES: 1.0, OTHER_SPECIES: 0.7, ABSENT_SPECIES: -1.0}


@dataclass(frozen=True, slots=True)
class CandidateName:
    """A name that the search or string similarity found for a mention.

    name (int): the vocabulary's index.
    text (str): in normal form.
    log_prob (float): of the name given the mention, in nats; for one that the model was not asked
        for, the least of the search's names, though a beam may have missed likelier ones.
    score (float): the search's, else the log-probability.
    query (str): source of the query that it answers best, see `model.mention.Query`.
    is_query (bool): it is that query, an exact match.
    similarity (Similarity): of that query and the name.
    alignment (Alignment): likewise.
    concepts (tuple[str, ...]): that it stands for and the mention may have, at least one.
    canonical (frozenset[str]): those of them whose canonical name it is.
    suffix (str | None): what told these concepts from others of the name, see `Candidate`.
    has_others (bool): the mention may have further concepts of the name, under other suffixes.
    priors (tuple[float, ...]): which part of the name's probability each concept has, before the
        weights; empty: equal parts.
    species_ranks (tuple[int, ...]): species rank of each concept, see
        `vocabulary.species.reader.SpeciesReader.rank`; empty: 0.
    same_case (frozenset[str]): those of the concepts whose canonical name is the mention in small
        and capital letters, too, as TP53 is a man's gene and Trp53 a mouse's.
    second (frozenset[str]): those whose second name it is, which of genes is the full one.
    scopes (tuple[str, ...]): what the vocabulary says of the name for each concept, see
        `names.concepts.SCOPES`; empty: nothing.
    context (tuple[float, ...]): of each concept, see `context.context_overlap`; empty: 0.
    is_similar (bool): it was found by its similarity to a query, whether or not the search found it
        as well.
    vector_similarity (float): cosine of its word pieces' vectors and a query's.
    meaning (float): cosine of the name encoder's vectors of it and a query.
    """

    name: int
    text: str
    log_prob: float
    score: float
    query: str
    is_query: bool
    similarity: Similarity
    alignment: Alignment
    concepts: tuple[str, ...]
    canonical: frozenset[str] = frozenset()
    suffix: str | None = None
    has_others: bool = False
    priors: tuple[float, ...] = ()
    species_ranks: tuple[int, ...] = ()
    same_case: frozenset[str] = frozenset()
    second: frozenset[str] = frozenset()
    scopes: tuple[str, ...] = ()
    context: tuple[float, ...] = ()
    is_similar: bool = True
    vector_similarity: float = 1.0
    meaning: float = 1.0

    def without(self, concept_ids: Collection[str]) -> "CandidateName":
        """concept_ids (Collection[str]): of concepts. RETURNS (CandidateName): of the others."""
        left = [i for i, concept_id in enumerate(self.concepts) if concept_id not in concept_ids]
        if len(left) == len(self.concepts):
            return self
        per_concept = ("concepts", "priors", "species_ranks", "scopes", "context")
        values: dict[str, Any] = {
            key: tuple(getattr(self, key)[i] for i in left)
            for key in per_concept
            if getattr(self, key)
        }
        return replace(self, **values)

    @property
    def is_exact(self) -> bool:
        """RETURNS (bool): whether it is what the document says, and no correction of that."""
        return self.is_query and self.query != SPELLING

    @property
    def is_of_one(self) -> bool:
        """RETURNS (bool): whether the name stands for one concept alone."""
        return len(self.concepts) == 1 and not self.has_others


@dataclass(frozen=True)
class MentionCandidates:
    """All that was found for a mention.

    mention (str): as the model read it, in normal form.
    names (tuple[CandidateName, ...]): each once, or once with each suffix.
    coherent (frozenset[str]): concepts that the document names elsewhere, in other words and beyond
        doubt.
    is_searched (bool): the model was asked; else the names have no log-probabilities, nor what the
        name encoder makes of them.
    """

    mention: str
    names: tuple[CandidateName, ...]
    coherent: frozenset[str] = field(default_factory=frozenset)
    is_searched: bool = True

    @cached_property
    def is_short(self) -> bool:
        """RETURNS (bool): whether it may be a short form."""
        return len(self.mention.replace(" ", "")) <= SHORT

    @cached_property
    def unsure(self) -> float:
        """RETURNS (float): 0 to 1, as the log-probability of the best name is 0 to -10."""
        best = max((name.log_prob for name in self.names), default=FLOOR)
        return min(max(-best / UNSURE, 0.0), 1.0)

    @cached_property
    def closest(self) -> float:
        """RETURNS (float): the greatest cosine of meaning of a name."""
        return max((name.meaning for name in self.names), default=0.0)

    @cached_property
    def words(self) -> frozenset[str]:
        """RETURNS (frozenset[str]): of the mention as the model read it, see `wording`."""
        return frozenset(words_of(self.mention))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """RETURNS (frozenset[str]): the numbers among its words."""
        return numbers_of(self.mention)

    def without(self, concept_ids: Collection[str]) -> "MentionCandidates":
        """concept_ids (Collection[str]): of concepts. RETURNS (MentionCandidates): as if the
        vocabulary had none of them."""
        names = (name.without(concept_ids) for name in self.names)
        return replace(self, names=tuple(name for name in names if name.concepts))

    def unsearched(self) -> "MentionCandidates":
        """RETURNS (MentionCandidates): as if the model had not been asked."""
        names = [
            replace(name, log_prob=FLOOR, score=FLOOR, meaning=float(name.is_query))
            for name in self.names
            if name.is_similar
        ]
        return replace(self, names=tuple(names), is_searched=False)

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """RETURNS (tuple[Candidate, ...]): of `pairs`."""
        return tuple(
            Candidate(p.concept_id, p.name.name, p.name.score, p.name.log_prob, p.name.suffix)
            for p in self.pairs()
        )

    def pairs(self) -> "Iterator[Pair]":
        """YIELDS (Pair): each name with each of its concepts."""
        for name in self.names:
            for j, concept_id in enumerate(name.concepts):
                yield Pair(self, name, j, concept_id)


class Pair(NamedTuple):
    """A candidate: a name with one of its concepts.

    found (MentionCandidates): of the mention. name (CandidateName): the name. j (int): place of
    the concept in it. concept_id (str): the concept.
    """

    found: MentionCandidates
    name: CandidateName
    j: int
    concept_id: str

    @property
    def is_short_form(self) -> bool:
        """RETURNS (bool): whether the mention is short and not the name, so that it may be a short
        form of it, whose letters mean nothing."""
        return self.found.is_short and not self.name.is_query

    @property
    def similarity(self) -> Similarity:
        """RETURNS (Similarity): of query and name; 0 of a short mention that is not the name."""
        return Similarity(0.0, 0.0) if self.is_short_form else self.name.similarity

    @property
    def prior(self) -> float:
        """RETURNS (float): the concept's part of the name, before anything is weighed."""
        return self.name.priors[self.j] if self.name.priors else 1 / len(self.name.concepts)

    def of(self, values: Sequence[Any], default: Any) -> Any:
        """RETURNS (Any): what a sequence, one value a concept, has for this one."""
        return values[self.j] if values else default


class Feature(NamedTuple):
    """name (str): in the ranker's file. formula (str): what it is. example (str): one value.
    value (Callable): a `Pair`, or all that was found for a mention, to a number."""

    name: str
    formula: str
    example: str
    value: Callable[[Any], float]


FEATURES: dict[str, Feature] = {}
MENTION_FEATURES: dict[str, Feature] = {}
RAISING, LOWERING = {"exact": 0.0}, {"spelled": -0.5}
"""Features whose weights are at least or at most so much, whatever they are fitted on: an exact
match never speaks against a concept; and unknown words of real texts are not all typos,
as they are where typos were made to fit weights."""


def feature(
    formula: str, example: str, *, mention: bool = False
) -> Callable[[Callable[[Any], float]], Callable[[Any], float]]:
    """formula (str), example (str): see `Feature`. mention (bool): of a mention alone.
    RETURNS (Callable): a decorator, which registers a function under its name."""

    def register(function: Callable[[Any], float]) -> Callable[[Any], float]:
        table = MENTION_FEATURES if mention else FEATURES
        table[function.__name__] = Feature(function.__name__, formula, example, function)
        return function

    return register


@feature("log P(name | mention) / 10, at least -3", "-2 nats: -0.2")
def confidence(pair: Pair) -> float:
    """Model confidence: of the name given the mention in its context (ANGEL, equation 1)."""
    return max(pair.name.log_prob, FLOOR) / UNSURE


@feature(
    "cosine of 3-grams, weighed by how rare they are", "photoreceptor, photoreceptor cell: 0.99"
)
def similarity(pair: Pair) -> float:
    """String similarity of the query and the name; 0 of a short mention that is not the name."""
    return pair.similarity.cosine


@feature("(1 - edits / letters)²", "atack, attack: (1 - 1/6)² = 0.69")
def edits(pair: Pair) -> float:
    """String similarity by edit distance (optimal string alignment); 0 as `similarity`."""
    return pair.similarity.edits**2


@feature("cosine of the names' vectors of word pieces", "renal stones, kidney calculi: 0.6")
def vectors(pair: Pair) -> float:
    """Similarity of the words' meanings; 0 as `similarity`."""
    return 0.0 if pair.is_short_form else pair.name.vector_similarity


@feature("cosine of the name encoder's vectors", "teeth were hurting, toothache: 0.8")
def meaning(pair: Pair) -> float:
    """How close in meaning the name is to the query (SapBERT, section 2); 0 as `similarity`."""
    return 0.0 if pair.is_short_form else pair.name.meaning


@feature("what `meaning` has above 0.7, / 0.3", "0.85: 0.5")
def same_meaning(pair: Pair) -> float:
    """Synonyms are close, and other names of a vocabulary are at some distance."""
    return max(meaning(pair) - 0.7, 0.0) / 0.3


@feature("`meaning` less the greatest of all candidates", "0.6 beside one of 0.8: -0.2")
def closest(pair: Pair) -> float:
    """Whether another name is closer in meaning."""
    return 0.0 if pair.is_short_form else pair.name.meaning - pair.found.closest


@feature("1 for an exact match", "Heart attack, heart attack: 1")
def exact(pair: Pair) -> float:
    """The name is what the document says, but for case and signs."""
    return float(pair.name.is_exact)


@feature("of an exact match: 1 canonical, -1 related, broad or narrow synonym", "heart, Heart: 1")
def scope(pair: Pair) -> float:
    """What the vocabulary says of the name: `heart` is the name of one concept, and a related
    synonym of others."""
    if not pair.name.is_exact:
        return 0.0
    is_canonical = pair.concept_id in pair.name.canonical
    return float(is_canonical) - (pair.of(pair.name.scopes, "") in _RELATED)


@feature("1 where the name answers the corrected spelling best", "heart atack, heart attack: 1")
def spelled(pair: Pair) -> float:
    """The mention was read as another word than stands there."""
    return float(pair.name.query == SPELLING)


@feature(
    "where the document names the concept in other words: 1 of a short mention, 0.2 of others",
    "WS beside Williams syndrome: 1",
)
def coherence(pair: Pair) -> float:
    """Document coherence: another mention names the concept beyond doubt, which says most of short
    forms."""
    if pair.concept_id not in pair.found.coherent:
        return 0.0
    return 1.0 if pair.found.is_short else _OF_LONG


@feature("1 for other numbers, 0.5 for numbers on one side only", "type 1 diabetes, type 2: 1")
def number(pair: Pair) -> float:
    """Mention and name count differently."""
    ours, theirs = pair.found.numbers, numbers_of(pair.name.text)
    if bool(ours) != bool(theirs):
        return 0.5
    return float(ours != theirs)


@feature(
    "share of the mention's words that the name lacks, weighed", "outer hair cell, hair cell: 0.4"
)
def missing(pair: Pair) -> float:
    """A name that says less than the mention is often that of a broader concept."""
    return pair.name.alignment.missing


@feature("share of the name's words that the mention lacks, weighed", "rod, rod cell: 0.3")
def added(pair: Pair) -> float:
    """A name that says more than the mention is often that of a narrower concept."""
    return pair.name.alignment.added


@feature(
    "2 · shared / (words of both), where it is no query", "type I fiber, type I muscle fiber: 0.86"
)
def overlap(pair: Pair) -> float:
    """Words that are the same but for plurals and Greek letters."""
    if pair.name.is_query:
        return 0.0
    theirs = frozenset(words_of(pair.name.text))
    return 2 * len(pair.found.words & theirs) / max(len(pair.found.words) + len(theirs), 1)


@feature(
    "weight of the concept's other names that stand around the mention", "TS … thymidylate: 0.6"
)
def context(pair: Pair) -> float:
    """What the text says elsewhere, see `context.context_overlap`."""
    return pair.of(pair.name.context, 0.0)


@feature(
    "1 the first species of the text, 0.7 another, -1 none of it", "TP53 in a text of mice: -1"
)
def species(pair: Pair) -> float:
    """Species context, of vocabularies whose concepts have a species; else 0."""
    return _SPECIES.get(pair.of(pair.name.species_ranks, 0), 0.0)


@feature("1 the canonical name letter by letter, 0.5 the second name", "Trp53, Trp53: 1")
def name_rank(pair: Pair) -> float:
    """Which of its names a gene is called by; of vocabularies with namesakes, else 0."""
    is_canonical = pair.concept_id in pair.name.same_case
    return float(is_canonical) + 0.5 * (pair.concept_id in pair.name.second)


@feature("1", "1", mention=True)
def bias(found: MentionCandidates) -> float:
    """How often a link is right, all else being equal."""
    return 1.0


@feature("1 for a mention of up to 4 letters", "CF: 1", mention=True)
def short(found: MentionCandidates) -> float:
    """A short form may be that of something else."""
    return float(found.is_short)


@feature("-log P(best name | mention) / 10, at most 1", "-2 nats: 0.2", mention=True)
def unsure(found: MentionCandidates) -> float:
    """The model gives no name much."""
    return found.unsure
