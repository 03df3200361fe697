"""What a document says about the endings of names: the species that it speaks of, the most
frequent and the nearest first."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from ..names.taxa import HOST, HUMAN, METHODS, MOUSE, NAME, SIGN, TAXA, WORD, is_taxon, is_virus
from .suffixes import Endings, first_part, last_part

MOST = 2
"""Endings in a hint; each takes tokens from the text around the mention."""
SAID_FIRST, SAID, UNSAID = 1, 2, 3
"""What a document says of a concept's species, see `Hinter.place`."""
# At this distance, in characters, a word counts half of what it does beside the mention.
_HALF = 100.0
# On either side of a mention, so that a text costs its length.
_MOST_SIGNS = 512
# Of the concepts of a name the next one is so many times less probable than the one before it,
# before a model is asked: about what taking human genes first, or those of the species that the
# document has, is right.
_NEXT = 0.15
# Of hundreds that are called «uncharacterized protein» none is impossible.
_LEAST = 1e-9
# Concepts of a name whose genes in other species are looked for.
_MOST_SIBLINGS = 8
_CELL_LINE = "cell line"
_WORD = re.compile(r"[^\W_]+")
# No species, whatever the words say.
_NONE = ""


class Sign(NamedTuple):
    """A word of a text that stands for the beginning of an ending.

    start (int), end (int): characters.
    field (str): e.g. `mus musculus`.
    """

    start: int
    end: int
    field: str


class Hinter:
    """Finds in texts what tells the concepts of one name apart.

    endings (Endings): of the vocabulary.
    types (Iterable[str]): all its semantic types, whose own words are looked for, and for taxa the
        words of `taxa`.
    """

    def __init__(self, endings: Endings, types: Iterable[str]) -> None:
        self._endings = endings
        self._fields: dict[tuple[str, ...], str] = {}
        self._hosts: frozenset[tuple[str, ...]] = frozenset()
        names = list(types) if endings.rule != "names" else []
        self._usual: tuple[str, ...] = ()
        if has_taxa := any(is_taxon(name) for name in names):
            self._usual = (TAXA[HUMAN].name,)
            for taxon in TAXA.values():
                self._take(taxon.of(HOST), taxon.name)
            self._hosts = frozenset(self._fields)
            self._take(METHODS, _NONE)
        for name in names:
            field = endings.field_of_types([name])
            if field is not None:
                self._take(_words_of_taxon(name, field) if is_taxon(name) else [field], field)
        if has_taxa:
            # A text may be about species of which the vocabulary has nothing.
            for taxon in TAXA.values():
                self._take(taxon.of(NAME, WORD, SIGN), taxon.name)
        self._longest = max(map(len, self._fields), default=0)

    def find(self, text: str, spans: Iterable[tuple[int, int, str]] = ()) -> list[Sign]:
        """The signs of a text.

        text (str): of the document.
        spans (Iterable[tuple[int, int, str]]): mentions of species that are known: start, end and
            identifier, e.g. `NCBITaxon:10116`; the first of a place counts, in the place of all
            words there, but for methods and hosts (`taxa`). A virus of which the vocabulary
            has nothing is no sign.
        RETURNS (list[Sign]): in the order of the text. Where mice are hosts, none is of mice.
        """
        places: dict[tuple[int, int], str] = {}
        for start, end, concept_id in spans:
            if is_taxon(concept_id):
                name = self._endings.taxon_name(concept_id)
                # Its genes are rarely meant, and mostly those of its host.
                is_host_meant = is_virus(name) and name not in self._fields.values()
                places.setdefault((start, end), _NONE if is_host_meant else name)
        found = list(self._find(text))
        hosts = {sign for sign in found if _words(text[sign.start : sign.end]) in self._hosts}
        fixed = [sign for sign in found if sign in hosts or sign.field == _NONE]
        known = _apart((Sign(*place, field) for place, field in places.items()), fixed)
        unsaid = {_NONE, TAXA[MOUSE].name} if hosts else {_NONE}
        return sorted(s for s in [*known, *_apart(found, known)] if s.field not in unsaid)

    def _take(self, phrases: Iterable[str], field: str) -> None:
        for words in map(_words, phrases):
            if words:
                self._fields.setdefault(words, field)

    def _find(self, text: str) -> Iterator[Sign]:
        """The longest phrases that are known, none over another."""
        words = [(match[0], match.start(), match.end()) for match in _WORD.finditer(text.lower())]
        place = 0
        while place < len(words):
            for n in range(min(self._longest, len(words) - place), 0, -1):
                phrase = words[place : place + n]
                field = self._fields.get(tuple(word for word, _, _ in phrase))
                if field is not None:
                    yield Sign(phrase[0][1], phrase[-1][2], field)
                    break
            else:
                n = 1
            place += n

    def hint(self, signs: Sequence[Sign], start: int, end: int) -> str:
        """What the signs say of one mention.

        signs (Sequence[Sign]): of its text, in their order; the nearest count, as many on either
            side as a long article has. start (int), end (int): characters of the mention.
        RETURNS (str): at most `MOST` beginnings of endings, those with the most and nearest signs
            first, e.g. `mus musculus, homo sapiens`; empty without signs.
        """
        weights: dict[str, float] = {}
        place = bisect_left(signs, start, key=lambda sign: sign.start)
        for sign in signs[max(place - _MOST_SIGNS, 0) : place + _MOST_SIGNS]:
            distance = max(sign.start - end, start - sign.end, 0)
            weights[sign.field] = weights.get(sign.field, 0.0) + 1 / (1 + distance / _HALF)
        best = sorted(weights, key=lambda field: (-weights[field], field))
        return ", ".join(best[:MOST])

    def with_orthologs(self, told: dict[str, list[str]], hint: str) -> dict[str, list[str]]:
        """The concepts of a name, and those that it means in another species: who writes of rats
        means the rat's gene by a name that is listed for the man's alone.

        told (dict[str, list[str]]): concepts by ending. hint (str): of the mention.
        RETURNS (dict[str, list[str]]): with the genes of the same symbol of those species that the
            document speaks of, else of people, and of which the name has none.
        """
        concept_ids = [c for ids in told.values() for c in ids]
        missing = dict.fromkeys(hint.split(", ") if hint else self._usual)
        for field in filter(None, map(self._endings.field_of, concept_ids)):
            missing.pop(field, None)
            if not missing:
                return told
        for field in missing:
            orthologs = map(self._endings.orthologs_of, concept_ids[:_MOST_SIBLINGS])
            genes = (own.get(field) for own in orthologs)
            if own := list(dict.fromkeys(filter(None, genes))):
                told = {**told, field: own}
        return told

    def order(
        self, told: dict[str, list[str]], hint: str, name: str, second: Collection[str] = ()
    ) -> list[str]:
        """The concepts of a name as the document alone would have them.

        told (dict[str, list[str]]): concepts by ending, in the order of the vocabulary.
        hint (str): of the mention.
        name (str): the name, in normal form.
        second (Collection[str]): concepts whose second name it is, of genes the full one.
        RETURNS (list[str]): those of which the hint speaks first; then those of people, where it is
            about species; then the others in their order. Of one species those first whose
            canonical name is the name but for marks, as IL6 is IL-6, then those whose second name
            it is.
        """
        bare = _bare(name)
        wanted = self._wanted(hint)
        places = {field: place for place, field in reversed(list(enumerate(wanted)))}
        ordered = sorted(
            told,
            key=lambda ending: (
                places.get(first_part(ending), len(wanted)),
                _bare(last_part(ending)) not in (bare, ""),
                not any(concept_id in second for concept_id in told[ending]),
            ),
        )
        return [concept_id for ending in ordered for concept_id in told[ending]]

    def place(self, types: Sequence[str], hint: str) -> int:
        """How far a concept is from what the document speaks of.

        types (Sequence[str]): of the concept. hint (str): of the mention.
        RETURNS (int): `SAID_FIRST`, what it speaks of first, or people where it does not speak of
            species at all; `SAID`, what it speaks of besides; `UNSAID`, what it is silent of; 0
            where nothing can be told, as of cell lines, whose species is their donor's.
        """
        wanted = hint.split(", ") if hint else self._usual
        field = self._endings.field_of_types(types)
        if not wanted or not field:
            return 0
        if any(_CELL_LINE in name.lower() for name in types):
            return SAID_FIRST
        if field not in wanted:
            return UNSAID
        return SAID if wanted.index(field) else SAID_FIRST

    def _wanted(self, hint: str) -> Sequence[str]:
        return [*hint.split(", "), *self._usual] if hint else self._usual


def _apart(signs: Iterable[Sign], others: Iterable[Sign]) -> list[Sign]:
    """RETURNS (list[Sign]): those of the signs that overlap none of the others."""
    ordered = sorted(others)
    starts = [other.start for other in ordered]
    ends = list(accumulate((other.end for other in ordered), max))
    # Those that begin before a sign ends, and the farthest that one of them reaches.
    before = ((sign, bisect_left(starts, sign.end)) for sign in signs)
    return [sign for sign, n in before if not n or ends[n - 1] <= sign.start]


def _bare(text: str) -> str:
    return "".join(_WORD.findall(text))


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.lower()))


def shares_in_order(n: int) -> tuple[float, ...]:
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
