"""From a text to the variants in it, each with its normal form."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ...component.characters import clean
from ..found import in_source, without_overlaps
from . import dna, protein, words
from .form import Form, Needs, Read, Reading

_NAMED = (*dna.FORMS, *protein.FORMS)
_FORMS = (*_NAMED, *words.FORMS)
_ALL_FORMS = (*_FORMS, *words.UNPLACED)
# Of the sources of the patterns a word may be any part: to look in vain only takes time.
_SOURCES = " ".join(form.pattern.pattern for form in _ALL_FORMS).lower()
_SOURCES = _SOURCES.replace("[- ]?", "").replace("-?", "")
# What they do not spell out: bases, introns, changes with their residues, ends of a frame.
_BUILT = re.compile(
    "[acgtu]+|(?:ivs)?[ivx]+|fs(?:x|ter|term|stop)?"
    "|(?:delins|indel|del|ins|dup|inv)[arndcqeghilkmfpstwyvx]{1,40}"
)
_DIGIT_OR_STAR = re.compile(r"[\d*]")
_EVIDENCE = re.compile(
    r"(?i:mutat|mutant|variant|polymorphi|allel|genotyp|substitut|missense|nonsense|SNP\b|codon|"
    r"transition|transversion|carrier|homozygo|heterozygo|replac)"
)
_NEAR, _BESIDE = 60, 14
# One character for one: offsets stay.
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("\u00a0\u2002\u2003\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u3000", " "),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-"),
        "∆": "Δ",
        "∗": "*",
    }
)
_BOTH = (dna.read_old, protein.read_short)
_HGVS = re.compile(r"(?:[^:]{1,30}:)?[cgmnrp]\.")
_RS_NUMBER = re.compile(r"rs\d{1,12}")
_POSTCODE = re.compile(r" \d[A-Z]{1,2}\d?\b")


class FoundVariant(NamedTuple):
    """A variant in a text.

    start, end (int): characters.
    identifier (str): the rs number where it or the text beside it gives one, else the normal form;
        empty where it has none.
    hgvs (str): the normal form, as HGVS has it; empty for rs numbers, star alleles and what names
        no place.
    """

    start: int
    end: int
    identifier: str
    hgvs: str


class _Candidate(NamedTuple):
    start: int
    end: int
    reading: Reading
    read: Read


def find_variants(text: str) -> list[FoundVariant]:
    """Find variants, in time linear in the length of the text.

    text (str): any; noise is read away, see `component.characters`.
    RETURNS (list[FoundVariant]): by place in the text as it stands; no two overlap. Those without a
        position, `4-bp deletion`, `G>A`, have no normal form.
    """
    source = clean(text)
    return in_source(source, _find(source.text.translate(_PLAIN)))


def _find(text: str) -> list[FoundVariant]:
    candidates = list(_candidates(text, _ALL_FORMS))
    kept = _with_what_they_need(text, _one_of_both(candidates))
    found = []
    # The longest, then one with an identifier, then the first.
    for one in without_overlaps(
        kept, lambda one: (one.start - one.end, not one.reading.identifier, one.start)
    ):
        identifier = one.reading.identifier
        hgvs = identifier if _HGVS.match(identifier) else ""
        found.append(FoundVariant(one.start, one.end, identifier, hgvs))
    return _with_numbers(text, found)


def may_lie_in_one(text: str, start: int, end: int) -> bool:
    """Whether a mention may lie in a variant, in a small part of the time of `find_variants`.

    text (str): any, as `component.characters` reads it. start, end (int): characters.
    RETURNS (bool): False for a word that no form has, `aspirin`, also where a form would take any
        word, in the brackets of `15-bp (aspirin) deletion`; True for `cysteine`, for what has a
        digit, and for the gene of a star allele.
    """
    mention = text[start : end + 1].translate(_PLAIN)
    if _DIGIT_OR_STAR.search(mention):
        return True
    parts = re.findall(r"\w+", text[start:end].lower())
    return all(part in _SOURCES or _BUILT.fullmatch(part) for part in parts)


def normal_form(mention: str) -> str:
    """mention (str): one variant, e.g. `V600E`, `IVS2 +1 G->A`. RETURNS (str): its rs number or
    normal form, `p.Val600Glu`, `c.IVS2+1G>A`; empty where it has none, or is no variant."""
    candidates = _one_of_both(list(_candidates(mention.translate(_PLAIN), _FORMS)))
    whole = [one for one in candidates if (one.start, one.end) == (0, len(mention))]
    return next((one.reading.identifier for one in whole if one.reading.identifier), "")


def _with_numbers(text: str, found: Sequence[FoundVariant]) -> list[FoundVariant]:
    """`V600E (rs113488022)`, `rs2168101 G>T`: each of the two is the other, and so is `V600E`
    wherever the text has it again."""
    numbers: dict[int, str] = {}
    by_form: dict[str, set[str]] = {}
    for place in range(len(found) - 1):
        pair = found[place : place + 2]
        is_number = [_RS_NUMBER.fullmatch(one.identifier) is not None for one in pair]
        between, behind = text[pair[0].end : pair[1].start], text[pair[1].end : pair[1].end + 1]
        in_brackets = (between + behind) in (" ()", " []", "()")
        if sum(is_number) == 1 and (in_brackets or (between == " " and is_number[0])):
            other = place + is_number.index(False)
            numbers[other] = pair[is_number.index(True)].identifier
            if found[other].hgvs:
                by_form.setdefault(found[other].hgvs, set()).add(numbers[other])
    named = []
    for place, one in enumerate(found):
        same = by_form.get(one.hgvs, set())
        number = numbers.get(place) or (next(iter(same)) if len(same) == 1 else "")
        named.append(one._replace(identifier=number) if number else one)
    return named


def _candidates(text: str, forms: Iterable[Form]) -> Iterable[_Candidate]:
    for form in forms:
        for found in form.pattern.finditer(text):
            reading = form.read(found)
            if reading is not None and found[0] not in protein.OTHER_THINGS:
                yield _Candidate(found.start(), found.end(), reading, form.read)


def _one_of_both(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """`C677T` is of bases or of residues: as the text's other variants of that form are."""
    places: dict[tuple[int, int], set[Read]] = {}
    for one in candidates:
        places.setdefault((one.start, one.end), set()).add(one.read)
    is_both = {place for place, readers in places.items() if readers.issuperset(_BOTH)}
    only_residues = any(
        one.read == _BOTH[1] and (one.start, one.end) not in is_both for one in candidates
    )
    left = []
    for one in candidates:
        if (one.start, one.end) in is_both and one.read in _BOTH:
            number = int(re.sub(r"\D", "", one.reading.identifier))
            # Few proteins are longer.
            if one.read != _BOTH[only_residues and number < 1000]:
                continue
        left.append(one)
    return left


class _Neighborhood:
    """Words and variants that speak for a candidate.

    places (Iterable[tuple[int, int]]): where they stand, in characters.
    """

    def __init__(self, places: Iterable[tuple[int, int]]) -> None:
        self._places = sorted(set(places))
        self._starts = [start for start, _ in self._places]

    def has(self, one: _Candidate, reach: int) -> bool:
        """Whether one of them, not the candidate itself, is as near as that, in characters."""
        near = max(bisect_left(self._starts, one.start) - 1, 0)
        return any(
            one.start - reach <= end and start <= one.end + reach
            for start, end in self._places[near : near + 2]
        )


def _with_what_they_need(text: str, candidates: Sequence[_Candidate]) -> list[_Candidate]:
    sure = [(one.start, one.end) for one in candidates if one.reading.needs is Needs.NOTHING]
    evidence = _Neighborhood([*sure, *(found.span() for found in _EVIDENCE.finditer(text))])
    reach = {Needs.A_WORD: _NEAR, Needs.THE_NEXT_WORD: _BESIDE}
    return [
        one
        for one in candidates
        if (one.reading.needs is Needs.NOTHING or evidence.has(one, reach[one.reading.needs]))
        and not _POSTCODE.match(text, one.end)
    ]
