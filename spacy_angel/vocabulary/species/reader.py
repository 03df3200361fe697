"""Species context: which species a document speaks of near a mention.

Which of the genes that are called TP53 is meant, the text says elsewhere: a study of mice means
Trp53. Words that stand for a species (`mice`, `patients`, `zebrafish`) and mentions of species are
found in the text; around a mention the most frequent and the nearest ones count, and make its
species context, e.g. `mus musculus, homo sapiens`. It is written as first parts of disambiguating
suffixes (`suffixes`), so that a model that writes suffixes can read it, and concepts of a name can
be put in order by it. Of a vocabulary with the rule `types`, the words of its semantic types count
in the place of species.
"""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from ..changes.overlay import VocabularyOverlay
from ..names.entity_types import is_cell_line, label_of
from ..names.taxa import HOST, HUMAN, METHODS, MOUSE, NAME, SIGN, TAXA, WORD, is_taxon, is_virus
from .suffixes import Suffixes, first_part, last_part

MOST = 2
"""Species in a species context; each takes tokens from the text around the mention."""
MAIN_SPECIES, OTHER_SPECIES, ABSENT_SPECIES = 1, 2, 3
"""Species ranks of a concept, see `SpeciesReader.rank`."""
# At this distance, in characters, a word counts half of what it does beside the mention.
_HALF = 100.0
# On either side of a mention, so that a text costs its length.
_MOST_WORDS = 512
# Of the concepts of a name the next one is so many times less probable than the one before it,
# before a model is asked: about what taking human genes first, or those of the species that the
# document has, is right.
_NEXT = 0.15
# Of hundreds that are called «uncharacterized protein» none is impossible.
_LEAST = 1e-9
# Concepts of a name whose genes in other species are looked for.
_MOST_SIBLINGS = 8
_WORD = re.compile(r"[^\W_]+")
# No species, whatever the words say.
_NONE = ""


class SpeciesWord(NamedTuple):
    """A word of a text that stands for a species, as `mice` does for `mus musculus`.

    start (int): its first character.
    end (int): the character behind it.
    species (str): the first part of suffixes that it stands for, `mus musculus`; empty for a word
        that stands for a method, and hides the species in it.
    """

    start: int
    end: int
    species: str


class SpeciesReader:
    """Reads in texts of which species they speak.

    suffixes (Suffixes): of the vocabulary; their first parts are what is looked for.
    vocabulary (VocabularyOverlay): as it is now. A taxon among its stored semantic types is looked
        for by the words that `taxa` has for it, another type by its own name.
    """

    def __init__(self, suffixes: Suffixes, vocabulary: VocabularyOverlay) -> None:
        self._suffixes = suffixes
        self._vocabulary = vocabulary
        # with the version that it is of
        self._own_of: tuple[int, frozenset[str]] = (-1, frozenset())
        self._species: dict[tuple[str, ...], str] = {}
        self._hosts: frozenset[tuple[str, ...]] = frozenset()
        names = list(vocabulary.table.types) if suffixes.rule != "names" else []
        self._usual: tuple[str, ...] = ()
        has_taxa = any(is_taxon(name) for name in names)
        if has_taxa:
            self._usual = (TAXA[HUMAN].name,)
            for taxon in TAXA.values():
                self._take(taxon.of(HOST), taxon.name)
            self._hosts = frozenset(self._species)
            self._take(METHODS, _NONE)
        for name in names:
            species = suffixes.species_of_types([name])
            if species is not None:
                self._take(_words_of_taxon(name, species) if is_taxon(name) else [species], species)
        if has_taxa:
            # A text may be about species of which the vocabulary has nothing.
            for taxon in TAXA.values():
                self._take(taxon.of(NAME, WORD, SIGN), taxon.name)
        self._longest = max(map(len, self._species), default=0)

    def find(self, text: str, spans: Iterable[tuple[int, int, str]] = ()) -> list[SpeciesWord]:
        """The species words of a text.

        text (str): of the document.
        spans (Iterable[tuple[int, int, str]]): mentions of species: start, end and identifier,
            e.g. `NCBITaxon:10116`. They count instead of the words that they overlap, but for
            words of methods and hosts (`taxa`); of several at one place the first. A virus whose
            genes the vocabulary lacks does not count.
        RETURNS (list[SpeciesWord]): in the order of the text. Where mice are hosts of human tissue,
            `nude mice`, there are none of mice. Species whose genes the vocabulary lacks count only
            where none is named whose genes it has: they mostly serve to make or to test a gene of
            that one, as *E. coli* does.
        """
        places: dict[tuple[int, int], str] = {}
        for start, end, concept_id in spans:
            if is_taxon(concept_id):
                name = self._suffixes.taxon_name(concept_id)
                # Its genes are rarely meant, and mostly those of its host.
                is_host_meant = is_virus(name) and name not in self._species.values()
                places.setdefault((start, end), _NONE if is_host_meant else name)
        found = list(self._find(text))
        hosts = {
            species_word
            for species_word in found
            if _words(text[species_word.start : species_word.end]) in self._hosts
        }
        fixed = [
            species_word
            for species_word in found
            if species_word in hosts or species_word.species == _NONE
        ]
        known = _apart((SpeciesWord(*place, species) for place, species in places.items()), fixed)
        ignored = {_NONE, TAXA[MOUSE].name} if hosts else {_NONE}
        named = sorted(s for s in [*known, *_apart(found, known)] if s.species not in ignored)
        own = self._own()
        return [s for s in named if s.species in own] or named

    def has_genes_of(self, concept_id: str) -> bool:
        """concept_id (str): of a taxon. RETURNS (bool): whether the vocabulary has concepts of it
        beside cell lines."""
        return self._suffixes.taxon_name(concept_id) in self._own()

    def _own(self) -> frozenset[str]:
        """What concepts beside cell lines have, species and other first parts of suffixes."""
        version, own = self._own_of
        if version != self._vocabulary.version:
            version, types = self._vocabulary.version, self._vocabulary.types
            beside = self._vocabulary.types_beside([t for t in types if _is_line([t])])
            kept = (t for t in types if t in beside or not is_taxon(t))
            own = frozenset(filter(None, (self._suffixes.species_of_types([t]) for t in kept)))
            self._own_of = version, own
        return own

    def _take(self, phrases: Iterable[str], species: str) -> None:
        for words in map(_words, phrases):
            if words:
                self._species.setdefault(words, species)

    def _find(self, text: str) -> Iterator[SpeciesWord]:
        """The longest phrases that are known, none over another."""
        words = [(match[0], match.start(), match.end()) for match in _WORD.finditer(text.lower())]
        place = 0
        while place < len(words):
            for n in range(min(self._longest, len(words) - place), 0, -1):
                phrase = words[place : place + n]
                species = self._species.get(tuple(word for word, _, _ in phrase))
                if species is not None:
                    yield SpeciesWord(phrase[0][1], phrase[-1][2], species)
                    break
            else:
                n = 1
            place += n

    def context_of(self, species_words: Sequence[SpeciesWord], start: int, end: int) -> str:
        """The species context of a mention. A word counts 1 / (1 + distance / 100 characters).

        species_words (Sequence[SpeciesWord]): of its text, in their order; those nearest to the
            mention are read, 512 on either side.
        start (int): first character of the mention.
        end (int): the character behind it.
        RETURNS (str): at most `MOST` species, those whose words count most together first, e.g.
            `mus musculus, homo sapiens`; empty where the text has no species word.
        """
        weights: dict[str, float] = {}
        place = bisect_left(species_words, start, key=lambda species_word: species_word.start)
        for species_word in species_words[max(place - _MOST_WORDS, 0) : place + _MOST_WORDS]:
            distance = max(species_word.start - end, start - species_word.end, 0)
            weights[species_word.species] = weights.get(species_word.species, 0.0) + 1 / (
                1 + distance / _HALF
            )
        best = sorted(weights, key=lambda species: (-weights[species], species))
        return ", ".join(best[:MOST])

    def with_orthologs(
        self, by_suffix: dict[str, list[str]], species_context: str
    ) -> dict[str, list[str]]:
        """The concepts of a name, and those that it means in another species: who writes of rats
        means the rat's gene by a name that is listed for the man's alone.

        by_suffix (dict[str, list[str]]): concepts by suffix. species_context (str): of the mention.
        RETURNS (dict[str, list[str]]): with the genes of the same symbol of those species that the
            document speaks of, else of people, and of which the name has none.
        """
        concept_ids = [c for ids in by_suffix.values() for c in ids]
        missing = dict.fromkeys(species_context.split(", ") if species_context else self._usual)
        for species in filter(None, map(self._suffixes.species_of, concept_ids)):
            missing.pop(species, None)
            if not missing:
                return by_suffix
        orthologs = list(map(self._suffixes.orthologs_of, concept_ids[:_MOST_SIBLINGS]))
        for species in missing:
            genes = filter(None, (by_species.get(species) for by_species in orthologs))
            if found := list(dict.fromkeys(genes)):
                by_suffix = {**by_suffix, species: found}
        return by_suffix

    def order(
        self,
        by_suffix: dict[str, list[str]],
        species_context: str,
        name: str,
        second: Collection[str] = (),
    ) -> list[str]:
        """Put the concepts of a name in order, the likeliest first, before a model is asked.

        by_suffix (dict[str, list[str]]): suffix → concepts, in the order of the vocabulary.
        species_context (str): of the mention.
        name (str): the name, in normal form.
        second (Collection[str]): concepts whose second name it is; that of a gene is its full name.
        RETURNS (list[str]): concepts of the species in the species context, in its order; then
            those of man, where the vocabulary has species; then the others. Of one species those
            come first whose canonical name is the name but for marks, as IL6 is IL-6, then those
            whose second name it is.
        """
        bare = _bare(name)
        expected = self._expected(species_context)
        places = {species: place for place, species in reversed(list(enumerate(expected)))}
        ordered = sorted(
            by_suffix,
            key=lambda suffix: (
                places.get(first_part(suffix), len(expected)),
                _bare(last_part(suffix)) not in (bare, ""),
                not any(concept_id in second for concept_id in by_suffix[suffix]),
            ),
        )
        return [concept_id for suffix in ordered for concept_id in by_suffix[suffix]]

    def rank(self, types: Sequence[str], species_context: str) -> int:
        """The species rank of a concept: in the context `mus musculus, homo sapiens` a gene of
        mouse has `MAIN_SPECIES`, one of man `OTHER_SPECIES` and one of rat `ABSENT_SPECIES`.

        types (Sequence[str]): of the concept.
        species_context (str): of the mention; where it is empty, man is the main species.
        RETURNS (int): a rank; 0 for a concept without species, or a vocabulary without. A cell line
            has the main species always, for a text says which line it is, not of which donor.
        """
        expected = species_context.split(", ") if species_context else self._usual
        species = self._suffixes.species_of_types(types)
        if not expected or not species:
            return 0
        if _is_line(types):
            return MAIN_SPECIES
        if species not in expected:
            return ABSENT_SPECIES
        return OTHER_SPECIES if expected.index(species) else MAIN_SPECIES

    def _expected(self, species_context: str) -> Sequence[str]:
        return [*species_context.split(", "), *self._usual] if species_context else self._usual


def _apart(
    species_words: Iterable[SpeciesWord], others: Iterable[SpeciesWord]
) -> list[SpeciesWord]:
    """RETURNS (list[SpeciesWord]): those of the species words that overlap none of the others."""
    ordered = sorted(others)
    starts = [other.start for other in ordered]
    ends = list(accumulate((other.end for other in ordered), max))
    # Those that begin before a species word ends, and the farthest that one of them reaches.
    before = (
        (species_word, bisect_left(starts, species_word.end)) for species_word in species_words
    )
    return [
        species_word for species_word, n in before if not n or ends[n - 1] <= species_word.start
    ]


def _is_line(types: Sequence[str]) -> bool:
    return is_cell_line(label_of(types) or "")


def _bare(text: str) -> str:
    return "".join(_WORD.findall(text))


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.lower()))


def priors_in_order(n: int) -> tuple[float, ...]:
    """n (int): concepts of a name, the likeliest first. RETURNS (tuple[float, ...]): what share
    of the name's probability each has; they sum to 1, e.g. 2 → (0.870, 0.130)."""
    parts = [max(_NEXT**place, _LEAST) for place in range(n)]
    total = sum(parts)
    return tuple(part / total for part in parts)


def _words_of_taxon(concept_id: str, name: str) -> Sequence[str]:
    """What stands for a taxon in a text; `d melanogaster` beside the whole name."""
    if concept_id in TAXA:
        return TAXA[concept_id].of(NAME, WORD, SIGN)
    genus, _, species = name.partition(" ")
    return (name, f"{genus[0]} {species}") if species else (name,)
