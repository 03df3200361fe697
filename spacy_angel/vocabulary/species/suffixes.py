"""Disambiguating suffixes: `tp53 | homo sapiens`, `tp53 | mus musculus`.

A model that generates names cannot choose between the concepts of one name, such as a gene of man
and of mouse. With suffixes each of them has a name of its own to be generated (the idea of Garda
and Leser, BELHD, Bioinformatics 40(8), 2024). Only names of several concepts have suffixes.

A suffix has one or two parts. The first is chosen when a vocabulary is built (`SuffixRule`), for
instance the species. Where several concepts of a name have the same first part, their canonical
names follow, but for the concept whose canonical name is the name itself:

    tp53   human gene TP53              tp53 | homo sapiens
    tp53   mouse gene Trp53             tp53 | mus musculus | trp53   where mice have two of them
    p40    human gene IL12B             p40 | homo sapiens | il12b
    p40    human gene PSMD7             p40 | homo sapiens | psmd7

A name with one of its suffixes is an entry; a trie of a model that writes suffixes holds entries.
"""

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np

from ..changes.overlay import VocabularyOverlay
from ..names.concepts import normalize_name
from ..names.taxa import TAXA, is_taxon
from ..storage.strings import Strings, StringsBuilder, offsets_of, to_numpy
from ..storage.table import ConceptTable
from .orthologs import may_share_symbols

SuffixRule = Literal["species", "types", "names"]
SEPARATOR = " | "
"""Between a name and its suffix, and between the parts of a suffix."""
T = TypeVar("T")


def with_suffix(name: str, suffix: str | None) -> str:
    """name (str): in normal form. suffix (str | None): empty or None where it has none.
    RETURNS (str): what a model writes, e.g. `tp53 | homo sapiens`."""
    return f"{name}{SEPARATOR}{suffix}" if suffix else name


def first_part(suffix: str) -> str:
    """suffix (str): e.g. `homo sapiens | il12b`. RETURNS (str): what a document can tell of it,
    `homo sapiens`."""
    return suffix.split(SEPARATOR)[0]


def last_part(suffix: str) -> str:
    """suffix (str): e.g. `homo sapiens | il12b`. RETURNS (str): the canonical name that tells
    concepts of one first part apart, `il12b`; empty where none has to."""
    return suffix.partition(SEPARATOR)[2]


def disambiguate(
    name: str,
    owners: Sequence[T],
    species_of: Callable[[T], str | None],
    canonical_of: Callable[[T], str],
) -> dict[str, list[T]]:
    """Suffixes for the concepts of a name, e.g. of `p40` `homo sapiens | il12b` and
    `homo sapiens | psmd7`.

    name (str): in normal form.
    owners (Sequence[T]): its concepts, the one with the best claim to it first.
    species_of (Callable[[T], str | None]): concept → first part of its suffixes; None: the concept
        has no suffix, and the name alone leads to it.
    canonical_of (Callable[[T], str]): concept → its canonical name in normal form.
    RETURNS (dict[str, list[T]]): suffix → concepts, in their order; several where even canonical
        names are the same. The empty suffix is the name alone.
    """
    if len(owners) == 1:
        return {"": list(owners)}
    by_species: dict[str | None, list[T]] = {}
    for owner in owners:
        by_species.setdefault(species_of(owner), []).append(owner)
    by_suffix: dict[str, list[T]] = {}
    for species, members in by_species.items():
        for member in members:
            own = canonical_of(member) if species is not None and len(members) > 1 else ""
            parts = (species or "", "" if own == name else own)
            by_suffix.setdefault(SEPARATOR.join(filter(None, parts)), []).append(member)
    return by_suffix


class Suffixes:
    """The suffixes of a vocabulary's names, as it is now.

    vocabulary (VocabularyOverlay): names and concepts.
    rule (SuffixRule): what the first part of a suffix is. `species`: the species of a concept, one
        of whose types is a taxon, `NCBITaxon:9606`; other concepts have no suffix. `types`: the
        species, else the first type; a concept without types has no first part. `names`: there is
        no first part, the canonical name is the whole suffix.
    """

    def __init__(self, vocabulary: VocabularyOverlay, rule: SuffixRule) -> None:
        self.rule = rule
        self._vocabulary = vocabulary
        self._taxa: dict[str, str] = {}
        # by identifier, and the version of the vocabulary that they are of
        self._orthologs: dict[str, dict[str, str]] = {}
        self._version = 0

    def of(self, i: int) -> dict[str, list[str]]:
        """i (int): name index. RETURNS (dict[str, list[str]]): identifiers of its concepts by
        suffix; empty for a name that was removed."""
        owners = self._vocabulary.concept_ids_of(i)
        if not owners:
            return {}
        return disambiguate(self._vocabulary.name(i), owners, self.species_of, self._canonical_of)

    def species_of_types(self, types: Sequence[str]) -> str | None:
        """types (Sequence[str]): of a concept. RETURNS (str | None): what its suffixes begin
        with, see `disambiguate`."""
        if self.rule == "names":
            return ""
        taxon = next((name for name in types if is_taxon(name)), None)
        if taxon is not None:
            return self.taxon_name(taxon)
        if self.rule == "species":
            return None
        return normalize_name(types[0]) if types else ""

    def orthologs_of(self, concept_id: str) -> Mapping[str, str]:
        """concept_id (str): a gene of a vertebrate. RETURNS (Mapping[str, str]): by the first part
        of suffixes, `mus musculus`, the first gene of each vertebrate that has its symbol, its own
        species among them; case does not count."""
        if self._version != self._vocabulary.version:
            self._version = self._vocabulary.version
            self._orthologs = {}
        if concept_id not in self._orthologs:
            self._orthologs[concept_id] = self._find_orthologs(concept_id)
        return self._orthologs[concept_id]

    def _find_orthologs(self, concept_id: str) -> dict[str, str]:
        types = self._vocabulary.types_of(concept_id)
        if self.species_of_types(types) is None or not may_share_symbols(types):
            return {}
        symbol = self._canonical_of(concept_id)
        name = self._vocabulary.find_name(symbol)
        found: dict[str, str] = {}
        for other in () if name is None else self._vocabulary.concept_ids_of(name):
            types = self._vocabulary.types_of(other)
            species = self.species_of_types(types)
            if species and may_share_symbols(types) and self._canonical_of(other) == symbol:
                found.setdefault(species, other)
        return found

    def taxon_name(self, concept_id: str) -> str:
        """concept_id (str): e.g. `NCBITaxon:9606`. RETURNS (str): its name in normal form, as far
        as `taxa` or the stored vocabulary know it, else the identifier's."""
        if concept_id not in self._taxa:
            self._taxa[concept_id] = normalize_name(self._taxon_name(concept_id))
        return self._taxa[concept_id]

    def _taxon_name(self, concept_id: str) -> str:
        if concept_id in TAXA:
            return TAXA[concept_id].name
        table = self._vocabulary.table
        row = table.find_own_id(concept_id)
        return concept_id if row is None else table.concept(row).canonical_name

    def species_of(self, concept_id: str) -> str | None:
        """concept_id (str): its own identifier. RETURNS (str | None): see `species_of_types`."""
        return self.species_of_types(self._vocabulary.types_of(concept_id))

    def _canonical_of(self, concept_id: str) -> str:
        concept = self._vocabulary.concept(concept_id)
        return "" if concept is None else normalize_name(concept.canonical_name)


@dataclass(frozen=True, eq=False)
class StoredEntries:
    """The entries of the stored names: each name with each of its suffixes, sorted by name. A trie
    is compiled from them, and holds their numbers.

    With the names `il2` (0, one concept) and `tp53` (1, two), there are three entries: `names` is
    [0, 1, 1] and `suffixes` [-1, 0, 1].

    names (np.ndarray): int32[n], name index, ascending.
    suffixes (np.ndarray): int32[n], which of the texts is the suffix, -1 for none.
    texts (Strings): the suffixes, each once.
    concept_offsets (np.ndarray): int32[n + 1]; concepts (np.ndarray): int32[m]: the rows of the
        concepts of entry `i` are `concepts[concept_offsets[i]:concept_offsets[i + 1]]`.
    """

    names: np.ndarray
    suffixes: np.ndarray
    texts: Strings
    concept_offsets: np.ndarray
    concepts: np.ndarray

    @classmethod
    def build(cls, table: ConceptTable, suffixes: Suffixes) -> "StoredEntries":
        """table (ConceptTable): names and concepts. suffixes (Suffixes): the rule.
        RETURNS (StoredEntries): in memory."""
        name, concept = table.owners()
        starts = offsets_of(np.bincount(name, minlength=table.n_names))
        names, numbers, sizes, concepts = (array("i") for _ in range(4))
        texts: dict[str, int] = {}
        for i, text in enumerate(table.names):
            by_suffix = disambiguate(
                text,
                concept[starts[i] : starts[i + 1]].tolist(),
                lambda row: suffixes.species_of_types(table.types_of(row)),
                table.canonical_of,
            )
            for suffix, rows in by_suffix.items():
                names.append(i)
                numbers.append(texts.setdefault(suffix, len(texts)) if suffix else -1)
                sizes.append(len(rows))
                concepts.extend(rows)
        offsets = offsets_of(to_numpy(sizes))
        strings = StringsBuilder(texts).finish()
        return cls(to_numpy(names), to_numpy(numbers), strings, offsets, to_numpy(concepts))

    def __len__(self) -> int:
        return len(self.names)

    def suffix(self, number: int) -> str:
        """number (int): of an entry. RETURNS (str): its suffix, empty where it has none."""
        text = int(self.suffixes[number])
        return "" if text < 0 else self.texts[text]

    def of_name(self, i: int) -> range:
        """i (int): name index. RETURNS (range): its entries."""
        # of another type of integers the whole mapped column would be converted
        first, last = np.searchsorted(self.names, np.array([i, i + 1], dtype=self.names.dtype))
        return range(int(first), int(last))

    def with_suffixes(self, names: Strings) -> Iterator[str]:
        """names (Strings): of the table. YIELDS (str): what a model writes, entry by entry."""
        texts = list(self.texts)
        entry, n = 0, len(self)
        suffixes = self.suffixes
        indices = self.names
        for i, name in enumerate(names):
            while entry < n and indices[entry] == i:
                text = suffixes[entry]
                yield name if text < 0 else with_suffix(name, texts[text])
                entry += 1

    def leading_to(self, concepts: np.ndarray) -> np.ndarray:
        """concepts (np.ndarray): bool[n_concepts]. RETURNS (np.ndarray): bool[n], the entries
        that lead to one of them."""
        if not len(self):
            return np.zeros(0, dtype=bool)
        # every entry has a concept
        return np.logical_or.reduceat(concepts[self.concepts], self.concept_offsets[:-1])


class Entries:
    """All entries: those of the stored names, then those of names that were added or changed
    while running. An entry keeps its number as long as the program runs.

    stored (StoredEntries): of the table. vocabulary (VocabularyOverlay): changes. suffixes
        (Suffixes): the rule.
    """

    def __init__(
        self, stored: StoredEntries, vocabulary: VocabularyOverlay, suffixes: Suffixes
    ) -> None:
        self.stored = stored
        self._vocabulary = vocabulary
        self._suffixes = suffixes
        self._added: list[tuple[int, str]] = []
        self._numbers: dict[tuple[int, str], int] = {}
        self._wanted: dict[int, str] = {}
        self._version = -1

    def __len__(self) -> int:
        return len(self.stored) + len(self._added)

    def at(self, number: int) -> tuple[int, str]:
        """number (int): of an entry. RETURNS (tuple[int, str]): name index and suffix."""
        n = len(self.stored)
        if number >= n:
            return self._added[number - n]
        return int(self.stored.names[number]), self.stored.suffix(number)

    def added(self) -> dict[int, str]:
        """RETURNS (dict[int, str]): what a model writes for the entries that the table has not,
        by number; those that are gone are left out."""
        if self._version != self._vocabulary.version:
            self._version = self._vocabulary.version
            self._wanted = {}
            for i in sorted(self._vocabulary.touched):
                known = {self.stored.suffix(number) for number in self.stored.of_name(i)}
                for text in self._suffixes.of(i):
                    if text not in known:
                        name = with_suffix(self._vocabulary.name(i), text)
                        self._wanted[self._number(i, text)] = name
        return self._wanted

    def allowed(self, concepts: np.ndarray, allows: Callable[[str], bool]) -> np.ndarray:
        """Entries of a subset.

        concepts (np.ndarray): bool[n_concepts], of the table. allows (Callable[[str], bool]):
            whether a concept is in, by identifier.
        RETURNS (np.ndarray): bool[len(self)].
        """
        mask = np.zeros(len(self), dtype=bool)
        mask[: len(self.stored)] = self.stored.leading_to(concepts)
        for i in self._vocabulary.touched:
            by_suffix: Mapping[str, list[str]] = self._suffixes.of(i)
            for number in self.stored.of_name(i):
                mask[number] = any(map(allows, by_suffix.get(self.stored.suffix(number), ())))
            for text, concept_ids in by_suffix.items():
                if (added := self._numbers.get((i, text))) is not None:
                    mask[added] = any(map(allows, concept_ids))
        return mask

    def _number(self, i: int, suffix: str) -> int:
        if (i, suffix) not in self._numbers:
            self._numbers[i, suffix] = len(self)
            self._added.append((i, suffix))
        return self._numbers[i, suffix]
