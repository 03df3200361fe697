"""Names of the vocabulary: the concepts that a mention may be linked to, and how the names resemble
the mention."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from itertools import chain, filterfalse
from typing import TYPE_CHECKING

import numpy as np

from ...model.name_encoder import shipped_name_encoder
from ...vocabulary.names.composites import coordinated_names
from ...vocabulary.names.concepts import normalize_name
from ...vocabulary.names.entity_type_table import STRICT
from ...vocabulary.names.entity_types import is_foreign, is_gene, label_of
from ...vocabulary.species.reader import priors_in_order
from ..mentions.labels import subset_of_label
from ..ranking.words import align
from ..types import MENTION, SPELLING, Candidate, Query

if TYPE_CHECKING:
    from ...vocabulary.changes.overlay import Subset
    from ...vocabulary.kb import ConceptKB
    from ..settings.linker_settings import LinkerSettings

_RELATED = frozenset({"RELATED", "BROAD", "NARROW"})


class NameReader:
    """Reads names and concepts of a vocabulary, each once per batch of documents.

    kb (ConceptKB): the vocabulary.
    settings (LinkerSettings): settings with `types_by_label`.
    """

    def __init__(self, kb: "ConceptKB", settings: "LinkerSettings") -> None:
        self.kb = kb
        self.texts: dict[int, str] = {}
        """Index of a name → its normal form, for all names read so far."""
        self._index_of: dict[str, int | None] = {}
        self._concept_ids: dict[int, list[str]] = {}
        self._is_allowed: defaultdict[str, dict[str, bool]] = defaultdict(dict)
        """Label → concept → whether a mention with the label may be linked to the concept."""
        self.subset: Callable[[str], Subset | None] = cache(
            partial(subset_of_label, kb=kb, settings=settings)
        )
        """Label → the concepts that it allows, see `subset_of_label`."""

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
        concept_ids = self._concept_ids[name]
        return any(map(self._allowed_concepts(label, concept_ids).__getitem__, concept_ids))

    def share_concepts(self, *texts: str) -> bool:
        """texts (str): two texts. RETURNS (bool): whether both are names of the same concept."""
        found = [set(self._concept_ids[i]) for i in map(self.index, texts) if i is not None]
        return len(found) == 2 and not found[0].isdisjoint(found[1])

    def coordinated(self, text: str, label: str) -> list[str]:
        """text (str), label (str): a mention and its label. RETURNS (list[str]): see
        `coordinated_names`."""
        return coordinated_names(text, partial(self.is_name, label=label))

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
        every = list(chain.from_iterable(found))
        is_allowed = self._allowed_concepts(query.label, every).__getitem__
        excluded = set(filterfalse(is_allowed, every))
        if constraint is not None:
            excluded |= constraint.excluded
        return [[c for c in ids if c not in excluded] for ids in found] if excluded else found

    def _allowed_concepts(self, label: str, concept_ids: Sequence[str]) -> Mapping[str, bool]:
        """RETURNS (Mapping[str, bool]): whether a label allows each of these and of earlier
        concepts, i.e. whether it has one of the types of the label. A label without types allows
        all concepts, except that labels of diseases, chemicals, genes, species, and cell lines do
        not allow concepts of another one of these entity types."""
        known = self._is_allowed[label]
        new = list(set(concept_ids) - known.keys())
        if new:
            subset = self.subset(label)
            allowed = new if subset is None else subset.allowed(new)
            if subset is None or subset.types is None:
                types = self.kb.concept_types(allowed)
                allowed = [
                    c for c, own in zip(allowed, types, strict=True) if not is_foreign(label, own)
                ]
            known |= dict.fromkeys(new, False) | dict.fromkeys(allowed, True)
        return known


def make_candidates(query: Query, names: Sequence[int], reader: NameReader) -> list[Candidate]:
    """Turn the names found for a mention into candidates, which the model has not scored yet. A
    name is compared with the wording that it resembles most (the first one if several are equally
    similar), or, if that is a corrected spelling, with the mention as written, so that the
    correction does not increase the similarity.

    query (Query): the mention, with at least one wording.
    names (Sequence[int]): indices of the names.
    reader (NameReader): reads the vocabulary.
    RETURNS (list[Candidate]): one per name and concept, in the order of the names.
    """
    kb, index = reader.kb, reader.kb.nearest.index
    is_symbol = len(query.mention.text) == 2 and query.mention.text.isupper()
    found = [
        (name, reader.texts[name], concept_ids)
        for name, concept_ids in zip(names, reader.concepts(query, names), strict=True)
        if concept_ids and not (is_symbol and _is_other_symbol(query, name, concept_ids, reader))
    ]
    if not found:
        return []
    texts, wordings = [text for _, text, _ in found], list(query.texts)
    similar = [index.compare(wording, texts) for wording in wordings]
    sources = list(query.texts.values())
    written = sources.index(MENTION) if MENTION in sources else 0
    nearest, compared = [], []
    for text, *of_name in zip(texts, *similar, strict=True):
        keys = [(w == text, sum(own)) for w, own in zip(wordings, of_name, strict=True)]
        nearest.append(keys.index(max(keys)))
        compared.append(written if sources[nearest[-1]] == SPELLING else nearest[-1])
    pairs = [(wordings[i], text) for i, text in zip(compared, texts, strict=True)]
    aligned = align(query.text, pairs, index.word_weights)
    vectors = _static_cosines(query, texts)
    candidates: list[Candidate] = []
    for i, (name, text, concept_ids) in enumerate(found):
        source = sources[nearest[i]]
        if source == SPELLING:
            # An unknown name of a drug or gene is rarely a misspelled known name.
            types = zip(concept_ids, kb.concept_types(concept_ids), strict=True)
            concept_ids = [c for c, own in types if label_of(own) not in STRICT]
        n = len(concept_ids)
        # With `by_species`, the concepts are ordered by the species of the document.
        priors = priors_in_order(n) if kb.by_species and n > 1 else (1 / max(n, 1),) * n
        is_query = wordings[nearest[i]] == text
        for concept_id, prior in zip(concept_ids, priors, strict=True):
            c = Candidate(concept_id, name, text, source=source, is_query=is_query, prior=prior)
            c.cosine, c.edits = similar[compared[i]][i]
            c.missing, c.added, c.overlap, c.number = aligned[i]
            c.vectors = vectors[i]
            candidates.append(c)
    if kb.by_species:
        own_ids = [c.concept_id for c in candidates]
        ranks = kb.species_ranks(own_ids, query.mention.species_context)
        for c, rank in zip(candidates, ranks, strict=True):
            c.species = rank
    _compare_exact(query, [c for c in candidates if c.is_query], kb)
    return candidates


def _static_cosines(query: Query, texts: Sequence[str]) -> list[float]:
    """RETURNS (list[float]): for each name, the highest cosine of its static vector with that of a
    wording; 1 for names of genes, and if all names are exact matches."""
    if is_gene(query.label) or query.texts.keys() >= set(texts):
        return [1.0] * len(texts)
    vectors = shipped_name_encoder().static_vectors([*query.texts, *texts])
    return highest_cosines(vectors, len(query.texts))


def highest_cosines(vectors: np.ndarray, n: int) -> list[float]:
    """vectors (np.ndarray): float32[n + m, d], normalized; those of n wordings, and of m names.
    n (int): number of wordings.
    RETURNS (list[float]): for each name, the highest cosine with a wording."""
    cosines: list[float] = (vectors[:n] @ vectors[n:].T).max(axis=0).tolist()
    return cosines


def _is_other_symbol(
    query: Query, name: int, concept_ids: Sequence[str], reader: NameReader
) -> bool:
    """RETURNS (bool): whether a mention of two capitals equals the symbol of an element apart from
    case: `CD` is not cadmium, `Cd`."""
    text = query.mention.text
    if reader.texts[name] != text.lower():
        return False
    names = set(chain.from_iterable(reader.kb[c].names for c in concept_ids))
    return text.capitalize() in names and text not in names and not is_gene(query.label)


def _compare_exact(query: Query, candidates: Sequence[Candidate], kb: "ConceptKB") -> None:
    """Set `scope` and `name_rank` of exact matches."""
    if not candidates:
        return
    concept_ids = [c.concept_id for c in candidates]
    canonical = kb.canonical_names(concept_ids) if kb.by_species else concept_ids
    of_concept = zip(candidates, kb.concept_names(concept_ids), canonical, strict=True)
    for c, names, spelling in of_concept:
        is_canonical = names[:1] == [c.name]
        c.scope = is_canonical - (kb.scope_of(c.name, c.concept_id) in _RELATED)
        if kb.by_species:
            is_same = is_canonical and spelling == query.mention.text
            c.name_rank = is_same + 0.5 * (names[1:2] == [c.name])
