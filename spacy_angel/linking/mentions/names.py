"""Names of the vocabulary, and which of their concepts a mention may be linked to."""

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
