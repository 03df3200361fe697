"""Turn the names found for a mention into candidates: look up their concepts, and compute string
similarity, word overlap, and features from the vocabulary."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from ...vocabulary.names.entity_type_table import STRICT
from ...vocabulary.names.entity_types import label_of
from ...vocabulary.species.reader import priors_in_order
from ..mentions.names import NameReader
from ..ranking.words import align
from ..types import FLOOR, MENTION, SPELLING, Candidate, Query

if TYPE_CHECKING:
    from ...vocabulary.kb import ConceptKB
    from ...vocabulary.lookup.string_similarity import Similarity

_RELATED = frozenset({"RELATED", "BROAD", "NARROW"})


class _Resemblance(NamedTuple):
    """A name and the wording that it resembles most.

    name (int): index of the name.
    concept_ids (Sequence[str]): its concepts that the mention may be linked to.
    source (str), is_query (bool): see `Candidate`.
    compared (str): the text that the name is compared with, in normal form: the wording; or, if the
        wording is a corrected spelling, the mention as written, so that the correction does not
        increase the similarity.
    similarity (Similarity): string similarity of this text and the name.
    """

    name: int
    concept_ids: Sequence[str]
    source: str
    is_query: bool
    compared: str
    similarity: "Similarity"


def make_candidates(query: Query, names: Sequence[int], reader: NameReader) -> list[Candidate]:
    """Turn the names found for a mention into candidates, which the model has not scored yet.

    query (Query): the mention; if it consists only of punctuation, there are no candidates.
    names (Sequence[int]): indices of the names.
    reader (NameReader): reads the vocabulary.
    RETURNS (list[Candidate]): one per name and concept, in the order of the names.
    """
    if not query.texts:
        return []
    kb = reader.kb
    rows = _resembled(query, names, reader)
    words = align(
        query.text,
        [(row.compared, reader.texts[row.name]) for row in rows],
        kb.nearest.index.word_weights,
    )
    concept_ids = [c for row in rows for c in row.concept_ids]
    species: Mapping[str, int] = {}
    if kb.by_species:
        ranks = kb.species_ranks(concept_ids, query.mention.species_context)
        species = dict(zip(concept_ids, ranks, strict=True))
    of_name = _features_of_names(query, rows, kb)
    candidates = []
    for row, alignment in zip(rows, words, strict=True):
        n, name = len(row.concept_ids), row.name
        # With `by_species`, the concepts are ordered by the species of the document.
        priors = priors_in_order(n) if kb.by_species and n > 1 else (1 / n,) * n
        for concept_id, prior in zip(row.concept_ids, priors, strict=True):
            # These two features are for exact matches only.
            scope, name_rank = of_name.get((name, concept_id), (0, 0.0))
            candidate = Candidate(
                *(concept_id, name, reader.texts[name], FLOOR, FLOOR),
                *(row.source, row.is_query, True),
                *row.similarity,
                *alignment,
                scope=scope,
                name_rank=name_rank,
                species=species.get(concept_id, 0),
                has_homonyms=n > 1,
                prior=prior,
            )
            candidates.append(candidate)
    return candidates


def _resembled(query: Query, names: Sequence[int], reader: NameReader) -> list[_Resemblance]:
    """RETURNS (list[_Resemblance]): one per name with an allowed concept; if wordings are equally
    similar, the first is used."""
    kb = reader.kb
    pairs = zip(names, reader.concepts(query, names), strict=True)
    named = [(name, concept_ids) for name, concept_ids in pairs if concept_ids]
    texts = [reader.texts[name] for name, _ in named]
    similar = {wording: kb.nearest.index.compare(wording, texts) for wording in query.texts}
    sources = list(query.texts.values())
    written = [*query.texts][sources.index(MENTION) if MENTION in sources else 0]
    rows = []
    for i, ((name, concept_ids), text) in enumerate(zip(named, texts, strict=True)):
        best, wording = (False, -1.0), ""
        for other, similarities in similar.items():
            key = other == text, sum(similarities[i])
            if key > best:
                best, wording = key, other
        source = query.texts[wording]
        compared = wording
        if source == SPELLING:
            compared = written
            # An unknown name of a drug or gene is rarely a misspelled known name.
            types = kb.concept_types(concept_ids)
            concept_ids = [
                c for c, own in zip(concept_ids, types, strict=True) if label_of(own) not in STRICT
            ]
        if concept_ids:
            similarity = similar[compared][i]
            is_query = text == wording
            rows.append(_Resemblance(name, concept_ids, source, is_query, compared, similarity))
    return rows


def _features_of_names(
    query: Query, rows: Sequence[_Resemblance], kb: "ConceptKB"
) -> Mapping[tuple[int, str], tuple[int, float]]:
    """RETURNS (Mapping[tuple[int, str], tuple[int, float]]): name and concept → `scope` and
    `name_rank`, see `Candidate`; for exact matches only."""
    exact = [(row.name, c) for row in rows if row.is_query for c in row.concept_ids]
    if not exact:
        return {}
    concept_ids = list(map(itemgetter(1), exact))
    canonical = kb.canonical_names(concept_ids) if kb.by_species else concept_ids
    of_name = {}
    for (name, c), names, spelling in zip(
        exact, kb.concept_names(concept_ids), canonical, strict=True
    ):
        is_canonical = names[:1] == [name]
        scope = is_canonical - (kb.scope_of(name, c) in _RELATED)
        is_same = kb.by_species and is_canonical and spelling == query.mention.text
        is_second = kb.by_species and names[1:2] == [name]
        of_name[name, c] = scope, is_same + 0.5 * is_second
    return of_name
