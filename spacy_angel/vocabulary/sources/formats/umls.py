"""UMLS Metathesaurus in RRF (MRCONSO, MRSTY, MRDEF, MRCUI, and MRREL in one folder), and RxNorm's
RXNCONSO, which has the same columns."""

import re
from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np

from ....errors import AngelError
from ....files.formats import Format, first_line
from ...names.concepts import normalize_name
from .lines import find_files, read_lines, required_files
from .records import Concepts, VocabularyReport, make_concept, wrong

# Columns of MRCONSO and RXNCONSO.
_LAT, _TS, _STT, _ISPREF, _AUI, _SAB, _TTY, _STR, _SUPPRESS = 1, 2, 4, 6, 7, 11, 12, 14, 16
_N_COLUMNS = 18
_CUI = re.compile(r"C(\d{7})", re.ASCII)
_MAX_CUI = 10_000_000
_RXNORM_LINE = re.compile(r"\d+\|[A-Z]{3}\|([^|]*\|){16}$")
# Kinds of names in RxNorm, the better canonical one first: ingredients, brands, drugs with their
# strength, packages; then what only gives further names.
_KINDS = ("IN", "PIN", "MIN", "BN", "SCDC", "SCD", "SBD", "GPCK", "BPCK")
_RANKS = {kind: rank for rank, kind in enumerate((*_KINDS, "PSN", "SY", "TMSY"))}

Row = list[str]


def read_umls(
    path: Path,
    report: VocabularyReport,
    *,
    sources: frozenset[str] | None = None,
    languages: frozenset[str] | None = frozenset({"ENG"}),
    types: frozenset[str] | None = None,
    all_names: bool = False,
) -> Concepts:
    """UMLS concepts with the names that pass the filters.

    The canonical name is the preferred name (TS = P, STT = PF, ISPREF = Y) if it passes the
    filters, or else the closest to it. The definition is the first one of an atom that passes.
    Retired identifiers that are synonyms according to MRCUI are alternate identifiers. MRREL's PAR
    and CHD, from `sources` only, give the hierarchy.

    path (Path): folder with MRCONSO.RRF and, optionally, MRSTY.RRF, MRDEF.RRF, MRCUI.RRF,
        MRREL.RRF, plain or gzip, each whole or split (`MRCONSO.RRF.aa`, `.ab`); or a folder with
        the subfolder META; or the path of MRCONSO.RRF.
    sources (frozenset[str] | None): source vocabularies (SAB) to include; None: all.
    languages (frozenset[str] | None): languages (LAT) to include; None: all.
    types (frozenset[str] | None): semantic types to include (`T047`), or nodes of the Semantic
        Network with their descendants (`B2.2.1.2.1`); None: all.
    all_names (bool): if a concept has a name in `sources`, also include its names in all other
        sources.
    YIELDS (Concept): one for each concept.
    RAISES (ValueError): a file is missing or is not RRF.
    """

    def rows(name: str, n_columns: int) -> Iterator[Row]:
        return _rows(_find(path, name), report, n_columns)

    if not _find(path, "MRCONSO.RRF"):
        raise AngelError(
            f"{path}: expected a folder with MRCONSO.RRF. Give the folder META of a UMLS release, "
            "or what MetamorphoSys wrote."
        )
    if types is not None and not _find(path, "MRSTY.RRF"):
        raise AngelError(f"{path}: expected MRSTY.RRF beside MRCONSO.RRF, to choose types.")
    # whose names count for concepts that have one in `sources`
    names_from = None if all_names else sources
    types_of = _types(rows("MRSTY.RRF", 6), types)
    for old, _, relation, _, _, new, *_ in rows("MRCUI.RRF", 7):
        if relation == "SY":
            report.retire(f"UMLS:{old}", f"UMLS:{new}")
    parents_of = _parents(rows("MRREL.RRF", 16), names_from)
    # concept → definitions with their atoms
    definitions: dict[str, list[tuple[str, str]]] = {}
    for cui, aui, _, _, source, text, suppress, *_ in rows("MRDEF.RRF", 8):
        if _is_taken(source, suppress, names_from):
            definitions.setdefault(cui, []).append((aui, text))

    def atoms() -> Iterator[Row]:
        for row in rows("MRCONSO.RRF", _N_COLUMNS):
            if languages is not None and row[_LAT] not in languages:
                report.skipped["names in other languages"] += 1
            elif not _is_taken(row[_SAB], row[_SUPPRESS], names_from):
                report.skipped["names of other sources or suppressed"] += 1
            elif types_of(row[0]) is None:
                report.skipped["names of concepts of other types"] += 1
            else:
                yield row

    for cui, group in groupby(atoms(), key=lambda row: row[0]):
        named = list(group)
        if sources is not None and sources.isdisjoint(row[_SAB] for row in named):
            report.skipped["names of concepts of other sources"] += len(named)
            continue
        first = max(named, key=_rank)
        auis = {row[_AUI] for row in named}
        texts = (text for aui, text in definitions.get(cui, ()) if aui in auis)
        yield make_concept(
            f"UMLS:{cui}",
            dict.fromkeys((first[_STR], *(row[_STR] for row in named))),
            types=types_of(cui) or (),
            definition=next(texts, None),
            parents=parents_of(cui),
            # which name the UMLS prefers
            scopes=[(first[_STR], "PREFERRED")] if all(_rank(first)) else (),
        )


def _rank(row: Row) -> tuple[bool, bool, bool]:
    """Term status, string type, and preferred atom; the greatest value is the best canonical
    name."""
    return row[_TS] == "P", row[_STT] == "PF", row[_ISPREF] == "Y"


def _is_taken(source: str, suppress: str, sources: frozenset[str] | None) -> bool:
    return suppress == "N" and (sources is None or source in sources)


def _find(path: Path, name: str) -> list[Path]:
    return find_files(path, name, f"META/{name}")


def _rows(paths: Sequence[Path], report: VocabularyReport, n_columns: int) -> Iterator[Row]:
    """The columns of each row; nothing if there is no file."""
    cut = ""
    for path in paths:
        is_last = path == paths[-1]
        for text in read_lines(path, report, cut_shows=not is_last):
            cells = (cut + text).split("|")
            cut = ""
            # A file may have been split within a row, but a row ends with a bar.
            if not is_last and len(cells) <= n_columns:
                cut = "|".join(cells)
            elif len(cells) != n_columns + 1 or cells[-1]:
                raise wrong(f"{n_columns} columns, each closed by a bar", text)
            else:
                yield cells


def _number(cui: str) -> int:
    match = _CUI.fullmatch(cui)
    if match is None:
        raise wrong("a concept identifier (`C` and seven digits)", cui)
    return int(match[1])


def _types(
    rows: Iterator[Row], wanted: Collection[str] | None
) -> Callable[[str], tuple[str, ...] | None]:
    """Concept → semantic types from MRSTY.RRF, stored as two bytes for each possible CUI; None if
    none of them is in `wanted`, or below one of its nodes of the Semantic Network."""
    sets: list[tuple[str, ...]] = [()]
    numbers: dict[tuple[str, ...], int] = {(): 0}
    set_of = array("H", (0,)) * _MAX_CUI
    allowed: set[str] = set()
    for cui, tui, node, *_ in rows:
        if any(tui == one or f"{node}.".startswith(f"{one}.") for one in wanted or ()):
            allowed.add(tui)
        number = _number(cui)
        types = tuple(sorted({*sets[set_of[number]], tui}))
        if types not in numbers:
            numbers[types] = len(sets)
            sets.append(types)
        set_of[number] = numbers[types]

    def types_of(cui: str) -> tuple[str, ...] | None:
        types = sets[set_of[_number(cui)]]
        return types if wanted is None or not allowed.isdisjoint(types) else None

    return types_of


def _parents(rows: Iterator[Row], sources: frozenset[str] | None) -> Callable[[str], list[str]]:
    """Concept → parents from MRREL.RRF, stored as one sorted array of numbers."""
    numbers = array("q")
    for row in rows:
        if row[3] in ("PAR", "CHD") and _is_taken(row[10], row[14], sources):
            # the second is the parent, or the child, of the first
            child, parent = (row[0], row[4])[:: 1 if row[3] == "PAR" else -1]
            numbers.append(_number(child) << 32 | _number(parent))
    pairs = np.unique(np.array(numbers, dtype=np.int64))

    def parents_of(cui: str) -> list[str]:
        number = _number(cui)
        first, last = np.searchsorted(pairs, (number << 32, (number + 1) << 32))
        return [f"UMLS:C{pair & 0xFFFFFFFF:07}" for pair in pairs[first:last].tolist()]

    return parents_of


def read_rxnorm(path: Path, report: VocabularyReport) -> Concepts:
    """RxNorm's RXNCONSO.RRF: ingredients, brands, clinical and branded drugs. Types are the term
    types of RxNorm's own names (`IN`, `BN`, `SCD`, …); names from other sources are aliases.

    path (Path): RXNCONSO.RRF, plain or gzip, or its folder.
    YIELDS (Concept): one for each concept.
    RAISES (ValueError): a line does not have 18 columns.
    """
    files = required_files(path, "RXNCONSO.RRF")

    def atoms() -> Iterator[Row]:
        for row in _rows(files, report, _N_COLUMNS):
            if row[_LAT] == "ENG" and row[_SUPPRESS] in ("N", ""):
                yield row
            else:
                report.skipped["suppressed names"] += 1

    for rxcui, group in groupby(atoms(), key=lambda row: row[0]):
        named = list(group)
        own = [row for row in named if row[_SAB] == "RXNORM"]
        own.sort(key=lambda row: _RANKS.get(row[_TTY], len(_RANKS)))
        kinds = [row[_TTY] for row in own if row[_TTY] in _KINDS]
        if not kinds:
            report.skipped["concepts without a name of RxNorm's own"] += 1
            continue
        names: dict[str, str] = {}
        for row in (*own, *named):
            names.setdefault(normalize_name(row[_STR]), row[_STR])
        yield make_concept(f"RXNORM:{rxcui}", names.values(), types=kinds)


def _is_umls(path: Path, head: str) -> bool:
    if path.is_dir():
        return bool(_find(path, "MRCONSO.RRF"))
    return path.name.upper().startswith("MRCONSO.RRF")


def _is_rxnorm(path: Path, head: str) -> bool:
    return (path.is_dir() and bool(find_files(path, "RXNCONSO.RRF"))) or _RXNORM_LINE.match(
        first_line(head)
    ) is not None


UMLS = Format("umls.v1", read_umls, _is_umls)
RXNORM = Format("rxnorm.v1", read_rxnorm, _is_rxnorm)
