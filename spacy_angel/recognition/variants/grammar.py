"""From a text to the variants in it, each with its normal form."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from . import dna, protein, words
from .form import Form, Needs, Reading

_NAMED = (*dna.FORMS, *protein.FORMS)
_FORMS = (*_NAMED, *words.FORMS, *words.ALLELES)
_ALL_FORMS = (*_FORMS, *words.UNPLACED)
_EVIDENCE = re.compile(
    r"(?i:mutat|mutant|variant|polymorphi|allel|genotyp|substitut|missense|nonsense|SNP\b|codon|"
    r"transition|transversion|carrier|homozygo|heterozygo|replac)"
)
_NEAR = 60
_BOTH = ("base, place, base", "residue, place, residue")
_POSTCODE = re.compile(r" \d[A-Z]{1,2}\d?\b")


class FoundVariant(NamedTuple):
    """A variant in a text.

    start, end (int): characters.
    identifier (str): the rs number, or the normal form; empty where it has none.
    """

    start: int
    end: int
    identifier: str


class _Candidate(NamedTuple):
    start: int
    end: int
    reading: Reading
    form: str


def find_variants(text: str, *, unplaced: bool = True) -> list[FoundVariant]:
    """Find variants; takes time in proportion to the text.

    text (str): any.
    unplaced (bool): also those that name no place, `4-bp deletion`, `G>A`: they have no normal form.
    RETURNS (list[FoundVariant]): by place; no two overlap.
    """
    candidates = list(_candidates(text, _ALL_FORMS if unplaced else _FORMS))
    kept = _with_what_they_need(text, _one_of_both(candidates))
    return [FoundVariant(one.start, one.end, one.reading.identifier) for one in _longest(kept)]


def normal_form(mention: str) -> str:
    """mention (str): one variant, e.g. `V600E`, `IVS2 +1 G->A`. RETURNS (str): its rs number or
    normal form, `p.Val600Glu`, `c.IVS2+1G>A`; empty where it has none, or is no variant."""
    for one in find_variants(mention):
        if (one.start, one.end) == (0, len(mention)):
            return one.identifier
    return ""


def _candidates(text: str, forms: Iterable[Form]) -> Iterable[_Candidate]:
    for form in forms:
        for found in form.pattern.finditer(text):
            reading = form.read(found)
            if reading is not None:
                yield _Candidate(found.start(), found.end(), reading, form.name)


def _one_of_both(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """`C677T` is of bases or of residues: as the text's other variants of that form are."""
    places: dict[tuple[int, int], set[str]] = {}
    for one in candidates:
        places.setdefault((one.start, one.end), set()).add(one.form)
    is_both = {place for place, forms in places.items() if forms.issuperset(_BOTH)}
    only_residues = any(
        one.form == _BOTH[1] and (one.start, one.end) not in is_both for one in candidates
    )
    left = []
    for one in candidates:
        if (one.start, one.end) in is_both and one.form in _BOTH:
            number = int(re.sub(r"\D", "", one.reading.places[0]))
            # Few proteins are longer.
            if one.form != _BOTH[only_residues and number < 1000]:
                continue
        left.append(one)
    return left


def _with_what_they_need(text: str, candidates: Sequence[_Candidate]) -> list[_Candidate]:
    sure = [one for one in candidates if one.reading.needs is Needs.NOTHING]
    places = {place for one in sure for place in one.reading.places}
    evidence = [found.start() for found in _EVIDENCE.finditer(text)]
    evidence = sorted({*evidence, *(one.start for one in sure)})
    kept = list(sure)
    for one in candidates:
        if one.reading.needs is Needs.A_PLACE and places.issuperset(one.reading.places):
            kept.append(one)
        elif one.reading.needs is Needs.A_WORD:
            near = bisect_left(evidence, one.start - _NEAR)
            if near < len(evidence) and evidence[near] <= one.end + _NEAR:
                kept.append(one)
    return [one for one in kept if not _POSTCODE.match(text, one.end)]


def _longest(candidates: Iterable[_Candidate]) -> list[_Candidate]:
    """Of those that overlap the longest, of equal ones that with an identifier, then the first."""
    order = sorted(
        candidates, key=lambda one: (one.start - one.end, not one.reading.identifier, one.start)
    )
    taken: set[int] = set()
    kept = []
    for one in order:
        if taken.isdisjoint(range(one.start, one.end)):
            taken.update(range(one.start, one.end))
            kept.append(one)
    return sorted(kept, key=lambda one: one.start)
