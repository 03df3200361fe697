"""The names of the vocabulary, and the concepts that a mention may have by each of them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from ...vocabulary.names.concepts import normalize_name
from ...vocabulary.names.entity_types import is_foreign, is_gene
from ..types import Query
from .labels import subset_of_label

if TYPE_CHECKING:
    from ...vocabulary.changes.overlay import Subset
    from ...vocabulary.kb import ConceptKB
    from ..settings.linker_settings import LinkerSettings


class NameReader:
    """Reads names and concepts of a vocabulary, each once for a batch of documents.

    kb (ConceptKB): the vocabulary that is searched.
    settings (LinkerSettings): `types_by_label`.
    """

    def __init__(self, kb: "ConceptKB", settings: "LinkerSettings") -> None:
        self.kb = kb
        self._settings = settings
        self.texts: dict[int, str] = {}
        """Index of a name → the name in normal form, of all that were read."""
        self._index_of: dict[str, int | None] = {}
        self._concept_ids: dict[int, list[str]] = {}
        self._subsets: dict[str, Subset | None] = {}
        self._is_allowed: defaultdict[str, dict[str, bool]] = defaultdict(dict)
        """Label → concept → whether it allows it."""
        self._is_allowed_type: dict[tuple[str, tuple[str, ...]], bool] = {}

    def find(self, normals: Iterable[str]) -> None:
        """normals (Iterable[str]): texts in normal form, whose indices are needed."""
        new = list(set(normals) - self._index_of.keys())
        if new:
            indices = self.kb.find_names(new)
            self._index_of.update(zip(new, indices, strict=True))
            self.read([name for name in indices if name is not None])

    def index(self, text: str) -> int | None:
        """text (str): in any spelling. RETURNS (int | None): index of the name."""
        normal = normalize_name(text)
        if normal not in self._index_of:
            self.find([normal])
        return self._index_of[normal]

    def read(self, names: Iterable[int]) -> None:
        """names (Iterable[int]): indices of names whose texts and concepts are needed."""
        new = list(set(names) - self.texts.keys())
        if new:
            self.texts.update(zip(new, self.kb.name_texts(new), strict=True))
            self._concept_ids.update(zip(new, self.kb.concept_ids(new), strict=True))

    def is_name(self, text: str, label: str) -> bool:
        """text (str), label (str): of a mention. RETURNS (bool): whether it is a name of a concept
        that it may have: `cancer` is that of a crab, but no disease's of MeSH."""
        name = self.index(text)
        if name is None:
            return False
        allowed = self._allowed_concepts(label, self._concept_ids[name])
        return any(map(allowed.__getitem__, self._concept_ids[name]))

    def subset(self, label: str) -> "Subset | None":
        """label (str): of mentions. RETURNS (Subset | None): see `subset_of_label`."""
        if label not in self._subsets:
            self._subsets[label] = subset_of_label(label, self.kb, self._settings)
        return self._subsets[label]

    def concepts(self, query: Query, names: Sequence[int]) -> list[list[str]]:
        """The concepts that a mention may have by each of some names.

        query (Query): the mention. names (Sequence[int]): n names.
        RETURNS (list[list[str]]): of each those that its label and its rules allow; in the order of
            the vocabulary, or if the document tells their species, the most likely first.
        """
        self.read(names)
        found = list(map(self._concept_ids.__getitem__, names))
        constraint = query.constraint
        if constraint is not None and constraint.means is not None:
            # What a person has decided holds whatever types the label may have.
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
        """Find out which concepts a mention with a label may have: those with one of the types of
        the label; or else, where the label says that it is a disease, chemical, gene, species or
        cell line, all but those whose types are all of another of these kinds.

        RETURNS (Mapping[str, bool]): of these concepts at least.
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
