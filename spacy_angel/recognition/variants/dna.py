"""Variants of DNA and RNA in symbols: `c.35delG`, `IVS2+1G>A`, `-308 G/A`, `C677T`, `rs113488022`.

Two older notations are interpreted as their authors meant them (Antonarakis et al., Hum Mutat 1998;
11:1-3): `1294del40` deletes 40 bases from position 1294 on, and `1154insTC` inserts after 1154.
"""

import re

from .form import Forms, Needs, Reading
from .letters import bases

ARROW = r"(?: ?(?:-{0,4}>|-{2,4}|→|⟶|&gt;) ?)"
# Not behind a letter, a digit or a point, where a longer form would go on; the sign of a subunit,
# `εA411P`, belongs to it.
START = r"(?:(?<![\w.*])[α-λν-ω]?)"
# `TNFA-863C>A`, `IL6-174G>C`: the sign belongs to the place.
_SIGNED = r"(?:(?<![\w.*])(?<!\d-)|(?<=[A-Za-z])(?=-\d)|(?<=[A-Za-z]\d)(?=-\d{2}))"
STOP = r"(?![\w*])"
_REFERENCE = r"(?P<reference>\b(?:[NX][CGMR]_|ENS[GT]|LRG_)\d{3,12}(?:\.\d{1,2}|t\d)?\)?: ?)?"
_LEVEL = r"(?P<level>[cgmnr]\. ?|C\. ?(?=[*\-]?\d))"
_BARE_LEVEL = r"(?P<level>[cgmnr]\. ?|[cgm](?=-?\d{2}))?"
_NUMBER = r"[*+-]?\d{1,9}"
_IVS = (
    r"(?:IVS|ivs)[- ]?(?:\d{1,3}|[IVX]{1,4})"
    r"(?: ?[+-] ?\d{1,6}| ?\([+-]\d{1,6}\)| ?nt ?-?\d{1,6})"
)
_OFFSET = r"(?: ?[+-] ?\d{1,6}(?:(?:\.\d)? ?kb)?)"
_POINT = rf"(?:{_IVS}|{_NUMBER}{_OFFSET}?)"
_CLOSE_POINT = rf"(?:{_IVS}|{_NUMBER}(?:[+-]\d{{1,6}}| \+ ?\d{{1,3}}(?:\.\d)?(?: ?kb)?)?)"
_BASES = r"[ACGTU]{1,12}|[acgtu]{1,12}"
# What extracts from PDF make of `>`.
_GARBLED = r"[<4](?=[ACGT]\b)"
_CHANGES = (
    r"(?P<change>delins|del/ins|ins/del|indel|del|ins|dup|inv|Del|Ins|Dup|INS|DEL"
    r"|(?:Δ|∆|delta ?)(?=[ACGT]))"
)
_PAYLOAD = (
    r"(?: ?(?P<bracket>\()?(?P<what>[ACGTU]{1,40})(?(bracket)\))(?:[(\[](?P<times>\d{1,3})[)\]])?"
    r"|N\[(?P<unknown>\d{1,6})\]"
    r"|(?P<low>[acgtu]{1,40})"
    r"| ?(?P<count>\d{1,6})(?: ?-?(?P<unit>bp|nt|kb|b)\b)?)"
)
_MORE = r"(?:ins ?(?P<inserted>[ACGTU]{1,40}|[acgtu]{1,40}|\d{1,6}|N\[\d{1,6}\]))?"
_ROMANS = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")


def point(written: str) -> str:
    """written (str): a position, e.g. `IVS3 + 18`, `(-3)`, `IVS-6(-2)`. RETURNS (str): in HGVS
    notation, e.g. `IVS3+18`, `-3`, `IVS6-2`."""
    plain = re.sub(r"[ ()]", "", written)
    found = re.fullmatch(r"(?:IVS|ivs)-?(\d{1,3}|[IVX]{1,4})(nt)?([+-]?)(\d{1,6})", plain)
    if found is None:
        return plain
    intron, _, sign, number = found.groups()
    intron = str(_ROMANS.index(intron) + 1) if intron in _ROMANS else intron
    return f"IVS{intron}{sign or '+'}{number}"


def substituted(level: str, start: str, ref: str, alt: str) -> str:
    """level (str): `c`, `g`, …. start (str): see `point`. ref (str), alt (str): bases. RETURNS
    (str): e.g. `c.35G>A`, or `c.-174=` if the base does not change; empty for several bases at a
    position whose end is undetermined, `+0AA>G`."""
    ref, alt = _letters(level, ref), _letters(level, alt)
    if ref == alt:
        return f"{level}.{start}="
    if len(ref) > 1 or len(alt) > 1:
        end = _shifted(start, len(ref) - 1)
        return f"{level}.{_joined(start, end)}delins{alt}" if end else ""
    return f"{level}.{start}{ref}>{alt}"


def inserted(level: str, start: str, what: str) -> str:
    """As `substituted`. RETURNS (str): an insertion after `start`, e.g. `c.1154_1155insTC`."""
    behind = _shifted(start, 1)
    what = _letters(level, what)
    return f"{level}.{start}_{behind}ins{what}" if behind else f"{level}.{start}ins{what}"


def _letters(level: str, written: str) -> str:
    """RETURNS (str): the bases in HGVS notation, in lower case for RNA; `N[3]` is unchanged."""
    letters = bases(written)
    return letters.lower().replace("t", "u") if level == "r" and letters.isalpha() else letters


def _shifted(start: str, by: int) -> str:
    """RETURNS (str): a later position; empty if computing it requires the transcript."""
    found = re.fullmatch(r"([*]?)(-?\d{1,9})(?:([+-])(\d{1,6}))?", start)
    if found is None:
        return "" if by else start
    mark, number, sign, offset = found.groups()
    if offset is None:
        moved = int(number) + by
        # There is no 0: -1 is followed by 1.
        return f"{mark}{moved + (int(number) < 0 <= moved)}"
    along = int(sign + offset) + by
    return f"{mark}{number}{along:+d}" if along * int(sign + "1") > 0 else ""


def _level(found: re.Match[str]) -> str:
    if found["level"]:
        return found["level"].rstrip(". ").lower()
    # No transcript is that long.
    return "g" if re.fullmatch(r"\d{6,9}", found["start"]) else "c"


def _with_reference(found: re.Match[str], form: str) -> str:
    return form and (found["reference"] or "").replace(" ", "") + form


def _inserted_what(found: re.Match[str], what: str, count: int) -> str:
    if found["times"]:
        return f"{what}[{found['times']}]"
    return what or (f"N[{count}]" if count else "")


def _joined(start: str, end: str) -> str:
    return f"{start}_{end}" if end and end != start else start


def _range(start: str, end: str, length: int, *, is_hgvs: bool) -> tuple[str, str]:
    """Interpret a range: `899-1142` are two positions, and so are `1782-83` (1782 and 1783) if two
    letters are deleted; `c.1983-5` in HGVS is a single position in an intron."""
    if start.isdigit() and end.isdigit() and int(end) < int(start):
        whole = start[: len(start) - len(end)] + end
        between = int(whole) - int(start) + 1
        if between > 1 and length in (0, between) and not is_hgvs:
            return start, whole
        return f"{start}-{end}", ""
    return start, end


FORMS = Forms()


@FORMS.matching(
    # Rs number.
    r"(?<![\w/])(?:rs|RS|Rs)(?:[ #-]{1,2}(?=\d{4}))?(?P<number>[1-9]\d{2,10})" + STOP,
)
def _read_rs(found: re.Match[str]) -> Reading:
    return Reading(f"rs{found['number']}")


@FORMS.matching(
    # Star allele.
    r"(?<![\w*])(?P<gene>(?:HLA[- ])?[A-Z][A-Z0-9]{0,9})\*"
    r"(?P<allele>\d{1,4}(?::\d{2,3}){0,3}[A-Z]?(?:xN|x\d)?)" + STOP,
)
def _read_star(found: re.Match[str]) -> Reading | None:
    gene, allele = found["gene"].replace(" ", "-"), found["allele"]
    if len(gene) < 3:
        return None
    is_hla = gene.startswith("HLA-") or re.fullmatch(r"D[PQR][AB]\d?", gene) is not None
    if is_hla and re.fullmatch(r"\d{4}", allele):
        # As before 2010: `B*5701`.
        allele = f"{allele[:2]}:{allele[2:]}"
    return Reading(f"{gene}*{allele}")


@FORMS.matching(
    # Substitution.
    START + _REFERENCE + _LEVEL + rf"(?P<start>{_POINT})(?:_(?P<end>{_POINT}))?,? ?(?P<open>\()?"
    rf"(?P<ref>{_BASES})(?:{ARROW}| ?/ ?| to |-to-|{_GARBLED})(?P<alt>{_BASES})(?(open)\))" + STOP,
)
def _read_substitution(found: re.Match[str]) -> Reading | None:
    start, ref, alt = point(found["start"]), found["ref"], found["alt"]
    if found["end"] is not None:
        level = _level(found)
        form = f"{level}.{start}_{point(found['end'])}delins{_letters(level, alt)}"
    else:
        form = substituted(_level(found), start, ref, alt)
    return Reading(_with_reference(found, form))


@FORMS.matching(
    # Bare substitution.
    _SIGNED + rf"(?P<level>[cgm](?=-?\d{{2}}))?(?P<start>{_CLOSE_POINT}),? ?(?P<open>\()?"
    rf"(?P<ref>{_BASES})(?P<arrow>{ARROW}| ?/ ?| to )(?P<alt>{_BASES})(?(open)\))" + STOP,
)
def _read_bare_substitution(found: re.Match[str]) -> Reading | None:
    start, ref, alt, arrow = point(found["start"]), found["ref"], found["alt"], found["arrow"]
    if (ref.islower() or alt.islower()) and not {">", "→"} & {*arrow}:
        return None
    # `2A/C` names subunits, `10 A to G` is a list.
    is_plain = re.fullmatch(r"[-+]?\d{1,9}", start) is not None
    if is_plain and arrow.strip() in ("/", "to") and len(start.strip("+-")) < 2:
        return None
    return Reading(substituted(_level(found), start, ref, alt))


@FORMS.matching(
    # Unchanged.
    START + _REFERENCE + rf"{_LEVEL}(?P<start>{_POINT}) ?(?P<ref>[ACGT]{{0,20}})=" + r"(?!\w)",
)
def _read_genotyped(found: re.Match[str]) -> Reading:
    return Reading(_with_reference(found, f"{_level(found)}.{point(found['start'])}="))


@FORMS.matching(
    # In an intron.
    START + rf"(?P<start>{_IVS}),? ?\(?(?P<ref>[ACGTacgt]) ?- ?(?P<alt>[ACGTacgt])\)?" + STOP,
)
def _read_ivs(found: re.Match[str]) -> Reading:
    return Reading(substituted("c", point(found["start"]), found["ref"], found["alt"]))


FORMS.unnamed(
    # Place in an intron.
    START
    + r"(?P<start>(?:IVS|ivs)[- ]?\d{1,3}(?: ?nt ?[-+]?\d{1,6}|\([-+]\d{1,6}\)))"
    + r"(?![\w*>/-]| ?[ACGT]\b)",
)


@FORMS.matching(
    # Base, place, base.
    START + r"(?P<level>[cgmnr]\. ?)?(?P<ref>[ACGT])(?P<start>[-+]?\d{1,8}|\([-+]\d{1,6}\))"
    rf"{ARROW}?(?P<alt>[ACGT])(?:/(?P<also>[ACGT]))?" + STOP,
)
def read_old(found: re.Match[str]) -> Reading | None:
    start = point(found["start"]).lstrip("+")
    in_doubt = int(start.lstrip("-")) < 10 and not found["level"]
    if start.startswith("0") or (in_doubt and not start.startswith("-")):
        return None
    ref, alt = found["ref"], found["alt"]
    needs = Needs.A_WORD if in_doubt else Needs.NOTHING
    identifier = "" if found["also"] else substituted(_level(found), start, ref, alt)
    return Reading(identifier, needs)


@FORMS.matching(
    # Deletion, insertion, duplication.
    START
    + _REFERENCE
    + _BARE_LEVEL
    + rf"(?P<start>{_POINT})(?: ?(?:_|-|\.\.\.|/| to ) ?(?P<end>{_POINT}))?"
    rf"[- ]?{_CHANGES}{_PAYLOAD}?{_MORE}" + STOP,
)
def _read_indel(found: re.Match[str]) -> Reading | None:
    start, level = point(found["start"]), _level(found)
    change = found["change"].lower().strip()
    change = {"δ": "del", "∆": "del", "delta": "del", "indel": "delins"}.get(change, change)
    what = _letters(level, found["what"] or found["low"] or "")
    count = int(found["count"] or found["unknown"] or 0) * (1000 if found["unit"] == "kb" else 1)
    if found["change"].isupper() and not (found["level"] or what or found["inserted"]):
        # `1930 DEL MONTE`.
        return None
    if re.fullmatch(r"[-+]?\d{1,2}", start) and not (found["level"] or what or found["end"]):
        # `3 dup` stands in lists.
        return None
    end = point(found["end"]) if found["end"] else ""
    if not end and (two := re.fullmatch(r"(\d{1,9})-(\d{1,9})", start)):
        start, end = _range(two[1], two[2], len(what) or count, is_hgvs=bool(found["level"]))
    elif end:
        start, end = _range(start, end, len(what) or count, is_hgvs=False)
    if found["inserted"]:
        inserts = found["inserted"]
        if not inserts.endswith("]"):
            inserts = f"N[{inserts}]" if inserts.isdigit() else _letters(level, inserts)
        if not end and what:
            end = _shifted(start, len(what) - 1)
        form = f"{level}.{_joined(start, end)}delins{inserts}"
    elif change == "ins":
        inserts = _inserted_what(found, what, count)
        form = f"{level}.{start}_{end}ins{inserts}" if end else inserted(level, start, inserts)
        form = form if inserts else ""
    elif change in ("del", "dup", "inv"):
        length = len(what) or count
        if not end and length > 1:
            end = _shifted(start, length - 1)
            if not end:
                return Reading(f"{level}.{start}{change}{what or count}")
        form = f"{level}.{_joined(start, end)}{change}"
    else:
        inserts = _inserted_what(found, what, count) if change == "delins" else ""
        form = f"{level}.{_joined(start, end)}delins{inserts}" if inserts else ""
    return Reading(_with_reference(found, form))


FORMS.unnamed(
    # Repeat without level.
    r"(?<![\w.])\d{2,6}\([ACGT]{2,10}\)(?:\(\d{1,3}(?:-\d{1,3})?\)|n\b)",
)
