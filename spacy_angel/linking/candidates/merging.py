"""Candidates from two sides: what the search found, and names that are similar to a query."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...model.mention import MENTION, SPELLING, Query
from ...vocabulary.lookup.string_similarity import Alike
from ...vocabulary.names.concepts import normalize_name
from ...vocabulary.names.entity_types import label_of
from ...vocabulary.species.context import UNSAID, shares_in_order
from ..ranking.alignment import align
from ..ranking.concepts import ConceptsOf, NameScore
from ..ranking.context import said_around, telling_words, words_around
from ..ranking.features import FLOOR, STRICT, CandidateName, MentionCandidates

if TYPE_CHECKING:
    from ...model.mention import Mention
    from ...vocabulary.kb import ConceptKB

# Endings of a name by letters that the model is asked for, the likeliest ones.
_MOST_ENDINGS = 6
# The search has decided where its best name is the mention itself, at this log-probability or
# above; under it, the model is asked for the names that are near by letters.
_DECIDED = -2.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """A mention that is looked for.

    mention (Mention): as the model reads it.
    document (int): number of its document.
    concepts (ConceptsOf): those of a name that the mention may have, where the document says
        which is the likeliest, in that order.
    allowed (np.ndarray | None): bool[n_names], the names of its subset; None: all.
    tells_apart (bool): the model writes disambiguating suffixes, so that each is a name of its own.
    """

    mention: "Mention"
    document: int
    concepts: ConceptsOf
    allowed: np.ndarray | None = None
    tells_apart: bool = False


class CandidateGenerator:
    """The candidates of some mentions: names that the search found, and names that are similar to a
    query; those of a document speak for each other.

    Tell it what was found for each mention (`add`), answer what the model thinks of the names that
    it gives back (`answer`), then `finish`.

    wanted (Sequence[Wanted]): n mentions.
    kb (ConceptKB): the vocabulary that is searched.
    n_near (int): names by letters for each mention.
    """

    def __init__(self, wanted: Sequence[Wanted], kb: "ConceptKB", n_near: int) -> None:
        self._wanted = wanted
        self._kb = kb
        self._n_near = n_near
        self._texts = [normalize_name(item.mention.text) for item in wanted]
        self._queries = [_queries_of(item.mention) for item in wanted]
        self._found: dict[int, list[CandidateName]] = {}
        self._near: dict[int, list[CandidateName]] = {}

    def add(self, i: int, hypotheses: Sequence[NameScore]) -> list[str]:
        """i (int): a mention. hypotheses (Sequence[NameScore]): names that the search found for
        it, best first. RETURNS (list[str]): names near by letters that the model is to be asked
        for, as it writes them: none where it has decided."""
        item, text, queries = self._wanted[i], self._texts[i], self._queries[i]
        found = self._found[i] = _names_found(item, self._kb, queries, hypotheses)
        if _is_decided(found, text):
            return []
        near = self._near[i] = _names_near(item, self._kb, queries, found, self._n_near)
        if _best(found) >= _DECIDED:
            return []
        return [self._kb.written(name.name, name.suffix) for name in near]

    def take(self, i: int, name: NameScore) -> None:
        """i (int): a mention. name (NameScore): its only candidate, which was taken without a
        search: an exact match, or what a rule says of a mention that is read as something else."""
        self._found[i] = _names_found(self._wanted[i], self._kb, self._queries[i], [name])

    def answer(self, i: int, log_probs: Sequence[float]) -> None:
        """i (int): a mention. log_probs (Sequence[float]): of the names that `add` gave."""
        pairs = zip(self._near[i], log_probs, strict=True)
        self._near[i] = [_with_log_prob(name, log_prob) for name, log_prob in pairs]

    def finish(self) -> list[MentionCandidates]:
        """RETURNS (list[MentionCandidates]): one a mention."""
        words: dict[str, list[frozenset[str]]] = {}
        names = [
            _with_context(self._found[i] + self._near.get(i, []), item, self._kb, words)
            for i, item in enumerate(self._wanted)
        ]
        agreed = _agreed(self._wanted, self._texts, names)
        return [
            MentionCandidates(text, tuple(found), frozenset(concepts))
            for text, found, concepts in zip(self._texts, names, agreed, strict=True)
        ]


def _queries_of(mention: "Mention") -> list[Query]:
    """RETURNS (list[Query]): in normal form, each text once, the one that the model reads first."""
    sources: dict[str, str] = {}
    for query in mention.queries or (Query(mention.text, MENTION),):
        sources.setdefault(normalize_name(query.text), query.source)
    return [Query(text, source) for text, source in sources.items() if text]


class _Look(NamedTuple):
    """The query that a name is most like, and how alike: to that query; but to the mention as it is
    written, where that is one of the queries and the other corrects it."""

    query: Query
    similarity: Alike
    letters: str


def _compare(kb: "ConceptKB", queries: Sequence[Query], names: Sequence[int]) -> list[_Look]:
    """RETURNS (list[_Look]): one a name, of equal queries the first."""
    written = next((i for i, query in enumerate(queries) if query.source == MENTION), 0)
    by_query = [kb.nearest.compare(query.text, names) for query in queries]
    looks = []
    for name, similarities in zip(names, zip(*by_query, strict=True), strict=True):
        keys = [
            (kb.name(name) == query.text, similarity.cosine + similarity.edits)
            for query, similarity in zip(queries, similarities, strict=True)
        ]
        best = keys.index(max(keys))
        own = written if queries[best].source == SPELLING else best
        looks.append(_Look(queries[best], similarities[own], queries[own].text))
    return looks


def _names_found(
    item: Wanted, kb: "ConceptKB", queries: Sequence[Query], hypotheses: Sequence[NameScore]
) -> list[CandidateName]:
    """The names of the search; none for a mention that is punctuation alone, which has nothing in
    common with any."""
    if not queries:
        return []
    meant = [(h, item.concepts(h.name, h.ending)) for h in hypotheses]
    meant = [(h, concepts) for h, concepts in meant if concepts]
    looks = _compare(kb, queries, [h.name for h, _ in meant])
    names = [
        _candidate_name(item, kb, look, _Written(h.name, h.ending, concepts), h)
        for (h, concepts), look in zip(meant, looks, strict=True)
    ]
    return [name for name in names if name.concepts]


def _names_near(
    item: Wanted,
    kb: "ConceptKB",
    queries: Sequence[Query],
    found: Sequence[CandidateName],
    n_near: int,
) -> list[CandidateName]:
    """Names that are similar to a query and that the search did not find, at most `n_near` of each;
    of a name with endings also those endings that it did not find."""
    known = {(name.name, name.suffix) for name in found}
    found_names = {name.name for name in found}
    least = min((name.log_prob for name in found), default=FLOOR)
    near: list[CandidateName] = []
    for query in queries:
        similar = kb.nearest.find(query.text, n_near + len(found_names), item.allowed)
        names = [name for name, _ in similar]
        looks = (
            [_Look(query, similarity, query.text) for _, similarity in similar]
            if len(queries) == 1
            else _compare(kb, queries, names)
        )
        n_new = 0
        for name, look in zip(names, looks, strict=True):
            is_new = name not in found_names
            if is_new and n_new == n_near:
                continue
            options = [w for w in _endings(item, kb, name) if (name, w.ending) not in known]
            n_new += bool(is_new and options)
            known |= {(name, way.ending) for way in options}
            unasked = _Unasked(least, least)
            near += [_candidate_name(item, kb, look, option, unasked) for option in options]
    return [name for name in near if name.concepts]


class _Written(NamedTuple):
    """A name as the model writes it, and the concepts of it that the mention may have."""

    name: int
    ending: str | None
    concepts: Sequence[str]


class _Unasked(NamedTuple):
    """Scores of a name that the model has not been asked for."""

    log_prob: float
    score: float


def _endings(item: Wanted, kb: "ConceptKB", name: int) -> list[_Written]:
    """The ways to write a name: one, or with each ending, the likeliest first."""
    if not item.tells_apart:
        concepts = item.concepts(name, None)
        return [_Written(name, None, concepts)] if concepts else []
    told = kb.endings_of(name)
    places = {concept_id: place for place, concept_id in enumerate(item.concepts(name, None))}
    ways = [
        _Written(name, ending, allowed)
        for ending, concepts in told.items()
        if (allowed := [c for c in concepts if c in places])
    ]
    ways.sort(key=lambda way: min(places[c] for c in way.concepts))
    return ways[:_MOST_ENDINGS]


def _candidate_name(
    item: Wanted,
    kb: "ConceptKB",
    look: _Look,
    written: _Written,
    scores: "NameScore | _Unasked",
) -> CandidateName:
    query, (name, ending, concepts) = look.query, written
    text = kb.name(name)
    if query.source == SPELLING:
        # A drug that nobody knows is no slip of the pen.
        concepts = [c for c in concepts if label_of(kb.types_of(c)) not in STRICT]
    # Only of a query itself is it asked whether it is canonical, and who else has it.
    is_query = text == query.text
    canonical = [c for c in concepts if is_query and kb.names_of(c)[0] == name]
    has_others = ending is not None and is_query
    return CandidateName(
        name,
        text,
        scores.log_prob,
        scores.score,
        query.source,
        is_query,
        look.similarity,
        align(look.letters, text, kb.nearest.word_weight),
        tuple(concepts),
        frozenset(canonical),
        ending,
        has_others and len(item.concepts(name, None)) > len(concepts),
        # Where the model has no say, the document has.
        shares_in_order(len(concepts)) if kb.endings and len(concepts) > 1 else (),
        kb.places_of(concepts, item.mention.hint),
        frozenset(c for c in canonical if kb.endings and _is_spelled_so(item, kb, c)),
        frozenset(c for c in concepts if is_query and kb.endings and kb.is_second_name(name, c)),
        tuple(kb.scope_of(name, c) for c in concepts) if is_query else (),
    )


def _is_spelled_so(item: Wanted, kb: "ConceptKB", concept_id: str) -> bool:
    return kb[concept_id].canonical_name == item.mention.text


def _with_context(
    names: Sequence[CandidateName],
    item: Wanted,
    kb: "ConceptKB",
    words: dict[str, list[frozenset[str]]],
) -> list[CandidateName]:
    """The names with what the words around the mention say of their concepts.

    words (dict[str, list[frozenset[str]]]): `telling_words` by concept, gets what it lacks.
    """
    around = words_around(item.mention)
    mention = normalize_name(item.mention.text)
    said: dict[str, float] = {}
    for name in names:
        for concept_id in name.concepts:
            if concept_id not in said:
                if concept_id not in words:
                    words[concept_id] = telling_words(map(kb.name, kb.names_of(concept_id)))
                said[concept_id] = said_around(words[concept_id], around, mention)
    return [replace(name, context=tuple(said[c] for c in name.concepts)) for name in names]


def _best(found: Sequence[CandidateName]) -> float:
    return max((name.log_prob for name in found), default=FLOOR)


def _is_decided(found: Sequence[CandidateName], mention: str) -> bool:
    best = max(found, key=lambda name: name.log_prob, default=None)
    if best is None or best.text != mention or best.log_prob < _DECIDED:
        return False
    # A name that only a species has of which the document is silent is hardly meant.
    return set(best.species) != {UNSAID}


def _with_log_prob(name: CandidateName, log_prob: float) -> CandidateName:
    return replace(name, log_prob=log_prob, score=log_prob)


def _agreed(
    wanted: Sequence[Wanted], mentions: Sequence[str], names: Sequence[Sequence[CandidateName]]
) -> list[set[str]]:
    """For each mention those of its concepts that another mention of the document, in other words,
    names without a doubt: it is a name of that concept alone."""
    named: defaultdict[int, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for item, mention, item_names in zip(wanted, mentions, names, strict=True):
        for name in item_names:
            if name.is_exact and name.is_of_one:
                named[item.document][name.concepts[0]].add(mention)
    return [
        {
            concept_id
            for concept_id in {c for name in item_names for c in name.concepts}
            if named[item.document].get(concept_id, set()) - {mention}
        }
        for item, mention, item_names in zip(wanted, mentions, names, strict=True)
    ]
