"""What was found for a mention becomes a link: by the model alone, by the ranker, or without either
where the mention was taken for the name that it is."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ..ranking.concepts import (
    EXACT_MATCH_PROBABILITY,
    NIL,
    Candidate,
    RankedConcept,
    choose_link,
    rank_concepts,
)
from ..ranking.features import MentionCandidates
from ..settings.linker_settings import LinkerSettings

if TYPE_CHECKING:
    from ...vocabulary.changes.curated import Constraint
    from ...vocabulary.kb import ConceptKB


@dataclass(frozen=True, slots=True)
class Link:
    """What is written on one mention, in plain values.

    kb_id (str): the identifier, or `NIL`.
    kb_ents (list[tuple[str, float]]): concepts with their probability, best first; none where the
        identifier is `NIL`, as scispaCy's hold nothing below its thresholds.
    candidates (list[dict[str, Any]]): `concept_id`, `name` (original spelling), `score`,
        `log_prob`, in the order of the search, all that were found; with the setting `rerank`
        also `probability`, their share of the concept's, and names with the most probable concept
        first. Where the model was not asked (`search.shortcuts`, or a rule says what is meant)
        `score` and `log_prob` are None, and there is a `probability`. With the setting `prefer`,
        or a rule that prefers an identifier, also `other_ids`, the concept's further identifiers;
        `suffix`, where the model wrote one, which may be empty.
    label (str): in the place of the mention's, whose concepts it has none of, see
        `other_labels`; empty: it keeps its own.
    """

    kb_id: str
    kb_ents: list[tuple[str, float]]
    candidates: list[dict[str, Any]]
    label: str = ""


class GeneratedCandidates(NamedTuple):
    """What was found for a mention.

    candidates (tuple[Candidate, ...]): in the order of the search, or the one that was taken
        without it; none for a mention that was not looked for.
    found (MentionCandidates | None): with the setting `rerank`, all that was found.
    is_unsearched (bool): whether it was taken without a search.
    constraint (Constraint | None): what rules of curation say of the mention.
    """

    candidates: tuple[Candidate, ...] = ()
    found: MentionCandidates | None = None
    is_unsearched: bool = False
    constraint: "Constraint | None" = None

    @property
    def is_decided(self) -> bool:
        """RETURNS (bool): whether a rule decides alone: for a concept, or that it is no mention."""
        return self.is_unsearched or (
            self.constraint is not None and not self.constraint.is_mention
        )

    @property
    def is_searched(self) -> bool:
        """RETURNS (bool): whether the model was asked."""
        return not self.is_decided and (self.found is None or self.found.is_searched)


def make_link(
    text: str,
    label: str,
    names: GeneratedCandidates,
    kb: "ConceptKB",
    settings: LinkerSettings,
    preferred: Mapping[str, str] = MappingProxyType({}),
) -> Link:
    """Decide for a concept, or for none.

    text (str), label (str): of the mention.
    names (GeneratedCandidates): found for it.
    kb (ConceptKB): the vocabulary that they were found in.
    settings (LinkerSettings): thresholds, weights, preferred identifiers.
    preferred (Mapping[str, str]): by rules of curation: identifiers in the place of others.
    RETURNS (Link): to be written on the mention.
    """
    if names.is_unsearched:
        (candidate,) = names.candidates
        link = _link_unsearched(candidate, kb)
    elif names.found is None:
        link = _link_by_model(text, names.candidates, kb, settings)
    else:
        link = _link_by_ranker(names.found, label, kb, settings)
    if settings.prefer or preferred:
        return _in_preferred_ids(link, kb, settings.prefer, preferred)
    return link


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
            candidate["score"],
            candidate["log_prob"],
            candidate.get("suffix"),
        )
        for candidate in candidates
    ]
    return _with_probabilities(rank_concepts(items, temperature))


def _link_unsearched(candidate: Candidate, kb: "ConceptKB") -> Link:
    probability = EXACT_MATCH_PROBABILITY
    return Link(
        kb_id=candidate.concept_id,
        kb_ents=[(candidate.concept_id, probability)],
        # The model was not asked.
        candidates=[
            _plain(candidate, kb) | {"score": None, "log_prob": None, "probability": probability}
        ],
    )


def _link_by_ranker(
    found: MentionCandidates, label: str, kb: "ConceptKB", settings: LinkerSettings
) -> Link:
    ranking = settings.ranker_in_use.rank(found, label)
    kb_id = choose_link(ranking.concepts, settings.threshold)
    unasked = {} if found.is_searched else {"score": None, "log_prob": None}
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
    plain = {
        "concept_id": candidate.concept_id,
        "name": kb.spelling(candidate.name),
        "score": candidate.score,
        "log_prob": candidate.log_prob,
    }
    return plain if candidate.suffix is None else plain | {"suffix": candidate.suffix}


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
