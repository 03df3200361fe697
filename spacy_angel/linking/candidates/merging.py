"""Candidates from two sides: names that are similar to a query, in letters or in meaning, and what
the search found."""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from ...model.mention import MENTION, SPELLING, Query
from ...model.name_encoder import shipped_name_encoder
from ...vocabulary.lookup.string_similarity import Similarity
from ...vocabulary.names.concepts import normalize_name
from ...vocabulary.names.entity_type_table import STRICT
from ...vocabulary.names.entity_types import label_of
from ...vocabulary.species.reader import ABSENT_SPECIES, priors_in_order
from ..ranking.alignment import align
from ..ranking.concepts import ConceptsOf
from ..ranking.context import content_words, context_overlap, words_around
from ..ranking.features import FLOOR, SHORT, CandidateName, MentionCandidates

if TYPE_CHECKING:
    from ...model.mention import Mention
    from ...search.search import Hypothesis
    from ...vocabulary.kb import ConceptKB

N_SIMILAR = 5
"""Names by string similarity for each query, and by meaning for each mention."""
N_CLOSE = 12
"""Names by their word pieces' vectors that the encoder chooses among."""
# Similar names that the model is asked for.
_MAX_ASKED = 8
# Suffixes of a similar name that the model is asked for, the likeliest ones.
_MOST_SUFFIXES = 6
# The search has decided where its best name is the mention itself, at this log-probability or
# above; under it, the model is asked for the names that are similar as strings.
_DECIDED = -2.0


@dataclass(frozen=True, slots=True)
class Request:
    """A mention that is looked for.

    mention (Mention): as the model reads it.
    document (int): number of its document.
    concepts (ConceptsOf): those of a name that the mention may have, where the document says
        which is the likeliest, in that order.
    allowed (np.ndarray | None): bool[n_names], the names of its subset; None: all.
    writes_suffixes (bool): the model writes disambiguating suffixes, so that each is a name of its
        own.
    is_gene (bool): it is named by symbols, which have no meaning.
    """

    mention: "Mention"
    document: int
    concepts: ConceptsOf
    allowed: np.ndarray | None = None
    writes_suffixes: bool = False
    is_gene: bool = False


class CandidateMerger:
    """The candidates of some mentions: names that are similar to a query, and names that the search
    found; those of a document speak for each other.

    Look for similar names first (`find_similar`), tell it what the search found for each mention
    (`add`), answer what the model thinks of the names that it gives back (`answer`), then `finish`.

    requests (Sequence[Request]): n mentions.
    kb (ConceptKB): the vocabulary that is searched.
    n_similar (int): most names by string similarity for each query.
    """

    def __init__(
        self, requests: Sequence[Request], kb: "ConceptKB", n_similar: int = N_SIMILAR
    ) -> None:
        self._requests = requests
        self._kb = kb
        self._n_similar = n_similar
        self._texts = [normalize_name(request.mention.text) for request in requests]
        self._queries = [_queries_of(request.mention) for request in requests]
        self._found: dict[int, list[CandidateName]] = {}
        self._similar: dict[int, list[CandidateName]] = {}
        self._nearest: dict[int, list[int]] = {}

    def find_similar(self, mentions: Sequence[int]) -> None:
        """mentions (Sequence[int]): those that may be searched. Finds the names whose letters are
        similar to those of a query of theirs."""
        similar = []
        for i in mentions:
            request, queries = self._requests[i], self._queries[i]
            self._nearest[i] = _nearest_names(request, self._kb, queries, self._n_similar)
            similar.append(_similar_names(request, self._kb, queries, self._nearest[i]))
        self._similar = dict(zip(mentions, similar, strict=True))
        worded = [i for i in mentions if not self._requests[i].is_gene]
        compared = _compared(
            [self._similar[i] for i in worded],
            [self._queries[i] for i in worded],
            "vector_similarity",
        )
        self._similar |= zip(worded, compared, strict=True)

    def unsearched(self) -> list[MentionCandidates]:
        """RETURNS (list[MentionCandidates]): one a mention, of what was found so far, as it would
        be ranked without the search."""
        return self._candidates(
            [self._found.get(i, self._similar.get(i, [])) for i in range(len(self._requests))],
            searched=(),
        )

    def find_close(self, mentions: Sequence[int]) -> None:
        """mentions (Sequence[int]): those that are searched. Finds names that are close in meaning
        where other words may be meant: those with the closest vectors of word pieces, and of some
        more those that the name encoder finds closest."""
        unsure = [i for i in mentions if self._needs_meaning(i)]
        texts = [self._queries[i][0].text for i in unsure]
        allowed = [self._requests[i].allowed for i in unsure]
        found = self._kb.meanings.find(texts, N_CLOSE, allowed)
        names = [
            [c.name for c in close if c.name not in self._nearest[i]]
            for i, close in zip(unsure, found, strict=True)
        ]
        all_texts = dict.fromkeys([*texts, *(self._kb.name(n) for some in names for n in some)])
        places = {text: place for place, text in enumerate(all_texts)}
        vectors = shipped_name_encoder().embed(list(places)).astype(np.float32)
        similar = []
        for i, text, some in zip(unsure, texts, names, strict=True):
            own = vectors[[places[self._kb.name(name)] for name in some]]
            order = np.argsort(-(own @ vectors[places[text]]), kind="stable")
            closest = dict.fromkeys([*range(len(some))[: self._n_similar], *order.tolist()])
            chosen = [some[place] for place in [*closest][: 2 * self._n_similar]]
            similar.append(_similar_names(self._requests[i], self._kb, self._queries[i], chosen))
        compared = _compared(similar, [self._queries[i] for i in unsure], "vector_similarity")
        for i, some_names in zip(unsure, compared, strict=True):
            self._similar[i] += [replace(name, is_similar=False) for name in some_names]

    def _needs_meaning(self, i: int) -> bool:
        """Whether other words may be meant: not of an exact match, a short form, or a gene."""
        texts = {query.text for query in self._queries[i]}
        is_long = len(self._texts[i].replace(" ", "")) > SHORT
        if not is_long or self._requests[i].writes_suffixes:
            return False
        return not any(self._kb.name(name) in texts for name in self._nearest[i])

    def add(self, i: int, hypotheses: "Sequence[Hypothesis]") -> list[str]:
        """i (int): a mention. hypotheses (Sequence[Hypothesis]): names that the search found for
        it, best first. RETURNS (list[str]): similar names that the model is to be asked for, as it
        writes them. E.g. of `asthma`:

            best of the search     similar names
            asthma            -0.3 none
            allergic asthma   -0.3 candidates, with the least log-probability of the search's
            allergic asthma   -5.0 candidates, and the model is asked

        `asthma` of an absent species alone counts as another name."""
        request, text, queries = self._requests[i], self._texts[i], self._queries[i]
        found = _names_found(request, self._kb, queries, hypotheses)
        similar = self._similar[i]
        by_letters = {(name.name, name.suffix) for name in similar if name.is_similar}
        found = [replace(n, is_similar=(n.name, n.suffix) in by_letters) for n in found]
        self._found[i] = found
        if _is_decided(found, text):
            self._similar[i] = []
            return []
        known = {(name.name, name.suffix) for name in found}
        least = min((name.log_prob for name in found), default=FLOOR)
        new = (name for name in similar if (name.name, name.suffix) not in known)
        ranked = sorted(new, key=lambda n: -n.vector_similarity - n.similarity.cosine)
        similar = [replace(name, log_prob=least, score=least) for name in ranked]
        self._similar[i] = similar
        if max((name.log_prob for name in found), default=FLOOR) >= _DECIDED:
            return []
        return [self._kb.written(name.name, name.suffix) for name in similar[:_MAX_ASKED]]

    def add_exact(self, i: int, name: "Hypothesis") -> None:
        """i (int): a mention. name (Hypothesis): its only candidate, which was taken without a
        search: an exact match, or what a rule says of a mention that is read as something else."""
        self._found[i] = _names_found(self._requests[i], self._kb, self._queries[i], [name])

    def answer(self, i: int, log_probs: Sequence[float]) -> None:
        """i (int): a mention. log_probs (Sequence[float]): of the names that `add` gave."""
        similar = self._similar[i]
        asked = zip(similar, log_probs, strict=False)
        self._similar[i] = [
            *(replace(name, log_prob=value, score=value) for name, value in asked),
            *similar[len(log_probs) :],
        ]

    def finish(self) -> list[MentionCandidates]:
        """RETURNS (list[MentionCandidates]): one a mention; those that were not added are as
        `unsearched` gives them."""
        searched = [i for i in self._found if i in self._similar]
        worded = [i for i in searched if not self._requests[i].is_gene]
        queries = [self._queries[i] for i in worded]
        found = _compared([self._found[i] for i in worded], queries, "vector_similarity")
        self._found |= zip(worded, found, strict=True)
        names = [self._found.get(i, self._similar.get(i, [])) for i in range(len(self._texts))]
        for i in searched:
            names[i] = self._found[i] + self._similar[i]
        compared = _compared([names[i] for i in worded], queries, "meaning")
        for i, some in zip(worded, compared, strict=True):
            names[i] = some
        return self._candidates(names, searched)

    def _candidates(
        self, names: Sequence[Sequence[CandidateName]], searched: Collection[int]
    ) -> list[MentionCandidates]:
        """names (Sequence[Sequence[CandidateName]]): of each mention. searched (Collection[int]):
        those mentions that the model was asked for. RETURNS (list[MentionCandidates]): theirs."""
        words: dict[str, list[frozenset[str]]] = {}
        # What was taken without a search is not ranked.
        in_context = [
            _with_context(some, request, self._kb, words) if i in self._similar else some
            for i, (some, request) in enumerate(zip(names, self._requests, strict=True))
        ]
        coherent = _coherent(self._requests, self._texts, in_context)
        return [
            MentionCandidates(text, tuple(some), frozenset(concepts), i in searched)
            for i, (text, some, concepts) in enumerate(
                zip(self._texts, in_context, coherent, strict=True)
            )
        ]


def _queries_of(mention: "Mention") -> list[Query]:
    """RETURNS (list[Query]): in normal form, each text once, the one that the model reads first."""
    sources: dict[str, str] = {}
    for query in mention.queries or (Query(mention.text, MENTION),):
        sources.setdefault(normalize_name(query.text), query.source)
    return [Query(text, source) for text, source in sources.items() if text]


class _Match(NamedTuple):
    """The query that a name is most like, and how similar they are. Where that query is a corrected
    spelling, `similarity` and `text` are of the mention as written, if that is a query too: letters
    that the correction changed earn a name nothing."""

    query: Query
    similarity: Similarity
    text: str


def _compare(kb: "ConceptKB", queries: Sequence[Query], names: Sequence[int]) -> list[_Match]:
    """RETURNS (list[_Match]): one a name, of equal queries the first."""
    written = next((i for i, query in enumerate(queries) if query.source == MENTION), 0)
    by_query = [kb.nearest.compare(query.text, names) for query in queries]
    matches = []
    for name, similarities in zip(names, zip(*by_query, strict=True), strict=True):
        keys = [
            (kb.name(name) == query.text, similarity.cosine + similarity.edits)
            for query, similarity in zip(queries, similarities, strict=True)
        ]
        best = keys.index(max(keys))
        own = written if queries[best].source == SPELLING else best
        matches.append(_Match(queries[best], similarities[own], queries[own].text))
    return matches


def _names_found(
    request: Request, kb: "ConceptKB", queries: Sequence[Query], hypotheses: "Sequence[Hypothesis]"
) -> list[CandidateName]:
    """The names of the search; none for a mention that is punctuation alone, which has nothing in
    common with any."""
    if not queries:
        return []
    permitted = [(h, request.concepts(h.name, h.suffix)) for h in hypotheses]
    permitted = [(h, concepts) for h, concepts in permitted if concepts]
    matches = _compare(kb, queries, [h.name for h, _ in permitted])
    names = [
        _candidate_name(request, kb, match, h.name, h.suffix, concepts, h.log_prob, h.score)
        for (h, concepts), match in zip(permitted, matches, strict=True)
    ]
    return [name for name in names if name.concepts]


def _nearest_names(
    request: Request, kb: "ConceptKB", queries: Sequence[Query], n_similar: int
) -> list[int]:
    """RETURNS (list[int]): the names most similar to each query as strings, each once."""
    names: dict[int, None] = {}
    for query in queries:
        nearest = kb.nearest.find(query.text, n_similar + len(names), request.allowed)
        new = [name for name, _ in nearest if name not in names][:n_similar]
        names |= dict.fromkeys(new)
    return list(names)


def _similar_names(
    request: Request, kb: "ConceptKB", queries: Sequence[Query], names: Sequence[int]
) -> list[CandidateName]:
    """RETURNS (list[CandidateName]): of the names, with each suffix that they may have."""
    return [
        _candidate_name(request, kb, match, name, suffix, concepts, FLOOR, FLOOR)
        for name, match in zip(names, _compare(kb, queries, names), strict=True)
        for suffix, concepts in _suffixes(request, kb, name).items()
    ]


def _compared(
    names: Sequence[Sequence[CandidateName]],
    queries: Sequence[Sequence[Query]],
    field: Literal["vector_similarity", "meaning"],
) -> list[list[CandidateName]]:
    """The names of each mention with the greatest cosine with a query, by the static vectors of
    their words or by the name encoder."""
    encoder, is_meaning = shipped_name_encoder(), field == "meaning"
    cosines = _cosines(names, queries, encoder.embed if is_meaning else encoder.static_vectors)
    return [
        [
            replace(name, meaning=cosine) if is_meaning else replace(name, vector_similarity=cosine)
            for name, cosine in zip(own, some, strict=True)
        ]
        for own, some in zip(names, cosines, strict=True)
    ]


def _cosines(
    names: Sequence[Sequence[CandidateName]],
    queries: Sequence[Sequence[Query]],
    vectors_of: Callable[[Sequence[str]], np.ndarray],
) -> list[list[float]]:
    """names (Sequence[Sequence[CandidateName]]), queries (Sequence[Sequence[Query]]): of each
    mention. vectors_of (Callable): n texts → float[n, d], normalized.
    RETURNS (list[list[float]]): of each name the greatest cosine with a query; 1 where all names
        are queries.
    """
    texts: dict[str, int] = {}
    for own, some in zip(names, queries, strict=True):
        if not all(name.is_query for name in own):
            for text in (*(query.text for query in some), *(name.text for name in own)):
                texts.setdefault(text, len(texts))
    vectors = vectors_of(list(texts)).astype(np.float32)
    cosines = []
    for own, some in zip(names, queries, strict=True):
        if all(name.is_query for name in own):
            cosines.append([1.0] * len(own))
            continue
        left = [texts[query.text] for query in some]
        right = [texts[name.text] for name in own]
        cosines.append((vectors[left] @ vectors[right].T).max(axis=0).tolist())
    return cosines


def _suffixes(request: Request, kb: "ConceptKB", name: int) -> dict[str | None, Sequence[str]]:
    """RETURNS (dict[str | None, Sequence[str]]): by suffix, the most probable first, or None where
    the model writes none, the concepts of a name that the mention may have."""
    permitted = request.concepts(name, None)
    if not request.writes_suffixes:
        return {None: permitted} if permitted else {}
    ranks = {concept_id: rank for rank, concept_id in enumerate(permitted)}
    ways: list[tuple[str | None, list[str]]] = [
        (suffix, allowed)
        for suffix, concepts in kb.suffixes_of(name).items()
        if (allowed := [c for c in concepts if c in ranks])
    ]
    ways.sort(key=lambda way: min(ranks[c] for c in way[1]))
    return dict(ways[:_MOST_SUFFIXES])


def _candidate_name(
    request: Request,
    kb: "ConceptKB",
    match: _Match,
    name: int,
    suffix: str | None,
    concepts: Sequence[str],
    log_prob: float,
    score: float,
) -> CandidateName:
    query = match.query
    text = kb.name(name)
    if query.source == SPELLING:
        # A drug that nobody knows is no typo.
        concepts = [c for c in concepts if label_of(kb.types_of(c)) not in STRICT]
    # Only of a query itself is it asked whether it is canonical, and who else has it.
    is_query = text == query.text
    canonical = [c for c in concepts if is_query and kb.names_of(c)[0] == name]
    has_others = suffix is not None and is_query
    second = [c for c in concepts if is_query and kb.suffixes and kb.is_second_name(name, c)]
    return CandidateName(
        name=name,
        text=text,
        log_prob=log_prob,
        score=score,
        query=query.source,
        is_query=is_query,
        similarity=match.similarity,
        alignment=align(match.text, text, kb.nearest.word_weight),
        concepts=tuple(concepts),
        canonical=frozenset(canonical),
        suffix=suffix,
        has_others=has_others and len(request.concepts(name, None)) > len(concepts),
        # Where the model has no say, the document has.
        priors=priors_in_order(len(concepts)) if kb.suffixes and len(concepts) > 1 else (),
        species_ranks=kb.species_ranks(concepts, request.mention.species_context),
        same_case=frozenset(
            c for c in canonical if kb.suffixes and kb[c].canonical_name == request.mention.text
        ),
        second=frozenset(second),
        scopes=tuple(kb.scope_of(name, c) for c in concepts) if is_query else (),
    )


def _with_context(
    names: Sequence[CandidateName],
    request: Request,
    kb: "ConceptKB",
    words: dict[str, list[frozenset[str]]],
) -> list[CandidateName]:
    """The names with what the words around the mention say of their concepts.

    words (dict[str, list[frozenset[str]]]): `content_words` by concept, gets what it lacks.
    """
    if all(name.context for name in names):
        return list(names)
    around = words_around(request.mention)
    mention = normalize_name(request.mention.text)
    overlaps: dict[str, float] = {}
    for name in names:
        for concept_id in name.concepts:
            if concept_id not in overlaps:
                if concept_id not in words:
                    words[concept_id] = content_words(map(kb.name, kb.names_of(concept_id)))
                overlaps[concept_id] = context_overlap(words[concept_id], around, mention)
    return [replace(name, context=tuple(overlaps[c] for c in name.concepts)) for name in names]


def _is_decided(found: Sequence[CandidateName], mention: str) -> bool:
    """Whether the best name of the search is the mention itself, see `CandidateMerger.add`."""
    best = max(found, key=lambda name: name.log_prob, default=None)
    if best is None or best.text != mention or best.log_prob < _DECIDED:
        return False
    # A name that only a species has of which the document is silent is hardly meant.
    return set(best.species_ranks) != {ABSENT_SPECIES}


def _coherent(
    requests: Sequence[Request], mentions: Sequence[str], names: Sequence[Sequence[CandidateName]]
) -> list[set[str]]:
    """For each mention those of its concepts that another mention of the document, in other words,
    names without a doubt: it is a name of that concept alone."""
    named: defaultdict[int, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for request, mention, item_names in zip(requests, mentions, names, strict=True):
        for name in item_names:
            if name.is_exact and name.is_of_one:
                named[request.document][name.concepts[0]].add(mention)
    return [
        {
            concept_id
            for concept_id in {c for name in item_names for c in name.concepts}
            if named[request.document].get(concept_id, set()) - {mention}
        }
        for request, mention, item_names in zip(requests, mentions, names, strict=True)
    ]
