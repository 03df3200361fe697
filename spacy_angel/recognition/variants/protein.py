"""Protein variants in symbols, such as `V600E`, `p.Val600Glu`, `Arg(303)-->Gln`, and `ΔF508`."""

import re

from .dna import ARROW, START, STOP
from .form import Forms, Needs, Reading
from .letters import ONE_LETTER, THREE_LETTERS, residue, residues

_ONE = f"[{ONE_LETTER}]"
_LEVEL = r"(?P<level>[pP]\. ?(?P<open>[(\[])?)"
_THREE = rf"(?:{THREE_LETTERS}|{THREE_LETTERS.upper()})"
_ANY_CASE = rf"(?:{THREE_LETTERS}|{THREE_LETTERS.upper()}|{THREE_LETTERS.lower()})"
_ENDS = r"[xX*]|[Ss]top|STOP|[Tt]er[m]?|TER"
_SHIFT = (
    r"(?:[ ,]{0,2}?(?P<shift>fs|FS)(?: ?\(?[-+]\d\))?(?:(?: ?(?:X|\*|[Tt]er|[Ss]top)) ?)?"
    r"(?P<stop>\d{1,4})?X?)"
)
_CLOSE = r"(?(open)[)\]])"
_NUMBER = r"[1-9]\d{0,4}"
# Where a gene's name is written together with its variant: `BRAFV600E`, `εA411P`.
_AFTER_GENE = (
    START + r"|(?<=RAF)|(?<=RAS)|(?<=Raf)|(?<=Ras)|(?<=raf)|(?<=ras)|(?<=EGFR)|(?<=JAK2)"
    r"|(?<=p53)|(?<=IDH1)|(?<=IDH2)|(?<=\bH3)|(?<=\bH3\.3)"
    r"|(?<=alpha)|(?<=beta)|\bepsilon"
)
# Of the shape of V600E or C677T: lines of cells, proteins, receptors, diseases in short. Each keeps
# something out of texts at hand that it was not collected from, or of those that it was, see
# docs/notebook/recognition.md.
OTHER_THINGS = frozenset(
    (
        *("T47D", "T98G", "H295R", "C33A", "C3H"),
        *("A2A", "P2Y", "E2F", "E1A", "H2A", "S100A", "A1C", "T1D", "T2D"),
        *("T380A", "L30D", "R26R"),
    )
)


def substituted(ref: str, start: str, alt: str) -> str:
    """ref (str), alt (str): residues in any notation. start (str): position. RETURNS (str): e.g.
    `p.Val600Glu`, or `p.Gln279=` if the residue does not change."""
    before, after = residue(ref), "=" if alt == "=" else residue(alt)
    return f"p.{before}{start}{'=' if after == before else after}"


def _may_be_bases(found: re.Match[str]) -> bool:
    """Check whether both letters may be bases, as in `G894-->T`; these are handled by `dna`."""
    return found["ref"] in "ACGT" and found["alt"] in "ACGT"


FORMS = Forms()


@FORMS.matching(
    # Frame shift.
    rf"{START}{_LEVEL}?(?P<ref>{_THREE}|{_ONE}(?=\d))(?P<start>{_NUMBER})"
    rf"(?P<alt>{_THREE}|{_ENDS}|{_ONE})?{_SHIFT}{_CLOSE}{STOP}",
)
def _read_shift(found: re.Match[str]) -> Reading:
    where = f"{residue(found['ref'])}{found['start']}"
    alt = residue(found["alt"] or "").removesuffix("Ter")
    stop = f"Ter{found['stop']}" if alt and found["stop"] else ""
    return Reading(f"p.{where}{alt}fs{stop}")


@FORMS.matching(
    # Residue, place, residue.
    r"(?=p\.|[A-Z][1-9]|[α-ω]|eps)"
    rf"(?:{_AFTER_GENE})(?P<level>[pP]\. ?(?P<open>\()?)?(?P<ref>{_ONE})(?P<start>{_NUMBER})"
    rf"(?P<alt>{_ONE}|[X*]|[Ss]top|STOP|[Tt]er|TER|=)(?(open)\))" + STOP,
)
def read_short(found: re.Match[str]) -> Reading | None:
    reading = _read(found)
    if found["level"]:
        return reading
    if found["alt"] == "=":
        return None
    # `A2A`, `P2X`, `E2F`, `S6K`, `M2R`, `C3H`; those of two digits are variants as a rule.
    if len(found["start"]) == 1 or (found["alt"] == "*" and len(found["start"]) < 2):
        return reading._replace(needs=Needs.THE_NEXT_WORD)
    return reading


@FORMS.matching(
    # Protein substitution.
    rf"{START}{_LEVEL}(?P<ref>{_THREE}|{_ONE}|\*|X|Ter) ?(?P<start>{_NUMBER}) ?"
    rf"(?P<alt>{_THREE}|{_ONE}|{_ENDS}|=){_CLOSE}{STOP}",
)
def _read(found: re.Match[str]) -> Reading:
    ref, start, alt = found["ref"], found["start"], found["alt"]
    return Reading(substituted(ref, start, alt))


@FORMS.matching(
    # Three letters.
    rf"{START}(?P<ref>{_THREE})[- ]?\(?(?P<start>{_NUMBER})\)?(?P<joint>{ARROW}|[- ]| ?/ ?)?"
    rf"(?P<alt>{_THREE}|{_ENDS})(?:[ -]?\(?(?P=start)\)?)?" + STOP,
)
def _read_threes(found: re.Match[str]) -> Reading | None:
    is_sentence = found["joint"] == " " and found["alt"] in ("X", "x", "*")
    return None if is_sentence else _read(found)


@FORMS.matching(
    # Three letters and an arrow.
    rf"{START}(?P<ref>{_ANY_CASE}|{_ONE})[- ]?\(?(?P<start>{_NUMBER})\)?"
    rf"(?P<joint>{ARROW}| to |-to-| into )(?P<alt>{_ANY_CASE}|{_ENDS}|{_ONE}(?=[^\w/]|$))"
    rf"(?:[ -]?\(?(?P=start)\)?)?" + STOP,
)
def _read_arrowed(found: re.Match[str]) -> Reading | None:
    # `A1 to C` is a list of wells.
    is_list = "t" in found["joint"] and len(found["ref"]) == 1
    return None if is_list or _may_be_bases(found) else _read(found)


@FORMS.matching(
    # Residues deleted.
    rf"{START}{_LEVEL}?(?P<ref>{_THREE}|{_ONE})(?P<start>{_NUMBER})"
    rf"(?:[_-](?P<last>{_THREE}|{_ONE})(?P<end>{_NUMBER}))?[- ]?(?P<change>delins|del|dup|ins)"
    rf"(?P<what>(?:{_THREE}){{1,12}}|[{ONE_LETTER}X*]{{1,20}})?{_CLOSE}{STOP}",
)
def _read_deleted(found: re.Match[str]) -> Reading | None:
    change, what = found["change"], residues(found["what"] or "")
    if found["what"] and not what:
        return None
    if not found["level"] and len(found["ref"]) == 1 and len(found["start"]) < 2:
        return None
    where = f"{residue(found['ref'])}{found['start']}"
    if found["end"]:
        where += f"_{residue(found['last'])}{found['end']}"
    if change in ("ins", "delins"):
        fits = bool(what) and (change == "delins" or bool(found["end"]))
        return Reading(f"p.{where}{change}{what}" if fits else "")
    return Reading(f"p.{where}{change}")


@FORMS.matching(
    # Deletion of one residue.
    rf"(?<![A-Za-z0-9])(?:[Dd]elta[- ]?|DD|[Δ∆][ -]?|del[- ]?|DEL)(?P<ref>{_THREE}|{_ONE})"
    rf"(?P<start>[1-9]\d{{1,4}})" + STOP,
)
def _read_delta(found: re.Match[str]) -> Reading:
    return Reading(f"p.{residue(found['ref'])}{found['start']}del")


FORMS.unnamed(
    # Deletion of named residues.
    rf"{START}{_ONE}\d{{1,4}}(?:_{_ONE}\d{{1,4}}){{1,4}} (?:deletion|insertion|duplication)" + STOP,
)


FORMS.unnamed(
    # Several places.
    rf"{START}{_ONE}(?:\d{{1,4}}(?:/\d{{1,4}}){{1,4}}|\(\d{{1,4}}(?:/\d{{1,4}}){{1,4}}\)){_ONE}{STOP}",
)

FORMS.matching(
    # Place in a helix.
    rf"{START}(?P<ref>{_ONE})[1-8]\.\d{{2}}\((?P<start>{_NUMBER})\)(?P<alt>{_ONE}){STOP}",
)(_read)

FORMS.unnamed(
    # Residues inserted.
    rf"{START}(?P<what>{_ONE}{{1,8}})(?P<start>{_NUMBER})[-_](?P<end>{_NUMBER})"
    r"(?P<change>ins|del|dup)" + STOP,
    # Letters deleted.
    rf"{START}(?P<start>[1-9]\d{{1,4}})(?P<change>del|ins|dup)"
    rf"(?P<what>[{ONE_LETTER}]{{3,20}}){STOP}",
)
