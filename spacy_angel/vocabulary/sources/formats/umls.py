"""The UMLS Metathesaurus in RRF: MRCONSO, MRSTY, MRDEF, MRCUI, MRREL in one folder."""

import re
from array import array
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ....errors import AngelError
from ....files.formats import Format
from .lines import read_lines, wrong
from .records import Concepts, VocabularyReport, count_unused, make_concept, successors

# Obsolete; suppressed by an editor, or with all terms of its kind.
_SUPPRESSED = {"O": "OBSOLETE", "E": "SUPPRESSED", "Y": "SUPPRESSED"}
_CUI = re.compile(r"C(\d{7})", re.ASCII)
_MAX_CUI = 10_000_000
_HINT = "Give the folder META of a UMLS release, or what MetamorphoSys wrote."


class _Atom(NamedTuple):
    path: Path
    line: int
    cui: int
    aui: str
    name: str
    is_own: bool
    # Term status, string type, preferred atom: True sorts as the better canonical name.
    rank: tuple[bool, bool, bool]
    suppress: str


@dataclass(frozen=True)
class _Filter:
    """Which rows count, see `read_umls`."""

    sources: frozenset[str] | None
    languages: frozenset[str] | None
    suppressed: bool
    all_names: bool

    def is_own(self, source: str) -> bool:
        return self.sources is None or source in self.sources

    def takes(self, source: str, suppress: str) -> bool:
        return (self.all_names or self.is_own(source)) and (self.suppressed or suppress == "N")


def read_umls(
    path: Path,
    report: VocabularyReport,
    *,
    sources: frozenset[str] | None = None,
    languages: frozenset[str] | None = frozenset({"ENG"}),
    types: frozenset[str] | None = None,
    suppressed: bool = False,
    all_names: bool = False,
) -> Concepts:
    """The concepts of the UMLS with the names that pass the filters.

    The canonical name is the preferred one (TS = P, STT = PF, ISPREF = Y) where it passes the
    filters, else the nearest to it. The definition is the first one of an atom that passes.
    Retired identifiers that MRCUI calls synonyms are alternate identifiers. MRREL's PAR and CHD,
    those of `sources`, are the hierarchy.

    path (Path): folder with MRCONSO.RRF and, where they are there, MRSTY.RRF, MRDEF.RRF,
        MRCUI.RRF, MRREL.RRF, gzipped or not, each whole or in parts (`MRCONSO.RRF.aa`, `.ab`);
        itself, its subfolder META, or the path of MRCONSO.RRF.
    sources (frozenset[str] | None): source vocabularies (SAB); None: all.
    languages (frozenset[str] | None): languages (LAT); None: all.
    types (frozenset[str] | None): semantic types (`T047`: exactly it), or places in the
        Semantic Network (`B2.2.1.2.1`: with its descendants); None: all.
    suppressed (bool): take suppressed names as well; their scopes say so.
    all_names (bool): where a name of a concept is of `sources`, those of all others are taken, too.
    YIELDS (Concept): one for each concept.
    RAISES (AngelError): a file is missing or not in the form of RRF, or the rows of a concept
        are not together.
    """
    conso = _find(path, "MRCONSO.RRF")
    if not conso:
        raise AngelError(f"{path}: expected a folder with MRCONSO.RRF. {_HINT}")
    folder = conso[0].parent
    type_table = _TypeTable(_find(folder, "MRSTY.RRF"), types, folder)
    retired = _retired(_find(folder, "MRCUI.RRF"), report)

    wanted = _Filter(sources, languages, suppressed, all_names)
    parents = _Parents(_find(folder, "MRREL.RRF"), wanted)
    definitions = _definitions(_find(folder, "MRDEF.RRF"), wanted, type_table)
    atoms = _atoms(conso, wanted, type_table, report)
    for cui, group in groupby(atoms, key=lambda atom: atom.cui):
        named = list(group)
        if not any(atom.is_own for atom in named):
            report.skipped["names of concepts of other sources"] += len(named)
            continue
        first = max(named, key=lambda atom: atom.rank)
        auis = {atom.aui for atom in named}
        texts = (text for aui, text in definitions.get(cui, ()) if aui in auis)
        identifier = f"UMLS:C{cui:07}"
        yield make_concept(
            named[0].path,
            named[0].line,
            identifier,
            dict.fromkeys((first.name, *(atom.name for atom in named))),
            types=type_table.types(cui),
            definition=next(texts, None),
            alternate_ids=retired.pop(identifier, ()),
            parents=parents.of(cui),
            scopes=_scopes(first, named),
        )
    count_unused(retired, report)


def _scopes(first: _Atom, atoms: Sequence[_Atom]) -> Iterator[tuple[str, str]]:
    """Which name the UMLS prefers, and which all sources that have them suppress."""
    if all(first.rank):
        yield first.name, "PREFERRED"
    shown = {atom.name for atom in atoms if atom.suppress not in _SUPPRESSED}
    for atom in atoms:
        if atom.name not in shown:
            yield atom.name, _SUPPRESSED[atom.suppress]


def _find(path: Path, name: str) -> list[Path]:
    """The file of that name beside or under `path`, gzipped or not, or its parts in order."""
    folder = path.parent if path.is_file() else path
    for pattern in (f"{part}{name}{end}" for part in ("", "META/") for end in ("", ".gz", ".??*")):
        if files := sorted(folder.glob(pattern)):
            return files
    return []


def _rows(paths: Sequence[Path], n_columns: int) -> Iterator[tuple[Path, int, int, list[str]]]:
    """File, line, number of the concept and columns of each row; nothing if there is no file."""
    cut = ""
    for path in paths:
        is_last = path == paths[-1]
        for line, text in read_lines(path, cut_shows=not is_last):
            cells = (cut + text).split("|")
            cut = ""
            # A file may have been split within a row, but a row ends with a bar.
            if not is_last and len(cells) <= n_columns:
                cut = "|".join(cells)
                continue
            if len(cells) != n_columns + 1 or cells[-1]:
                raise wrong(path, line, f"{n_columns} columns, each closed by a bar", text)
            match = _CUI.fullmatch(cells[0])
            if match is None:
                raise wrong(path, line, "a concept identifier (`C` and seven digits)", cells[0])
            yield path, line, int(match[1]), cells


class _TypeTable:
    """Semantic types of every concept: two bytes for each number that a CUI can have.

    paths (Sequence[Path]): MRSTY.RRF.
    wanted (Collection[str] | None): types or places in the Semantic Network; None: all.
    folder (Path): where it was looked for.
    RAISES (AngelError): types are wanted and there is no file.
    """

    def __init__(self, paths: Sequence[Path], wanted: Collection[str] | None, folder: Path) -> None:
        if not paths and wanted is not None:
            raise AngelError(f"{folder}: expected a folder with MRSTY.RRF. {_HINT}")
        self._sets: list[tuple[str, ...]] = [()]
        self._set_of = array("H", (0,)) * _MAX_CUI
        allowed: set[str] = set()
        numbers: dict[tuple[str, ...], int] = {(): 0}
        for _, _, cui, (_, tui, place, *_) in _rows(paths, 6):
            if wanted is None or tui in wanted or _is_under(place, wanted):
                allowed.add(tui)
            types = tuple(sorted({*self._sets[self._set_of[cui]], tui}))
            if types not in numbers:
                numbers[types] = len(self._sets)
                self._sets.append(types)
            self._set_of[cui] = numbers[types]
        self._allowed = [wanted is None or not allowed.isdisjoint(set_) for set_ in self._sets]

    def types(self, cui: int) -> tuple[str, ...]:
        return self._sets[self._set_of[cui]]

    def allows(self, cui: int) -> bool:
        return self._allowed[self._set_of[cui]]


class _Parents:
    """Parents of concepts, as two sorted arrays of numbers.

    paths (Sequence[Path]): MRREL.RRF. wanted (_Filter): which rows count.
    """

    def __init__(self, paths: Sequence[Path], wanted: _Filter) -> None:
        pairs = array("q")
        for path, line, cui, cells in _rows(paths, 16):
            if cells[3] not in ("PAR", "CHD") or not wanted.takes(cells[10], cells[14]):
                continue
            match = _CUI.fullmatch(cells[4])
            if match is None:
                raise wrong(path, line, "a concept identifier as CUI2", cells[4])
            # the second is the parent, or the child, of the first
            child, parent = (cui, int(match[1]))[:: 1 if cells[3] == "PAR" else -1]
            pairs.append(child << 32 | parent)
        self._pairs = np.unique(np.frombuffer(pairs, dtype=np.int64)) if pairs else np.zeros(0)

    def of(self, cui: int) -> list[str]:
        first, last = np.searchsorted(self._pairs, (cui << 32, (cui + 1) << 32))
        return [f"UMLS:C{pair & 0xFFFFFFFF:07}" for pair in self._pairs[first:last].tolist()]


def _is_under(place: str, wanted: Collection[str]) -> bool:
    """Whether a place in the Semantic Network is one of `wanted` or below it."""
    parts = place.split(".")
    return any(".".join(parts[:n]) in wanted for n in range(1, len(parts) + 1))


def _retired(paths: Sequence[Path], report: VocabularyReport) -> dict[str, list[str]]:
    replaced_by: dict[str, list[str]] = {}
    for _, _, _, (old, _, relation, _, _, new, *_) in _rows(paths, 7):
        if relation == "SY":
            replaced_by.setdefault(f"UMLS:{old}", []).append(f"UMLS:{new}")
    return successors(replaced_by, report)


def _definitions(
    paths: Sequence[Path], wanted: _Filter, type_table: _TypeTable
) -> dict[int, list[tuple[str, str]]]:
    """The definitions of each concept with the atoms that they belong to."""
    definitions: dict[int, list[tuple[str, str]]] = {}
    for _, _, cui, (_, aui, _, _, source, text, suppress, *_) in _rows(paths, 8):
        if wanted.takes(source, suppress) and type_table.allows(cui):
            definitions.setdefault(cui, []).append((aui, text))
    return definitions


def _atoms(
    paths: Sequence[Path], wanted: _Filter, type_table: _TypeTable, report: VocabularyReport
) -> Iterator[_Atom]:
    for path, line, cui, cells in _rows(paths, 18):
        _, language, status, _, string_type, _, preferred, aui = cells[:8]
        source, name, suppress = cells[11], cells[14], cells[16]
        if wanted.languages is not None and language not in wanted.languages:
            report.skipped["names in other languages"] += 1
        elif not wanted.takes(source, suppress):
            report.skipped["names of other sources or suppressed"] += 1
        elif not type_table.allows(cui):
            report.skipped["names of concepts of other types"] += 1
        else:
            rank = (status == "P", string_type == "PF", preferred == "Y")
            yield _Atom(path, line, cui, aui, name, wanted.is_own(source), rank, suppress)


def _recognizes(path: Path, head: str) -> bool:
    if path.is_dir():
        return bool(_find(path, "MRCONSO.RRF"))
    return path.name.upper().startswith("MRCONSO.RRF")


FORMAT = Format("umls.v1", read_umls, _recognizes)
