"""Turn candidates into links, with the reranker, with the model's scores alone, or directly for
exact matches."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from spacy.tokens import Span

from ...component.probability import other_labels_of
from ..mentions.labels import links_label
from ..ranking.ranker import (
    EXACT_MATCH_PROBABILITY,
    Ranker,
    Ranking,
    choose_link,
    rank_concepts,
    sum_by_concept,
)
from ..settings.linker_settings import DecisionSettings, LinkerSettings
from ..types import NIL, Link, Query

if TYPE_CHECKING:
    from ...vocabulary.kb import ConceptKB


def make_links(
    queries: Sequence[Query],
    kb: "ConceptKB",
    settings: DecisionSettings,
    ranker: Ranker | None = None,
    preferred: Mapping[str, str] = MappingProxyType({}),
) -> list[Link]:
    """Decide on a concept or NIL for each mention.

    queries (Sequence[Query]): mentions with their candidates.
    kb (ConceptKB): the vocabulary.
    settings (DecisionSettings): threshold and preferred prefixes.
    ranker (Ranker | None): the reranker; None: the model alone decides.
    preferred (Mapping[str, str]): concept → identifier that a curation rule prefers.
    RETURNS (list[Link]): one link per mention.
    """
    ranked = [] if ranker is None else [q for q in queries if not q.matched_exactly]
    rankings = iter([] if ranker is None else ranker.rank(ranked))
    names = list(dict.fromkeys([c.name for q in queries for c in q.candidates]))
    spelling_of = dict(zip(names, kb.first_spellings(names), strict=True))
    links = []
    for query in queries:
        threshold = settings.threshold
        if query.matched_exactly:
            p = EXACT_MATCH_PROBABILITY
            ranking = Ranking(
                [(c.concept_id, p) for c in query.candidates], [(c, p) for c in query.candidates]
            )
            # A curator's decision is not subject to the threshold.
            threshold = None if query.constraint and query.constraint.means else threshold
        else:
            ranking = rank_concepts(query.candidates) if ranker is None else next(rankings)
        kb_id = choose_link(ranking.concepts, threshold)
        candidates = [
            {
                "concept_id": c.concept_id,
                "name": spelling_of[c.name],
                "score": c.score if query.is_searched else None,
                "log_prob": c.log_prob if query.is_searched else None,
                "probability": p,
            }
            for c, p in ranking.candidates
        ]
        link = Link(kb_id, [] if kb_id == NIL else ranking.concepts, candidates)
        if settings.prefer or preferred:
            link = _in_preferred_ids(link, kb, settings.prefer, preferred)
        links.append(link)
    return links


def rank_candidates(candidates: Iterable[Mapping[str, Any]]) -> list[tuple[str, float]]:
    """candidates (Iterable[Mapping[str, Any]]): candidates of a mention, as in `Link.candidates`.
    RETURNS (list[tuple[str, float]]): concepts and probabilities, best first, regardless of the
        threshold."""
    sums = sum_by_concept((c["concept_id"], c["probability"]) for c in candidates)
    # Sorting is stable, so ties keep the order of the reranker.
    return sorted(sums.items(), key=lambda pair: -pair[1])


def _in_preferred_ids(
    link: Link, kb: "ConceptKB", prefixes: Sequence[str], preferred: Mapping[str, str]
) -> Link:
    """RETURNS (Link): the link with the identifiers that the user prefers."""
    own_ids = {candidate["concept_id"] for candidate in link.candidates}
    ids = {own: _preferred_ids(own, kb, prefixes, preferred.get(own)) for own in own_ids}
    # Two concepts may have the same preferred identifier.
    sums = sum_by_concept((ids[own][0], probability) for own, probability in link.kb_ents)
    ents = [(concept_id, min(probability, 1.0)) for concept_id, probability in sums.items()]
    return Link(
        kb_id=link.kb_id if link.kb_id == NIL else ids[link.kb_id][0],
        kb_ents=sorted(ents, key=lambda pair: -pair[1]),
        candidates=[
            candidate | {"concept_id": ids[own][0], "other_ids": ids[own][1:]}
            for candidate in link.candidates
            for own in (candidate["concept_id"],)
        ],
    )


def _preferred_ids(
    concept_id: str, kb: "ConceptKB", prefixes: Sequence[str], chosen: str | None = None
) -> list[str]:
    """List all identifiers of a concept, starting with the preferred one.

    concept_id (str): identifier of the concept.
    kb (ConceptKB): the vocabulary.
    prefixes (Sequence[str]): preferred prefixes, best first; case is ignored.
    chosen (str | None): the preferred identifier, regardless of the prefixes.
    RETURNS (list[str]): the identifiers, e.g. `["MONDO:0005015", "MESH:D003920"]` for the prefixes
        `["MONDO", "MESH"]`. The concept's own identifier is preferred to alternates with the same
        prefix, and comes first if no prefix matches. Alternates that the vocabulary resolves to
        another concept are never preferred.
    """
    if chosen is not None:
        rest = _preferred_ids(kb.resolve(chosen) or concept_id, kb, prefixes)
        return [chosen, *(other for other in rest if other != chosen)]
    concept = kb[concept_id]
    ids = [concept.concept_id, *concept.alternate_ids]
    ranks = {prefix.lower(): rank for rank, prefix in enumerate(prefixes)}
    fit = [
        (ranks[prefix], i)
        for i, own in enumerate(ids)
        if (prefix := own.partition(":")[0].lower()) in ranks and kb.resolve(own) == ids[0]
    ]
    first = ids.pop(min(fit)[1] if fit else 0)
    return [first, *ids]


def other_readings(
    spans: Sequence[Span],
    found: Sequence[Query | None],
    links: Sequence[Link | None],
    settings: LinkerSettings,
) -> list[tuple[int, Span]]:
    """Find other labels for mentions that are NIL under their own label. For example, a chemical
    that the recognizer took for a gene is linked if the vocabulary has no such gene.

    spans (Sequence[Span]): mentions of a document.
    found (Sequence[Query | None]), links (Sequence[Link | None]): the query and link of each
        mention; mentions with curation rules are skipped.
    settings (LinkerSettings): settings that determine which labels are linked.
    RETURNS (list[tuple[int, Span]]): indices of mentions, and the mentions with other labels.
    """
    return [
        (i, Span(span.doc, span.start, span.end, label=label))
        for i, (span, names, link) in enumerate(zip(spans, found, links, strict=True))
        if names is not None and names.constraint is None
        if link is not None and link.kb_id == NIL and links_label(span.label_, settings)
        for label in other_labels_of(span)
        if links_label(label, settings)
    ]


def with_other_labels(
    links: Sequence[Link | None],
    readings: Sequence[tuple[int, Span]],
    their_links: Sequence[Link | None],
) -> list[Link | None]:
    """Replace links by better ones under other labels.

    links (Sequence[Link | None]): links of the mentions of a document.
    readings (Sequence[tuple[int, Span]]), their_links (Sequence[Link | None]): indices of mentions,
        the mentions with other labels, and their links.
    RETURNS (list[Link | None]): the links. If a mention can be linked under other labels, its link
        is replaced by the one with the highest product of label and link probability.
    """
    chosen = list(links)
    best: dict[int, float] = {}
    for (mention, span), link in zip(readings, their_links, strict=True):
        if link is None or link.kb_id == NIL:
            continue
        score = other_labels_of(span)[span.label_] * link.kb_ents[0][1]
        if score > best.get(mention, 0.0):
            best[mention] = score
            chosen[mention] = replace(link, label=span.label_)
    return chosen
