"""What the vocabulary says of names for the queries of a batch."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...vocabulary.names.entity_type_table import STRICT
from ...vocabulary.names.entity_types import is_gene, label_of
from ...vocabulary.species.reader import ABSENT_SPECIES, priors_in_order
from ..mentions.permitted import is_allowed_type
from ..ranking.alignment import align
from ..ranking.features import is_short
from ..types import FLOOR, MENTION, SPELLING, Candidate, Query

if TYPE_CHECKING:
    from ...vocabulary.changes.overlay import Subset
    from ...vocabulary.kb import ConceptKB
    from ...vocabulary.lookup.string_similarity import Similarity

_RELATED = frozenset({"RELATED", "BROAD", "NARROW"})


class FoundName(NamedTuple):
    """A name found for a query. log_prob (float), score (float): see `Candidate`."""

    name: int
    log_prob: float = FLOOR
    score: float = FLOOR


class NameReader:
    """Reads names and concepts of a vocabulary, each once for a batch.

    kb (ConceptKB): the vocabulary that is searched.
    subset_of (Mapping[str, Subset | None]): what each label is limited to.
    """

    def __init__(self, kb: "ConceptKB", subset_of: "Mapping[str, Subset | None]") -> None:
        self.kb = kb
        self.subset_of = subset_of
        self.texts: dict[int, str] = {}
        """Index of a name → the name in normal form, of all that were read."""
        self._ids: dict[int, list[str]] = {}
        self._is_allowed: dict[tuple[str, str], bool] = {}

    def read(self, names: Iterable[int]) -> None:
        """names (Iterable[int]): indices of names whose texts and concepts are needed."""
        new = [name for name in dict.fromkeys(names) if name not in self.texts]
        if new:
            self.texts.update(zip(new, self.kb.name_texts(new), strict=True))
            self._ids.update(zip(new, self.kb.concept_ids(new), strict=True))

    def concepts(self, query: Query, name: int) -> list[str]:
        """The concepts of a name that a mention may have.

        query (Query): the mention. name (int): index of the name.
        RETURNS (list[str]): those that its label and its rules allow; in the order of the
            vocabulary, or if the document tells their species, the most likely first.
        """
        if name not in self._ids:
            self.read([name])
        concept_ids = self._ids[name]
        constraint = query.constraint
        if constraint is not None and constraint.means is not None:
            # What a person has decided holds whatever types the label may have.
            return [c for c in concept_ids if c == constraint.means]
        if (reader := self.kb.species_reader) is not None:
            needs_orthologs = is_gene(query.label)
            if len(concept_ids) > 1 or needs_orthologs:
                context = query.mention.species_context
                concept_ids = reader.sort(name, context, orthologs=needs_orthologs)
        if constraint is not None:
            concept_ids = [c for c in concept_ids if constraint.allows(c)]
        return [c for c in concept_ids if self._allows(query.label, c)]

    def exact_match(self, query: Query) -> int | None:
        """The name that a mention is, if it needs no search.

        query (Query): the mention.
        RETURNS (int | None): None for what is no name, or one of several concepts; for up to
            `SHORT` letters, which may be a short form of something else; for a mention that is read
            in another spelling; and for a concept of a species that the document does not name.
        """
        if not query.texts or is_short(query.text) or query.texts.get(query.text) == SPELLING:
            return None
        name = self.kb.name_index(query.mention.text)
        if name is None:
            return None
        self.read([name])
        own = self.concepts(query, name)
        is_absent = self.kb.species_ranks(own, query.mention.species_context) == (ABSENT_SPECIES,)
        return None if len(own) != 1 or is_absent else name

    def candidates(self, query: Query, found: Sequence[FoundName]) -> list[Candidate]:
        """The names with each of their concepts that a mention may have.

        query (Query): the mention; one of punctuation alone has nothing in common with any name.
        found (Sequence[FoundName]): names.
        RETURNS (list[Candidate]): in the order of the names.
        """
        if not query.texts:
            return []
        self.read([f.name for f in found])
        pairs = [(f, self.concepts(query, f.name)) for f in found]
        pairs = [(f, concepts) for f, concepts in pairs if concepts]
        resembled = self._resembled(query, [f.name for f, _ in pairs])
        candidates: list[Candidate] = []
        for (f, concepts), (wording, written, likeness) in zip(pairs, resembled, strict=True):
            source, text = query.texts[wording], self.texts[f.name]
            if source == SPELLING:
                # A drug that nobody knows is no typo.
                concepts = [c for c in concepts if label_of(self.kb.types_of(c)) not in STRICT]
            is_query = text == wording
            words = align(query.text, written, text, self.kb.nearest.word_weight)
            species = self.kb.species_ranks(concepts, query.mention.species_context)
            n = len(concepts)
            # If the model has no say, the document has.
            priors = (
                priors_in_order(n) if self.kb.by_species and n > 1 else (1 / n,) * n if n else ()
            )
            candidates += [
                Candidate(
                    concept_id,
                    f.name,
                    text,
                    f.log_prob,
                    f.score,
                    source,
                    is_query,
                    True,
                    likeness.cosine,
                    likeness.edits,
                    *words,
                    # Only of the wording itself does it matter whose canonical name it is.
                    scope=self._scope(f.name, concept_id) if is_query else 0,
                    name_rank=self._name_rank(query, f.name, concept_id) if is_query else 0.0,
                    species=species[i] if species else 0,
                    has_homonyms=n > 1,
                    prior=priors[i],
                )
                for i, concept_id in enumerate(concepts)
            ]
        return candidates

    def _allows(self, label: str, concept_id: str) -> bool:
        key = (label, concept_id)
        if key not in self._is_allowed:
            subset = self.subset_of[label]
            self._is_allowed[key] = is_allowed_type(concept_id, label, subset, self.kb)
        return self._is_allowed[key]

    def _resembled(self, query: Query, names: Sequence[int]) -> "list[tuple[str, str, Similarity]]":
        """Find the wording that each name resembles most; of equal ones the first.

        RETURNS (list[tuple[str, str, Similarity]]): the wording, and the text that the name is
            compared with, and how similar they are. That text is the wording; for a corrected
            spelling it is the mention as written, if that is a wording too: letters that the
            correction changed earn a name nothing.
        """
        wordings = list(query.texts)
        written = next((t for t, source in query.texts.items() if source == MENTION), wordings[0])
        similar = {text: self.kb.nearest.compare(text, names) for text in wordings}
        found = []
        for i, name in enumerate(names):
            keys = [
                (self.texts[name] == t, similar[t][i].cosine + similar[t][i].edits)
                for t in wordings
            ]
            wording = wordings[keys.index(max(keys))]
            compared = written if query.texts[wording] == SPELLING else wording
            found.append((wording, compared, similar[compared][i]))
        return found

    def _scope(self, name: int, concept_id: str) -> int:
        is_canonical = self.kb.names_of(concept_id)[0] == name
        return is_canonical - (self.kb.scope_of(name, concept_id) in _RELATED)

    def _name_rank(self, query: Query, name: int, concept_id: str) -> float:
        if not self.kb.by_species:
            return 0.0
        is_canonical = self.kb.names_of(concept_id)[0] == name
        is_same = is_canonical and self.kb[concept_id].canonical_name == query.mention.text
        return is_same + 0.5 * self.kb.is_second_name(name, concept_id)
