"""What a mention becomes on its way to a link: Span → Query → Candidate → Link."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ..vocabulary.names.concepts import normalize_name

if TYPE_CHECKING:
    from ..model.mention import Mention
    from ..vocabulary.changes.applied_rules import Constraint

NIL = "NIL"
"""spaCy's identifier of a mention that no concept of the vocabulary fits."""
FLOOR = -30.0
"""Least log-probability that counts, in nats."""
MENTION, LONG_FORM, WORD_LIST, SYMBOLS, SPELLING = (
    *("mention", "long form", "word list", "symbols", "spelling"),
)
"""Sources of wordings: the mention as written, its long form, a list of short forms and lay terms,
spelled-out Greek letters and charges and other spacing of digits, and corrected spelling."""


class Wording(NamedTuple):
    """A text to look for in place of a mention. source (str): where it comes from, e.g.
    `MENTION`."""

    text: str
    source: str


@dataclass(slots=True)
class Candidate:
    """A name of the vocabulary with one of its concepts, proposed for a mention, and the evidence
    for it.

    concept_id (str): the concept.
    name (int): index of the name in the vocabulary. text (str): the name in normal form.
    log_prob (float): of the name given the mention, in nats. For a name that the model has not
        scored, the least of those it has, or `FLOOR`.
    score (float): the search's score of the name, else the log-probability.
    source (str): source of the wording that the name resembles most.
    is_query (bool): the name is that wording.
    is_similar (bool): string similarity proposed it, whether or not the search did as well.
    cosine (float), edits (float): string similarity to the wording, see `Similarity`.
    missing (float), added (float), overlap (float), number (float): see `alignment.Alignment`.
    vectors (float): cosine of the static vectors of the name and of a wording.
    meaning (float): cosine of the name encoder's vectors of both.
    scope (int): of an exact match: 1 if the name is the concept's canonical one, less 1 if it is a
        related, broad or narrow synonym.
    name_rank (float): of a vocabulary with `by_species`: 1 if the canonical name is the mention
        letter by letter, plus 0.5 if the name is the concept's second one.
    species (int): species rank of the concept, see `SpeciesReader.rank`.
    has_homonyms (bool): the name stands for further concepts that the mention may have.
    prior (float): the concept's share of the name.
    """

    concept_id: str
    name: int
    text: str = ""
    log_prob: float = FLOOR
    score: float = FLOOR
    source: str = MENTION
    is_query: bool = False
    is_similar: bool = True
    cosine: float = 0.0
    edits: float = 0.0
    missing: float = 0.0
    added: float = 0.0
    overlap: float = 0.0
    number: float = 0.0
    vectors: float = 1.0
    meaning: float = 1.0
    scope: int = 0
    name_rank: float = 0.0
    species: int = 0
    has_homonyms: bool = False
    prior: float = 1.0


@dataclass(slots=True)
class Query:
    """A mention to find candidates for, and what was found.

    mention (Mention): in its context, as the model reads it.
    label (str): its label.
    document (int): number of its document in the batch.
    wordings (tuple[Wording, ...]): what is looked for, the one that the model reads first; empty:
        the mention alone.
    constraint (Constraint | None): what rules of curation say of the mention.
    nearest (Sequence[int]): the names that are most similar to a wording as strings.
    candidates (list[Candidate]): what was found; names of the search first, in its order.
    context (dict[str, float]): concept → how much of its other names occurs around the mention, see
        `context.context_overlap`.
    coherent (Collection[str]): concepts that another mention of the document names beyond doubt, in
        other words.
    is_searched (bool): the model searched for names.
    matched_exactly (bool): the only candidate was taken without search or reranker: by a rule, or
        because the mention is the name of one concept.
    """

    mention: "Mention"
    label: str = ""
    document: int = 0
    wordings: tuple[Wording, ...] = ()
    constraint: "Constraint | None" = None
    nearest: Sequence[int] = ()
    candidates: list[Candidate] = field(default_factory=list)
    context: dict[str, float] = field(default_factory=dict)
    coherent: Collection[str] = ()
    is_searched: bool = False
    matched_exactly: bool = False
    text: str = field(init=False)
    """The mention in normal form."""
    texts: dict[str, str] = field(init=False)
    """Wordings in normal form → source; each text once, without empty ones."""

    def __post_init__(self) -> None:
        self.text = normalize_name(self.mention.text)
        self.texts = {}
        for text, source in self.wordings or (Wording(self.mention.text, MENTION),):
            if normal := normalize_name(text):
                self.texts.setdefault(normal, source)

    @property
    def is_decided(self) -> bool:
        """RETURNS (bool): no model decides: a rule does, or an exact match."""
        is_mention = self.constraint is None or self.constraint.is_mention
        return self.matched_exactly or not is_mention

    def without(self, concept_ids: Collection[str]) -> "Query":
        """concept_ids (Collection[str]): of concepts. RETURNS (Query): as if the vocabulary had
        none of them; the other concepts of a name share all of it."""
        left = [c for c in self.candidates if c.concept_id not in concept_ids]
        if len(left) == len(self.candidates):
            return self
        totals: dict[int, float] = {}
        for c in left:
            totals[c.name] = totals.get(c.name, 0.0) + c.prior
        left = [replace(c, prior=c.prior / totals[c.name]) for c in left]
        return replace(self, candidates=left)

    def unsearched(self) -> "Query":
        """RETURNS (Query): as if the model had not been asked."""
        left = [c for c in self.candidates if c.is_similar]
        left = [replace(c, log_prob=FLOOR, score=FLOOR, meaning=float(c.is_query)) for c in left]
        return replace(self, candidates=left, is_searched=False)


@dataclass(frozen=True, slots=True)
class Link:
    """What is written on one mention, in plain values.

    kb_id (str): the identifier, or `NIL`.
    kb_ents (list[tuple[str, float]]): concepts with their probability, best first; empty if the
        identifier is `NIL`, as scispaCy's hold nothing below its thresholds.
    candidates (list[dict[str, Any]]): `concept_id`, `name` (original spelling), `score`,
        `log_prob` and `probability`, the candidate's share of its concept's probability. All that
        were found: without the reranker in the order of the search, with it names with the most
        probable concept first. `score` and `log_prob` are None if the model was not asked
        (`candidates.shortcuts`, or a rule says what is meant). With the setting `decision.prefer`,
        or a rule that prefers an identifier, also `other_ids`, the concept's further identifiers.
    label (str): replaces the label of the mention, see `other_labels`; empty: it keeps its own.
    """

    kb_id: str
    kb_ents: list[tuple[str, float]]
    candidates: list[dict[str, Any]]
    label: str = ""
