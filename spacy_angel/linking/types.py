"""The types on the path from a mention to its link: Span → Query → Candidate → Link."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..vocabulary.names.concepts import normalize_name
from ..vocabulary.names.identifiers import split_ids

if TYPE_CHECKING:
    from ..model.mention import Mention
    from ..vocabulary.changes.applied_rules import Constraint
    from ..vocabulary.kb import ConceptKB

NIL = "NIL"
"""spaCy's identifier for mentions whose concept is not in the vocabulary."""
FLOOR = -30.0
"""Minimum log-probability in nats; lower values are treated as equal to it."""
MENTION, LONG_FORM, WORD_LIST, SYMBOLS, SPELLING = (
    *("mention", "long form", "word list", "symbols", "spelling"),
)
"""Sources of wordings: the mention as written; its long form; a list of short forms and lay terms;
spelled-out Greek letters, removed charges and different spacing of digits; corrected spelling."""


@dataclass(slots=True)
class Candidate:
    """A name that was found for a mention, and a concept that has it. A name shared by several
    concepts is a candidate for each.

    concept_id (str): the concept.
    name (int): index of the name in the vocabulary. text (str): the name in normal form.
    log_prob (float): log-probability of the name given the mention, in nats. If the model did not
        score the name: the lowest one of the mention, or `FLOOR`.
    score (float): score in the search, or else the log-probability.
    source (str): source of the wording that is most similar to the name.
    is_query (bool): whether the name equals that wording.
    cosine (float), edits (float): string similarity to the wording, see `Similarity`.
    missing (float), added (float), overlap (float), number (float): see `words.align`.
    vectors (float): cosine of the static vectors of name and wording.
    meaning (float): cosine of the name encoder's vectors of name and wording.
    scope (int): for an exact match: 1 if the name is the canonical name, minus 1 if it is a
        related, broad, or narrow synonym.
    name_rank (float): for vocabularies with `by_species`: 1 if the mention equals the canonical
        name, including case, plus 0.5 if the name is the second name of the concept.
    species (int): species rank of the concept, see `SpeciesReader.rank`.
    prior (float): prior share of the concept among those with this name that the mention may refer
        to; 1 if there are no others.
    """

    concept_id: str
    name: int
    text: str = ""
    log_prob: float = FLOOR
    score: float = FLOOR
    source: str = MENTION
    is_query: bool = False
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
    prior: float = 1.0


@dataclass(slots=True)
class Query:
    """A mention for which candidates are searched, and the results.

    mention (Mention): the mention in its context, as the model reads it.
    label (str): label of the mention.
    document (int): index of its document in the batch.
    texts (dict[str, str]): wordings to look up, in normal form → source, e.g. `MENTION`; first the
        one that the model reads. Empty: the mention is not searched.
    constraint (Constraint | None): curation rules that apply to the mention.
    nearest (Sequence[int]): names with the highest string similarity to a wording.
    candidates (list[Candidate]): the results; names found by the search come first, in its order.
    context (dict[str, float]): concept → occurrence of its other names around the mention, see
        `words.context_overlap`.
    coherent (Collection[str]): concepts that other mentions in the document clearly refer to, in
        other words.
    is_searched (bool): whether the model searched for names.
    matched_exactly (bool): whether the only candidate was chosen without search or reranker: by a
        rule, or because the mention is the name of one concept.
    parts (tuple[Query, ...]): the names in a coordination, e.g. `renal failure` and `hepatic
        failure` for the mention `renal or hepatic failure`.
    """

    mention: "Mention"
    label: str = ""
    document: int = 0
    texts: dict[str, str] = field(default_factory=dict)
    constraint: "Constraint | None" = None
    nearest: Sequence[int] = ()
    candidates: list[Candidate] = field(default_factory=list)
    context: dict[str, float] = field(default_factory=dict)
    coherent: Collection[str] = ()
    is_searched: bool = False
    matched_exactly: bool = False
    parts: "tuple[Query, ...]" = ()
    text: str = field(init=False)
    """The mention in normal form."""

    def __post_init__(self) -> None:
        self.text = normalize_name(self.mention.text)

    def without(self, concept_ids: Collection[str]) -> "Query":
        """Simulate concepts that are missing from the vocabulary.

        concept_ids (Collection[str]): concepts to remove.
        RETURNS (Query): the query without candidates for these concepts. Their share of a name is
            redistributed to the name's other concepts.
        """
        left = [c for c in self.candidates if c.concept_id not in concept_ids]
        if len(left) == len(self.candidates):
            return self
        totals: dict[int, float] = {}
        for c in left:
            totals[c.name] = totals.get(c.name, 0.0) + c.prior
        return replace(self, candidates=[replace(c, prior=c.prior / totals[c.name]) for c in left])


def describe_link(
    kb_id: str, kb_ents: Iterable[tuple[str, float]], kb: "ConceptKB"
) -> tuple[str, float | None]:
    """kb_id (str), kb_ents (Iterable[tuple[str, float]]): see `Link`. kb (ConceptKB): the
    vocabulary. RETURNS (tuple[str, float | None]): the canonical name and the probability, if
        known; for a coordination, all names, joined by `+`, and the lowest probability."""
    ids = [kb_id] if kb_id in kb else split_ids(kb_id)
    known = dict(kb_ents)
    names = [kb[concept_id].canonical_name for concept_id in ids if concept_id in kb]
    return " + ".join(names), min((known[i] for i in ids if i in known), default=None)


@dataclass(frozen=True, slots=True)
class Link:
    """The values that are written to a mention.

    kb_id (str): the identifier, or `NIL`. A coordination of several names has the identifiers of
        all, joined by `+`.
    kb_ents (list[tuple[str, float]]): concepts with their probabilities, best first; empty if the
        identifier is `NIL`, like scispaCy's below its threshold. For a coordination, only the
        concepts that it is linked to.
    candidates (list[dict[str, Any]]): `concept_id`, `name` (original spelling), `score`,
        `log_prob`, and `probability`, the candidate's part of its concept's probability. Without
        the reranker, they are in the order of the search; with it, names of the most probable
        concept come first. `score` and `log_prob` are None if the model was not run
        (`candidates.shortcuts`, or a rule decides). With the setting `decision.prefer`, or a rule
        that prefers an identifier, also `other_ids`, the concept's other identifiers.
    label (str): replaces the label of the mention, see `other_labels`; empty: the label is kept.
    """

    kb_id: str
    kb_ents: list[tuple[str, float]]
    candidates: list[dict[str, Any]]
    label: str = ""


def combine_links(link: Link, parts: Sequence[Link]) -> Link:
    """Combine the links of the names in a coordination.

    link (Link): link of the whole mention.
    parts (Sequence[Link]): links of the names; empty if the mention is not a coordination.
    RETURNS (Link): the combined link, e.g. to `MESH:D051437+MESH:D017093`; if one of the names is
        NIL, the link of the whole mention.
    """
    if not parts or any(part.kb_id == NIL for part in parts):
        return link
    ents = dict(part.kb_ents[0] for part in parts)
    if len(ents) == 1:
        return parts[0]
    candidates = [c for part in parts for c in part.candidates]
    return Link("+".join(ents), list(ents.items()), candidates)
