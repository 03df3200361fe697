"""Names of the vocabulary: the concepts that a mention may be linked to, and how the names resemble
the mention."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from ...vocabulary.names.concepts import normalize_name
from ...vocabulary.names.entity_type_table import STRICT
from ...vocabulary.names.entity_types import is_foreign, is_gene, label_of
from ...vocabulary.species.reader import priors_in_order
from ..mentions.labels import subset_of_label
from ..ranking.words import align
from ..types import FLOOR, MENTION, SPELLING, Candidate, Query

if TYPE_CHECKING:
    from ...vocabulary.changes.overlay import Subset
    from ...vocabulary.kb import ConceptKB
    from ...vocabulary.lookup.string_similarity import Similarity
    from ..settings.linker_settings import LinkerSettings

_RELATED = frozenset({"RELATED", "BROAD", "NARROW"})


class NameReader:
    """Reads names and concepts of a vocabulary, each once per batch of documents.

    kb (ConceptKB): the vocabulary.
    settings (LinkerSettings): settings with `types_by_label`.
    """

    def __init__(self, kb: "ConceptKB", settings: "LinkerSettings") -> None:
        self.kb = kb
        self._settings = settings
        self.texts: dict[int, str] = {}
        """Index of a name → its normal form, for all names read so far."""
        self._index_of: dict[str, int | None] = {}
        self._concept_ids: dict[int, list[str]] = {}
        self._subsets: dict[str, Subset | None] = {}
        self._is_allowed: defaultdict[str, dict[str, bool]] = defaultdict(dict)
        """Label → concept → whether a mention with the label may be linked to the concept."""
        self._is_allowed_type: dict[tuple[str, tuple[str, ...]], bool] = {}

    def find(self, normals: Sequence[str]) -> list[int | None]:
        """normals (Sequence[str]): n texts in normal form. RETURNS (list[int | None]): the index of
        each text in the vocabulary; None if it is not a name."""
        new = list(set(normals) - self._index_of.keys())
        if new:
            indices = self.kb.find_names(new)
            self._index_of.update(zip(new, indices, strict=True))
            self.read([name for name in indices if name is not None])
        return list(map(self._index_of.__getitem__, normals))

    def index(self, text: str) -> int | None:
        """text (str): a text, not necessarily in normal form. RETURNS (int | None): its index in
        the vocabulary; None if it is not a name."""
        return self.find([normalize_name(text)])[0]

    def read(self, names: Iterable[int]) -> None:
        """Read the texts and concepts of names.

        names (Iterable[int]): name indices.
        """
        new = list(set(names) - self.texts.keys())
        if new:
            self.texts.update(zip(new, self.kb.name_texts(new), strict=True))
            self._concept_ids.update(zip(new, self.kb.concept_ids(new), strict=True))

    def is_name(self, text: str, label: str) -> bool:
        """text (str), label (str): a mention and its label. RETURNS (bool): whether the mention is
        the name of a concept that the label allows. In MeSH, for example, `cancer` is the name of a
        crab, not of a disease."""
        [name] = self.find([normalize_name(text)])
        if name is None:
            return False
        allowed = self._allowed_concepts(label, self._concept_ids[name])
        return any(map(allowed.__getitem__, self._concept_ids[name]))

    def subset(self, label: str) -> "Subset | None":
        """label (str): label of mentions. RETURNS (Subset | None): see `subset_of_label`."""
        if label not in self._subsets:
            self._subsets[label] = subset_of_label(label, self.kb, self._settings)
        return self._subsets[label]

    def concepts(self, query: Query, names: Sequence[int]) -> list[list[str]]:
        """Find the concepts of names that a mention may be linked to.

        query (Query): the mention. names (Sequence[int]): n name indices.
        RETURNS (list[list[str]]): the concepts of each name that the mention's label and rules
            allow, in the order of the vocabulary; with `by_species`, the most likely ones first.
        """
        self.read(names)
        found = list(map(self._concept_ids.__getitem__, names))
        constraint = query.constraint
        if constraint is not None and constraint.means is not None:
            # A curator's decision overrides the types of the label.
            return [[c for c in ids if c == constraint.means] for ids in found]
        reader = self.kb.species_reader if self.kb.by_species else None
        if reader is not None:
            context, orthologs = query.mention.species_context, is_gene(query.label)
            for i, name in enumerate(names):
                if len(found[i]) > 1 or orthologs:
                    found[i] = reader.sort(name, context, orthologs=orthologs)
        is_allowed = self._allowed_concepts(query.label, list(chain.from_iterable(found)))
        excluded = () if constraint is None else constraint.excluded
        allowed = []
        for concept_ids in found:
            own = []
            for c in concept_ids:
                if is_allowed[c] and c not in excluded:
                    own.append(c)
            allowed.append(own)
        return allowed

    def _allowed_concepts(self, label: str, concept_ids: Sequence[str]) -> Mapping[str, bool]:
        """Check which concepts a label allows: those with one of the types of the label. A label
        without types allows all concepts, except that labels of diseases, chemicals, genes,
        species, and cell lines do not allow concepts of another one of these entity types.

        RETURNS (Mapping[str, bool]): whether each concept is allowed; includes concepts from
            earlier calls.
        """
        allowed = self._is_allowed[label]
        new = list(set(concept_ids) - allowed.keys())
        if not new:
            return allowed
        subset = self.subset(label)
        by_id = subset is not None and (subset.excluded or subset.concept_ids is not None)
        for concept_id, types in zip(new, self.kb.concept_types(new), strict=True):
            key = label, types
            if key not in self._is_allowed_type:
                self._is_allowed_type[key] = (
                    not is_foreign(label, types)
                    if subset is None or subset.types is None
                    else subset.allows_types(types)
                )
            is_allowed = self._is_allowed_type[key]
            if by_id and subset is not None:
                is_allowed = is_allowed and subset.allows(concept_id)
            allowed[concept_id] = is_allowed
        return allowed


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
