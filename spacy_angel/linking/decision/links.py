"""What was found for a mention becomes a link: by the model alone, by the reranker, or by neither
if the mention was taken for the name that it is."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..ranking.concepts import EXACT_MATCH_PROBABILITY, RankedConcept, choose_link, rank_concepts
from ..ranking.ranker import Ranking
from ..settings.linker_settings import LinkerSettings
from ..types import NIL, Candidate, Link, Query

if TYPE_CHECKING:
    from ...vocabulary.kb import ConceptKB


def make_links(
    queries: Sequence[Query],
    written: Sequence[str],
    kb: "ConceptKB",
    settings: LinkerSettings,
    preferred: Mapping[str, str] = MappingProxyType({}),
) -> list[Link]:
    """Decide on a concept, or on none, for each mention.

    queries (Sequence[Query]): with their candidates. written (Sequence[str]): the mentions as
        written.
    kb (ConceptKB): the vocabulary that they were found in.
    settings (LinkerSettings): thresholds, weights, preferred identifiers.
    preferred (Mapping[str, str]): by rules of curation: identifiers in the place of others.
    RETURNS (list[Link]): to be written on the mentions.
    """
    ranked = [q for q in queries if settings.rerank and not q.matched_exactly]
    rankings = iter(settings.ranker_in_use.rank(ranked) if ranked else ())
    links = []
    for query, text in zip(queries, written, strict=True):
        if query.matched_exactly:
            link = _link_exact_match(query, kb)
        elif settings.rerank:
            link = _link_by_ranker(query, next(rankings), kb, settings)
        else:
            link = _link_by_model(text, query.candidates, kb, settings)
        if settings.prefer or preferred:
            link = _in_preferred_ids(link, kb, settings.prefer, preferred)
        links.append(link)
    return links


def rank_candidates(
    candidates: Iterable[dict[str, Any]], temperature: float
) -> list[tuple[str, float]]:
    """The concepts that stand in candidates, whatever the thresholds of links.

    candidates (Iterable[dict[str, Any]]): of one mention, as a `Link` has them.
    temperature (float): of the model's probabilities; candidates that have probabilities of their
        own keep these.
    RETURNS (list[tuple[str, float]]): concepts with their probability, best first.
    """
    candidates = list(candidates)
    if all("probability" in candidate for candidate in candidates):
        sums: defaultdict[str, list[float]] = defaultdict(list)
        for candidate in candidates:
            sums[candidate["concept_id"]].append(candidate["probability"])
        # Of equally probable concepts the first is the ranker's.
        ranked = [(concept_id, fsum(parts)) for concept_id, parts in sums.items()]
        return sorted(ranked, key=lambda pair: -pair[1])
    numbers: dict[str, int] = {}
    items = [
        Candidate(
            candidate["concept_id"],
            numbers.setdefault(candidate["name"], len(numbers)),
            log_prob=candidate["log_prob"],
            score=candidate["score"],
        )
        for candidate in candidates
    ]
    return _with_probabilities(rank_concepts(items, temperature))


def _link_exact_match(query: Query, kb: "ConceptKB") -> Link:
    [candidate] = query.candidates
    probability = EXACT_MATCH_PROBABILITY
    # The model was not asked.
    unasked = {"score": None, "log_prob": None, "probability": probability}
    return Link(
        kb_id=candidate.concept_id,
        kb_ents=[(candidate.concept_id, probability)],
        candidates=[_plain(candidate, kb) | unasked],
    )


def _link_by_ranker(
    query: Query, ranking: Ranking, kb: "ConceptKB", settings: LinkerSettings
) -> Link:
    kb_id = choose_link(ranking.concepts, settings.threshold)
    unasked = {} if query.is_searched else {"score": None, "log_prob": None}
    return Link(
        kb_id=kb_id,
        kb_ents=[] if kb_id == NIL else _with_probabilities(ranking.concepts),
        candidates=[
            _plain(candidate, kb) | unasked | {"probability": probability}
            for candidate, probability in ranking.candidates
        ],
    )


def _link_by_model(
    text: str, candidates: Sequence[Candidate], kb: "ConceptKB", settings: LinkerSettings
) -> Link:
    ranked = rank_concepts(candidates, settings.search.temperature)
    min_log_prob = settings.search.min_log_prob
    if min_log_prob is not None and ranked:
        own = kb.name_index(text)
        # A name of the vocabulary is not outside it, however improbable the model finds it.
        if any(c.name == own and c.concept_id == ranked[0].concept_id for c in candidates):
            min_log_prob = None
    kb_id = choose_link(ranked, settings.threshold, min_log_prob)
    return Link(
        kb_id=kb_id,
        kb_ents=[] if kb_id == NIL else _with_probabilities(ranked),
        candidates=[_plain(candidate, kb) for candidate in candidates],
    )


def _in_preferred_ids(
    link: Link, kb: "ConceptKB", prefixes: Sequence[str], preferred: Mapping[str, str]
) -> Link:
    """The same link in the identifiers that the user prefers."""
    own_ids = {candidate["concept_id"] for candidate in link.candidates}
    ids = {own: _preferred_ids(own, kb, prefixes, preferred.get(own)) for own in own_ids}
    # Two concepts may be written as one.
    sums: defaultdict[str, list[float]] = defaultdict(list)
    for own, probability in link.kb_ents:
        sums[ids[own][0]].append(probability)
    ents = [(concept_id, min(fsum(parts), 1.0)) for concept_id, parts in sums.items()]
    return Link(
        kb_id=link.kb_id if link.kb_id == NIL else ids[link.kb_id][0],
        kb_ents=sorted(ents, key=lambda pair: -pair[1]),
        candidates=[
            candidate | {"concept_id": ids[own][0], "other_ids": ids[own][1:]}
            for candidate in link.candidates
            for own in (candidate["concept_id"],)
        ],
    )


def _plain(candidate: Candidate, kb: "ConceptKB") -> dict[str, Any]:
    return {
        "concept_id": candidate.concept_id,
        "name": kb.spelling(candidate.name),
        "score": candidate.score,
        "log_prob": candidate.log_prob,
    }


def _with_probabilities(ranked: Iterable[RankedConcept]) -> list[tuple[str, float]]:
    return [(concept.concept_id, concept.probability) for concept in ranked]


def _preferred_ids(
    concept_id: str, kb: "ConceptKB", prefixes: Sequence[str], chosen: str | None = None
) -> list[str]:
    """All identifiers of a concept, the one to write first.

    concept_id (str): its own identifier.
    kb (ConceptKB): the vocabulary.
    prefixes (Sequence[str]): preferred prefixes, best first, in any case.
    chosen (str | None): an identifier to write regardless of the prefixes.
    RETURNS (list[str]): with `["MONDO", "MESH"]` e.g. `["MONDO:0005015", "MESH:D003920"]`. Its own
        identifier precedes alternates of the same prefix, and comes first where no prefix fits;
        alternates by which the vocabulary finds another concept do not count.
    """
    if chosen is not None:
        rest = _preferred_ids(kb.resolve(chosen) or concept_id, kb, prefixes)
        return [chosen, *(one for one in rest if one != chosen)]
    concept = kb[concept_id]
    ids = [concept.concept_id, *concept.alternate_ids]
    ranks = {prefix.lower(): rank for rank, prefix in enumerate(prefixes)}
    fit = [
        (ranks[prefix], i)
        for i, one in enumerate(ids)
        if (prefix := one.partition(":")[0].lower()) in ranks and kb.resolve(one) == ids[0]
    ]
    first = ids.pop(min(fit)[1] if fit else 0)
    return [first, *ids]
