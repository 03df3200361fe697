"""Finds the variants in a text and their normal forms."""

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
_EVIDENCE = re.compile(
    r"(?i:mutat|mutant|variant|polymorphi|allel|genotyp|substitut|missense|nonsense|SNP\b|codon|"
    r"transition|transversion|carrier|homozygo|heterozygo|replac)"
)
_NEAR, _BESIDE = 60, 14
# Each character is replaced by one, so offsets do not change.
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

    start, end (int): character offsets.
    identifier (str): the rs number if the variant or the text next to it gives one, otherwise the
        normal form; empty if it has none.
    hgvs (str): the normal form in HGVS notation; empty for rs numbers, star alleles, and variants
        without a position.
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

    text (str): any text; it is normalized first, see `component.characters`.
    RETURNS (list[FoundVariant]): sorted by position in the original text; no two overlap. Variants
        without a position, such as `4-bp deletion` and `G>A`, have no normal form.
    """
    source = clean(text)
    return in_source(source, _find(source.text.translate(_PLAIN)))


def _find(text: str) -> list[FoundVariant]:
    candidates = list(_candidates(text, _ALL_FORMS))
    kept = _with_what_they_need(text, _one_of_both(candidates))
    found = []
    # Prefer the longest, then those with an identifier, then the first.
    for one in without_overlaps(
        kept, lambda one: (one.start - one.end, not one.reading.identifier, one.start)
    ):
        identifier = one.reading.identifier
        hgvs = identifier if _HGVS.match(identifier) else ""
        found.append(FoundVariant(one.start, one.end, identifier, hgvs))
    return _with_numbers(text, found)


def normal_form(mention: str) -> str:
    """mention (str): a variant, e.g. `V600E`, `IVS2 +1 G->A`. RETURNS (str): its rs number or
    normal form, such as `p.Val600Glu` or `c.IVS2+1G>A`; empty if it has none or is not a
    variant."""
    candidates = _one_of_both(list(_candidates(mention.translate(_PLAIN), _FORMS)))
    whole = [one for one in candidates if (one.start, one.end) == (0, len(mention))]
    return next((one.reading.identifier for one in whole if one.reading.identifier), "")


def _with_numbers(text: str, found: Sequence[FoundVariant]) -> list[FoundVariant]:
    """Give each variant written next to an rs number that number, as in `V600E (rs113488022)` and
    `rs2168101 G>T`, and also all other occurrences of the variant in the text."""
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
    """Decide whether a variant such as `C677T` is of DNA or protein, by the other variants of this
    form in the text."""
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
            # Few proteins are longer than this.
            if one.read != _BOTH[only_residues and number < 1000]:
                continue
        left.append(one)
    return left


def _with_what_they_need(text: str, candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Keep the candidates that need no evidence, or have a word or another variant nearby."""
    sure = [(one.start, one.end) for one in candidates if one.reading.needs is Needs.NOTHING]
    evidence = sorted({*sure, *(found.span() for found in _EVIDENCE.finditer(text))})
    reach = {Needs.A_WORD: _NEAR, Needs.THE_NEXT_WORD: _BESIDE}

    def has_evidence(one: _Candidate) -> bool:
        distance = reach[one.reading.needs]
        near = max(bisect_left(evidence, (one.start,)) - 1, 0)
        return any(
            one.start - distance <= end and start <= one.end + distance
            for start, end in evidence[near : near + 2]
        )

    return [
        one
        for one in candidates
        if (one.reading.needs is Needs.NOTHING or has_evidence(one))
        and not _POSTCODE.match(text, one.end)
    ]
