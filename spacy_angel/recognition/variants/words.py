"""Variants in words, such as `A to G transition at nucleotide 276` and `codon 26, GAG-->GCG`."""

import re

from .dna import ARROW, START, STOP, inserted, point, substituted
from .form import Forms, Needs, Reading
from .letters import (
    BASE_NAMES,
    RESIDUE_NAMES,
    THREE_LETTERS,
    bases,
    encoded,
    residue,
)
from .protein import substituted as residue_substituted

_BASE = rf"(?:(?i:{BASE_NAMES})|[ACGT])"
_SOME_BASES = rf"(?:(?i:{BASE_NAMES})|[ACGT]{{1,20}})"
_RESIDUE = rf"(?:(?i:{RESIDUE_NAMES})|{THREE_LETTERS})(?: \([A-Za-z]{{1,3}}\))?"
_END = r"(?:a |an |the )?(?:premature )?(?:(?i:stop|termination)(?: codon)?|Ter|X)"
_TARGET = rf"(?:(?:a |an )?{_RESIDUE}|{_END})"
_TO = (
    rf"(?:{ARROW}| ?/ ?|[- ]to[- ](?:an? )?| ?(?:in)?to (?:an? )?| by (?:an? )?| with (?:an? )?"
    r"| for (?:an? )?)"
)
_KIND = (
    r"(?:(?:single |point |base |nucleotide |missense |nonsense |amino[- ]acid |base[- ]pair )"
    r"{0,3}(?:transitions?|transversions?|substitutions?|mutations?|changes?|polymorphisms?"
    r"|exchanges?|replacements?|variants?|variations?))"
)
_UNIT = (
    r"(?:nucleotides?|nt|bases?|bp|base[- ]pairs?|positions?|cDNA|codons?|CD|amino[- ]acids?"
    r"|aminoacids?|residues?|number|no\.|DNA|gene|genomic)"
)
_WHERE = r"(?:,? ?(?:\b(?:in|at|of|for|to|on)|,)(?: the)?)"
_PLACE = r"(?:[cgm]\. ?)?(?P<start>[-+]?\d{1,7}(?:[+\-]\d{1,4})?)"
_AT = rf"(?P<where>{_WHERE}(?: {_UNIT}){{0,4}} {_PLACE})"
_AT_UNIT = rf"(?P<where>{_WHERE}(?: {_UNIT}){{1,4}} {_PLACE})"
_NUMBER_WORD = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|[1-9]\d{0,2}"
    r"(?:,\d{3}){0,2}(?:\.\d{1,2})?|\d{1,6})"
)
_UNITS = (
    r"(?:bp|bps|base[- ]?pairs?|bases?|nucleotides?|nt|kb|kbp|kilobases?|Mb|Mbp"
    r"|megabases?|amino[- ]acids)"
)
_SIZE = rf"{_NUMBER_WORD}[- ]?{_UNITS}"
# `at exon 8, position 1277`.
_AT_A_PLACE = rf"(?:(?: (?:at|in) exon \d{{1,3}})?{_AT_UNIT}(?:(?: ?- ?| to | and )\d{{1,7}})?)"
_CHANGE = (
    r"(?:deletion/insertion|insertion[/-]deletion|deletions?|insertions?|duplications?|inserts?"
    r"|indel|inversions?)"
)


def _at_a_codon(where: str) -> bool:
    return any(word in where.lower() for word in ("codon", "amino", "residue"))


def _short(written: str) -> str:
    """`a stop codon` → `Ter`, `valine (Val)` → `Val`; three bases → what they stand for."""
    plain = re.sub(r" \([A-Za-z]{1,3}\)$", "", written)
    plain = re.sub(r"^(?:an? |the )?(?:premature )?", "", plain)
    if re.fullmatch(r"[ACGTU]{3}", plain):
        return encoded(plain)
    return residue(plain)


FORMS = Forms()


@FORMS.matching(
    # Base to base at.
    rf"(?P<open>\()?(?P<ref>{_BASE})(?:{ARROW}|[- ]to[- ]| for |/)(?P<alt>{_BASE})(?(open)\))"
    rf"(?: {_KIND})?{_AT}",
    start=START,
    stop=STOP,
)
def _read_base_change(found: re.Match[str]) -> Reading | None:
    start, where = point(found["start"]), found["where"].lower()
    if _at_a_codon(where):
        return Reading("")
    plain = found["ref"] in "ACGT" and " to " in found[0][:8]
    if plain and len(start.lstrip("-+")) < 2:
        return None
    return Reading(substituted("c", start, found["ref"], found["alt"]))


@FORMS.matching(
    # Bases deleted at.
    rf"(?P<what>{_SOME_BASES}) (?P<change>deletion|insertion|duplication)(?: mutation)?{_AT}",
    # Deletion of bases at.
    rf"(?P<change>deletion|insertion|duplication) of (?:an? |the )?(?P<what>{_SOME_BASES})"
    rf"(?: nucleotide| residue| base)?{_AT}",
    # Numbered deletion.
    rf"(?P<start>[-+]?\d{{2,6}}) (?P<what>{_SOME_BASES}) (?P<change>deletion|insertion)",
    start=START,
    stop=STOP,
)
def _read_deleted(found: re.Match[str]) -> Reading:
    start, what, change = point(found["start"]), bases(found["what"]), found["change"][:3].lower()
    if "where" in found.groupdict() and _at_a_codon(found["where"]):
        return Reading("")
    if change == "ins":
        return Reading(inserted("c", start, what))
    if len(what) > 1:
        return Reading(f"c.{start}_{int(start) + len(what) - 1}{change}" if start.isdigit() else "")
    return Reading(f"c.{start}{change}")


@FORMS.matching(
    # Codon, residue to residue.
    rf"(?:codon|CD) ?(?:\((?i:cd)\) ?)?(?P<start>\d{{1,5}}),? ?(?P<open>\()?"
    rf"(?P<ref>{_RESIDUE}|[ACGTU]{{3}}){_TO}(?P<alt>{_TARGET}|[ACGTU]{{2,3}})(?(open)\))",
    # Codon to codon at.
    rf"(?P<open>\()?(?P<ref>[ACGTU]{{3}})(?:{ARROW}|/| to |-)(?P<alt>[ACGTU]{{2,3}})(?(open)\))"
    rf"(?: {_KIND})?(?:,? (?:in|at|of) codon (?P<start>\d{{1,5}}))",
    # Residue at a place to residue.
    rf"(?P<ref>{_RESIDUE})(?: residue| codon)?[- ]?\(?(?P<start>[1-9]\d{{0,4}})\)?"
    rf"(?:{_TO}|[- ](?=[a-z]))(?P<alt>{_TARGET})(?:[- ]?(?P=start))?",
    # Residue to residue at.
    rf"(?P<ref>{_RESIDUE})(?: residue| codon)?{_TO}(?P<alt>{_TARGET})(?: {_KIND})?{_AT_UNIT}",
    # Residue for residue at.
    rf"(?P<alt>{_RESIDUE}|(?i:stop codon|termination))(?: residue)?(?: (?i:substitution))? for "
    rf"(?:an? |the )?(?P<ref>{_RESIDUE})(?: residue)?{_AT_UNIT}",
    # Residue for residue and position.
    rf"(?P<alt>{_RESIDUE})(?: (?i:substitution))? for (?:the )?(?P<ref>{_RESIDUE})[- ]?"
    r"\(?(?P<start>[1-9]\d{0,4})\)?",
    start=START,
    stop=STOP,
)
def _read_residues(found: re.Match[str]) -> Reading | None:
    start, ref, alt = found["start"], _short(found["ref"]), _short(found["alt"])
    if ref and not alt and re.fullmatch(r"[ACGTU]{2,3}", found["alt"]):
        return Reading("")
    # No protein has a residue 100,000.
    if not ref or not alt or not re.fullmatch(r"[1-9]\d{0,4}", start):
        return None
    return Reading(residue_substituted(ref, start, alt))


UNPLACED = Forms()


@UNPLACED.matching(
    # Residue to residue.
    START
    + rf"(?P<ref>{_RESIDUE})(?P<joint>{ARROW}|[- ]to[- ])(?P<alt>{_RESIDUE})"
    + STOP
    + rf"(?P<kind>(?= {_KIND}))?",
)
def _read_pair(found: re.Match[str]) -> Reading | None:
    # `leucine to methionine` is a variant only where one is spoken of.
    needs = Needs.A_WORD if found["kind"] is None else Needs.NOTHING
    return Reading("", needs)


@UNPLACED.matching(
    # Base to base.
    START + rf"(?P<ref>[ACGT]) ?(?P<joint>-{{0,4}}>|→|/|-to-| to |-)(?: ?)(?P<alt>[ACGT])"
    rf"(?P<kind>(?= {_KIND}))?" + r"(?![\w/*'’+-]| ?[->→])",
)
def _read_bases(found: re.Match[str]) -> Reading | None:
    joint = found["joint"]
    if ("to" in joint or joint == "-") and found["kind"] is None:
        return None
    return Reading(
        "", Needs.NOTHING if found["kind"] is not None or "to" in joint else Needs.A_WORD
    )


UNPLACED.unnamed(
    # Size and change.
    rf"{_SIZE}(?:[- ](?:in-?frame|gene|genomic|heterozygous|homozygous|interstitial|intronic"
    rf"|nucleotide|amino[- ]acid|tandem|{BASE_NAMES})| \([A-Za-z0-9]{{1,12}}\)){{0,3}} "
    rf"{_CHANGE}(?: \(indel\))?{_AT_A_PLACE}?",
    # Repeats of a size.
    rf"{_SIZE} (?:variable number of )?(?:tandem )?repeats?",
    # Change of a size.
    r"(?:deletion|insertion|duplication|inversion) (?:of|to)(?: an?| the| about| approximately)?"
    rf" ?{_SIZE}{_AT_A_PLACE}?",
    start=START,
    stop=STOP,
)

UNPLACED.unnamed(
    # Change of bases.
    START + rf"(?:deletion|insertion|duplication) (?:of (?:an? |the |{_NUMBER_WORD} ){{0,2}}"
    rf"(?:nucleotides? |bases? )?)?(?:(?i:{BASE_NAMES})|[ACGT]{{1,12}})"
    r"(?: nucleotide| base| residue)?(?![\w/-])",
    # Delta and size.
    r"(?:(?<![A-Za-z0-9])|(?<=\d))"
    r"(?:(?:[Dd]elta|DD|[Δ∆]) ?-?32|(?:[Dd]elta|DD|[Δ∆])[2-9]\d{1,2}(?:-\d{2,4})?"
    r"|(?<=CCR5[- ])[dD]32)(?: deletion)?" + STOP,
)

UNPLACED.unnamed(
    # Bases of codons.
    r"(?:(?:CD|FSC|FS|[Cc]odon)s?) ?\d{1,4}(?: ?/ ?\d{1,4})?,? ?(?P<open>\()?[-+] ?"
    r"(?:[ACGT]{1,12}|\d{1,2} ?(?:nt|bp))(?(open)\))",
    # Repeats.
    r"\([ACGT]{2,10}\)\d{1,3}(?!\()",
    # Change and size.
    r"(?:ins/del|del/ins|dup|del|ins) ?\d{1,4} ?(?:bp|kb|nt)",
    start=START,
    stop=STOP,
)
