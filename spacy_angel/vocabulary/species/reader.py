"""Species context: which species a document is about near a mention.

Several species have a gene called TP53; a study of mice means Trp53. Words that stand for a
species (`mice`, `patients`, `zebrafish`) and mentions of species are found in the text. The most
frequent and nearest ones around a mention make up its species context, e.g. `mus musculus, homo
sapiens`, by which the concepts of a name are sorted.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import accumulate
from typing import NamedTuple

from ..changes.overlay import VocabularyOverlay
from ..names.concepts import normalize_name
from ..names.entity_types import is_cell_line, label_of
from ..names.taxa import (
    HOST,
    HUMAN,
    METHODS,
    MOUSE,
    NAME,
    PREFIX,
    SIGN,
    TAXA,
    WORD,
    is_taxon,
    is_virus,
)

MAX_SPECIES = 2
"""Maximum number of species in a species context."""
MAIN_SPECIES, OTHER_SPECIES, ABSENT_SPECIES = 1, 2, 3
"""Species ranks of a concept, see `SpeciesReader.rank`."""
# At this distance, in characters, a word counts half as much as next to the mention.
_HALF = 100.0
# Maximum number of words on either side of a mention, so that time is linear in the text.
_MAX_WORDS = 512
# Prior of a concept relative to that of the concept before it, among the concepts of a name. It
# roughly matches the accuracy of choosing human genes, or genes of the document's species, first.
_NEXT = 0.15
# Hundreds of genes are called “uncharacterized protein”; none gets a prior of zero.
_MIN_PRIOR = 1e-9
# Maximum number of concepts of a name whose orthologs are looked up.
_MAX_SIBLINGS = 8
_MAX_ORTHOLOGS = 1 << 14
_WORD = re.compile(r"[^\W_]+")
# Vertebrates, whose symbols follow the human ones; in other species a symbol can be another gene:
# `Trh` is a tryptophan hydroxylase in flies, TRH a human hormone.
_VERTEBRATES = frozenset(
    f"{PREFIX}{number}"
    for number in (9606, 10090, 10116, 7955, 9031, 8355, 8364, 9913, 9823, 9615, 9544, 9598)
)


# Words that never indicate a species.
_NONE = ""


class SpeciesWord(NamedTuple):
    """A word that indicates a species, as `mice` indicates `mus musculus`.

    start (int): offset of its first character.
    end (int): offset after its last character.
    species (str): scientific name in normal form, e.g. `mus musculus`; empty for a word that names
        a method, and so hides the species in it.
    """

    start: int
    end: int
    species: str


class SpeciesReader:
    """Finds the species in a text, and sorts concepts by them.

    vocabulary (VocabularyOverlay): the vocabulary, with its current changes. The species of a
        concept is the first taxon among its types, e.g. `NCBITaxon:9606`. Taxa among the stored
        types are recognized by their words in `taxa`, or by their names.
    """

    def __init__(self, vocabulary: VocabularyOverlay) -> None:
        self._vocabulary = vocabulary
        self._taxon_name = cache(self._find_taxon_name)
        # These two depend on the version of the vocabulary.
        self._own = lru_cache(1)(self._find_own)
        self._orthologs = lru_cache(_MAX_ORTHOLOGS)(self._find_orthologs)
        self._species: dict[tuple[str, ...], str] = {}
        types = list(filter(is_taxon, vocabulary.table.types))
        taxa = TAXA.values() if types else ()
        self._usual = (TAXA[HUMAN].name,) if types else ()
        for taxon in taxa:
            self._take(taxon.of(HOST), taxon.name)
        self._hosts = frozenset(self._species)
        self._take(METHODS if types else (), _NONE)
        for concept_id in types:
            name = self._taxon_name(concept_id)
            self._take(_words_of_taxon(concept_id, name), name)
        # A text may be about species that are not in the vocabulary.
        for taxon in taxa:
            self._take(taxon.of(NAME, WORD, SIGN), taxon.name)
        self._longest = max(map(len, self._species), default=0)

    def find(self, text: str, spans: Iterable[tuple[int, int, str]] = ()) -> list[SpeciesWord]:
        """Find the words of a text that indicate a species.

        text (str): text of the document.
        spans (Iterable[tuple[int, int, str]]): mentions of species: start, end, and identifier,
            e.g. `NCBITaxon:10116`. They replace the words that they overlap, except words of
            methods and hosts (`taxa`); of several mentions at one position, the first is used.
            Viruses whose genes are not in the vocabulary are ignored.
        RETURNS (list[SpeciesWord]): in the order of the text. If mice are hosts of human tissue
            (`nude mice`), words for mice are left out. Species whose genes are not in the
            vocabulary are only included if the text has no others: they are mostly tools to produce
            or test a gene of another species, like *E. coli*.
        """
        mentions: dict[tuple[int, int], str] = {}
        for start, end, concept_id in spans:
            if is_taxon(concept_id):
                name = self._taxon_name(concept_id)
                # Genes of a virus are rarely meant; usually, they are those of its host.
                is_host_meant = is_virus(name) and name not in self._species.values()
                mentions.setdefault((start, end), _NONE if is_host_meant else name)
        found = list(self._find(text))
        hosts = {word for word in found if _words(text[word.start : word.end]) in self._hosts}
        fixed = [word for word in found if word in hosts or word.species == _NONE]
        known = _apart((SpeciesWord(*span, species) for span, species in mentions.items()), fixed)
        ignored = {_NONE, TAXA[MOUSE].name} if hosts else {_NONE}
        words = sorted(w for w in [*known, *_apart(found, known)] if w.species not in ignored)
        own = self._own(self._vocabulary.version)
        return [word for word in words if word.species in own] or words

    def has_genes_of(self, concept_id: str) -> bool:
        """concept_id (str): identifier of a taxon. RETURNS (bool): whether the vocabulary has
        concepts of this species other than cell lines."""
        return self._taxon_name(concept_id) in self._own(self._vocabulary.version)

    def _find_own(self, version: int) -> frozenset[str]:
        """Species of all concepts except cell lines."""
        lines = [name for name in self._vocabulary.types if _is_line([name])]
        beside = self._vocabulary.types_beside(lines)
        return frozenset(map(self._taxon_name, filter(is_taxon, beside)))

    def _find_taxon_name(self, concept_id: str) -> str:
        """Name of a taxon in normal form, if `taxa` or the vocabulary has one."""
        if concept_id in TAXA:
            return normalize_name(TAXA[concept_id].name)
        table = self._vocabulary.table
        row = table.find_own_id(concept_id)
        return normalize_name(concept_id if row is None else table.canonical_names([row])[0])

    def _species_of(self, types: Sequence[str]) -> str:
        """Name of the species of a concept with these types; empty if it has none."""
        return next((self._taxon_name(name) for name in types if is_taxon(name)), "")

    def _take(self, phrases: Iterable[str], species: str) -> None:
        for words in map(_words, phrases):
            if words:
                self._species.setdefault(words, species)

    def _find(self, text: str) -> Iterator[SpeciesWord]:
        """Find the longest known phrases, without overlaps."""
        words = [(match[0], match.start(), match.end()) for match in _WORD.finditer(text.lower())]
        first = 0
        while first < len(words):
            for n in range(min(self._longest, len(words) - first), 0, -1):
                phrase = words[first : first + n]
                species = self._species.get(tuple(word for word, _, _ in phrase))
                if species is not None:
                    yield SpeciesWord(phrase[0][1], phrase[-1][2], species)
                    break
            else:
                n = 1
            first += n

    def context_of(self, species_words: Sequence[SpeciesWord], start: int, end: int) -> str:
        """Get the species context of a mention. The weight of a word is 1 / (1 + distance / 100
        characters).

        species_words (Sequence[SpeciesWord]): all species words of the text, in order; the nearest
            512 on either side of the mention are used.
        start (int): offset of the first character of the mention.
        end (int): offset after its last character.
        RETURNS (str): at most `MAX_SPECIES` species, in descending order of the total weight of
            their words, e.g. `mus musculus, homo sapiens`; empty if the text has no species word.
        """
        weights: dict[str, float] = {}
        first = bisect_left(species_words, start, key=lambda word: word.start)
        for word in species_words[max(first - _MAX_WORDS, 0) : first + _MAX_WORDS]:
            distance = max(word.start - end, start - word.end, 0)
            weights[word.species] = weights.get(word.species, 0.0) + 1 / (1 + distance / _HALF)
        best = sorted(weights, key=lambda species: (-weights[species], species))
        return ", ".join(best[:MAX_SPECIES])

    def sort(self, name: int, species_context: str, *, orthologs: bool) -> list[str]:
        """Sort the concepts of a name by how likely they are, before the model is used.

        name (int): name index.
        species_context (str): species context of the mention.
        orthologs (bool): add orthologs for species in the context (or human, if it is empty) that
            the name does not cover. A text about rats means the rat gene even by a name that is
            only listed for the human one.
        RETURNS (list[str]): concepts of the species in the context, in its order; then human ones,
            if the vocabulary has species; then the others. Within a species, concepts whose
            canonical name equals the name except for punctuation come first (IL6 for IL-6), then
            those whose second name it is, because the full name of a gene follows its symbol.
        """
        groups = self._groups(name)
        concept_ids = [c for ids in groups.values() for c in ids]
        if orthologs:
            for species, gene in self._missing_orthologs(concept_ids, species_context):
                groups.setdefault((species, ""), []).append(gene)
        if len(groups) < 2:
            return [c for ids in groups.values() for c in ids]
        bare = _bare(self._vocabulary.name(name))
        expected = [*species_context.split(", "), *self._usual] if species_context else self._usual
        ranks = {species: rank for rank, species in reversed(list(enumerate(expected)))}
        names = self._vocabulary.concept_names(concept_ids)
        second = {c for c, own in zip(concept_ids, names, strict=True) if own[1:2] == [name]}
        ordered = sorted(
            groups,
            key=lambda group: (
                ranks.get(group[0], len(expected)),
                _bare(group[1]) not in (bare, ""),
                second.isdisjoint(groups[group]),
            ),
        )
        return [concept_id for group in ordered for concept_id in groups[group]]

    def _groups(self, name: int) -> dict[tuple[str, str], list[str]]:
        """Group the concepts of a name by species and, if several are of one species, by canonical
        name (except the name itself). For `p40`, the genes IL12B and PSMD7 are under (homo sapiens,
        il12b) and (homo sapiens, psmd7)."""
        (concept_ids,) = self._vocabulary.concept_ids([name])
        if len(concept_ids) < 2:
            return {("", ""): concept_ids}
        text = self._vocabulary.name(name)
        by_species: dict[str, list[str]] = {}
        types = self._vocabulary.concept_types(concept_ids)
        for concept_id, own in zip(concept_ids, types, strict=True):
            by_species.setdefault(self._species_of(own), []).append(concept_id)
        groups: dict[tuple[str, str], list[str]] = {}
        for species, members in by_species.items():
            names = [text] * len(members)
            if species and len(members) > 1:
                names = list(map(normalize_name, self._vocabulary.canonical_names(members)))
            for member, own_name in zip(members, names, strict=True):
                key = species, "" if own_name == text else own_name
                groups.setdefault(key, []).append(member)
        return groups

    def _missing_orthologs(
        self, concept_ids: Sequence[str], species_context: str
    ) -> Iterator[tuple[str, str]]:
        missing = dict.fromkeys(species_context.split(", ") if species_context else self._usual)
        for types in self._vocabulary.concept_types(concept_ids):
            missing.pop(self._species_of(types), None)
        if not missing:
            return
        version = self._vocabulary.version
        orthologs = [self._orthologs(sibling, version) for sibling in concept_ids[:_MAX_SIBLINGS]]
        for species in missing:
            genes = (by_species[species] for by_species in orthologs if species in by_species)
            yield from ((species, gene) for gene in dict.fromkeys(genes))

    def _find_orthologs(self, concept_id: str, version: int) -> dict[str, str]:
        """By species, the first gene of each vertebrate with the symbol of this gene."""
        found: dict[str, str] = {}
        vocabulary = self._vocabulary
        types = vocabulary.types_of(concept_id)
        if not self._species_of(types) or not may_share_symbols(types):
            return found
        symbol = normalize_name(vocabulary.canonical_names([concept_id])[0])
        (name,) = vocabulary.find_names([symbol])
        others = [] if name is None else vocabulary.concept_ids([name])[0]
        names = vocabulary.canonical_names(others)
        all_types = vocabulary.concept_types(others)
        for other, own_name, types in zip(others, names, all_types, strict=True):
            species = self._species_of(types)
            if species and may_share_symbols(types) and normalize_name(own_name) == symbol:
                found.setdefault(species, other)
        return found

    def rank(self, types: Sequence[str], species_context: str) -> int:
        """Get the species rank of a concept. In the context `mus musculus, homo sapiens`, a mouse
        gene has `MAIN_SPECIES`, a human gene `OTHER_SPECIES`, and a rat gene `ABSENT_SPECIES`.

        types (Sequence[str]): types of the concept.
        species_context (str): species context of the mention; if it is empty, human is the main
            species.
        RETURNS (int): the rank; 0 for a concept without a species, or a vocabulary without species.
            Cell lines always have the main species, because texts name the line, not the species of
            its donor.
        """
        expected = species_context.split(", ") if species_context else self._usual
        species = self._species_of(types)
        if not expected or not species:
            return 0
        if _is_line(types):
            return MAIN_SPECIES
        if species not in expected:
            return ABSENT_SPECIES
        return OTHER_SPECIES if expected.index(species) else MAIN_SPECIES


def may_share_symbols(types: Iterable[str]) -> bool:
    """types (Iterable[str]): types of a concept. RETURNS (bool): whether it is a gene of a
    vertebrate or has no species, so that a vertebrate gene with the same symbol is its ortholog."""
    taxa = [name for name in types if is_taxon(name)]
    return not taxa or not _VERTEBRATES.isdisjoint(taxa)


def _apart(
    species_words: Iterable[SpeciesWord], others: Iterable[SpeciesWord]
) -> list[SpeciesWord]:
    """RETURNS (list[SpeciesWord]): the species words that do not overlap any of the spans."""
    ordered = sorted(others)
    starts = [other.start for other in ordered]
    ends = list(accumulate((other.end for other in ordered), max))
    # Spans that begin before the end of a species word, and the farthest end among them.
    before = ((word, bisect_left(starts, word.end)) for word in species_words)
    return [word for word, n in before if not n or ends[n - 1] <= word.start]


def _is_line(types: Sequence[str]) -> bool:
    return is_cell_line(label_of(types) or "")


def _bare(text: str) -> str:
    return "".join(_WORD.findall(text))


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.lower()))


def priors_in_order(n: int) -> tuple[float, ...]:
    """n (int): number of concepts of a name, most likely first.
    RETURNS (tuple[float, ...]): prior probability of each concept; they sum to 1, e.g. for n = 2
    (0.870, 0.130)."""
    weights = [max(_NEXT**rank, _MIN_PRIOR) for rank in range(n)]
    total = sum(weights)
    return tuple(weight / total for weight in weights)


def _words_of_taxon(concept_id: str, name: str) -> Sequence[str]:
    """Words for a taxon in a text: its name, and its abbreviation (`d melanogaster`)."""
    if concept_id in TAXA:
        return TAXA[concept_id].of(NAME, WORD, SIGN)
    genus, _, species = name.partition(" ")
    return (name, f"{genus[0]} {species}") if species else (name,)
