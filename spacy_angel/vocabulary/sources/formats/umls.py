"""The UMLS Metathesaurus in RRF: MRCONSO, MRSTY, MRDEF, MRCUI in one folder."""

import re
from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from ....errors import AngelError
from ....files.formats import Format
from .lines import read_lines, wrong
from .records import Row, VocabularyReport, count_unused, make_row, successors

# MedMentions' choice (Mohan and Li 2019, the README of `st21pv`): type → its place in the Semantic
# Network, with which the places of all its descendants begin.
ST21PV_TYPES = {
    "T005": "A1.1.4",  # Virus
    "T007": "A1.1.2",  # Bacterium
    "T017": "A1.2",  # Anatomical Structure
    "T022": "A2.1.4.1",  # Body System
    "T031": "A1.4.2",  # Body Substance
    "T033": "A2.2",  # Finding
    "T037": "B2.3",  # Injury or Poisoning
    "T038": "B2.2.1",  # Biologic Function
    "T058": "B1.3.1",  # Health Care Activity
    "T062": "B1.3.2",  # Research Activity
    "T074": "A1.3.1",  # Medical Device
    "T082": "A2.1.5",  # Spatial Concept
    "T091": "A2.6.1",  # Biomedical Occupation or Discipline
    "T092": "A2.7",  # Organization
    "T097": "A2.9.1",  # Professional or Occupational Group
    "T098": "A2.9.2",  # Population Group
    "T103": "A1.4.1",  # Chemical
    "T168": "A1.4.3",  # Food
    "T170": "A2.4",  # Intellectual Product
    "T201": "A2.3.1",  # Clinical Attribute
    "T204": "A1.1.3",  # Eukaryote
}
# fmt: off
ST21PV_SOURCES = frozenset({
    "CPT", "FMA", "GO", "HGNC", "HPO", "ICD10", "ICD10CM", "ICD9CM", "MDR",
    "MSH", "MTH", "NCBI", "NCI", "NDDF", "NDFRT", "OMIM", "RXNORM", "SNOMEDCT_US",
})
# fmt: on

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
    of_sources: bool
    # Term status, string type, preferred atom: True sorts as the better canonical name.
    rank: tuple[bool, bool, bool]
    suppress: str


def read_umls(
    path: Path,
    report: VocabularyReport,
    *,
    sources: frozenset[str] | None = None,
    languages: frozenset[str] | None = frozenset({"ENG"}),
    types: frozenset[str] | None = None,
    suppressed: bool = False,
    all_names: bool = False,
) -> Iterator[Row]:
    """The concepts of the UMLS with the names that pass the filters.

    The canonical name is the preferred one (TS = P, STT = PF, ISPREF = Y) where it passes the
    filters, else the nearest to it. The definition is the first one of an atom that passes.
    Retired identifiers that MRCUI calls synonyms are alternate identifiers.

    path (Path): folder with MRCONSO.RRF and, where they are there, MRSTY.RRF, MRDEF.RRF,
        MRCUI.RRF, gzipped or not; itself, its subfolder META, or the path of MRCONSO.RRF.
    sources (frozenset[str] | None): source vocabularies (SAB); None: all.
    languages (frozenset[str] | None): languages (LAT); None: all.
    types (frozenset[str] | None): semantic types (`T047`: exactly it), or places in the
        Semantic Network (`B2.2.1.2.1`: with its descendants); None: all.
    suppressed (bool): take suppressed names as well; their scopes say so.
    all_names (bool): where a name of a concept is of `sources`, those of all others are taken, too.
    YIELDS (Row): one a concept, with the line of its first name that passes.
    RAISES (AngelError): a file is missing or not in the form of RRF, or the rows of a concept
        are not together.
    """
    conso = _find(path, "MRCONSO.RRF")
    if conso is None:
        raise AngelError(f"{path}: expected a folder with MRCONSO.RRF. {_HINT}")
    folder = conso.parent
    type_table = _TypeTable(_find(folder, "MRSTY.RRF"), types, folder)
    retired = _retired(_find(folder, "MRCUI.RRF"), report)

    def of_sources(source: str) -> bool:
        return sources is None or source in sources

    def taken(source: str, suppress: str) -> bool:
        return (all_names or of_sources(source)) and (suppressed or suppress == "N")

    definitions = _definitions(_find(folder, "MRDEF.RRF"), taken, type_table)
    atoms = _atoms(conso, taken, of_sources, languages, type_table, report)
    for cui, group in groupby(atoms, key=lambda atom: atom.cui):
        named = list(group)
        if not any(atom.of_sources for atom in named):
            report.skipped["names of concepts of other sources"] += len(named)
            continue
        first = max(named, key=lambda atom: atom.rank)
        auis = {atom.aui for atom in named}
        texts = (text for aui, text in definitions.get(cui, ()) if aui in auis)
        identifier = f"UMLS:C{cui:07}"
        yield make_row(
            named[0].path,
            named[0].line,
            identifier,
            dict.fromkeys((first.name, *(atom.name for atom in named))),
            types=type_table.types(cui),
            definition=next(texts, None),
            alternate_ids=retired.pop(identifier, ()),
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


def read_umls_st21pv(path: Path, report: VocabularyReport) -> Iterator[Row]:
    """The part of the UMLS that MedMentions ST21pv links to: concepts of 21 semantic types and
    their descendants that have an English name of one of 18 sources, with all their English names.

    path (Path): as for `read_umls`.
    YIELDS (Row): one a concept. RAISES (AngelError): as `read_umls`.
    """
    types = frozenset(ST21PV_TYPES.values())
    return read_umls(path, report, sources=ST21PV_SOURCES, types=types, all_names=True)


def _find(path: Path, name: str) -> Path | None:
    """The file of that name beside or under `path`, gzipped or not."""
    folder = path.parent if path.is_file() else path
    places = [folder / part / f"{name}{ending}" for part in ("", "META") for ending in ("", ".gz")]
    return next((place for place in places if place.is_file()), None)


def _rows(path: Path | None, n_columns: int) -> Iterator[tuple[int, int, list[str]]]:
    """Line, number of the concept and columns of each row; nothing where there is no file."""
    if path is None:
        return
    for line, text in read_lines(path):
        cells = text.split("|")
        # Every row ends with a bar.
        if len(cells) != n_columns + 1 or cells[-1]:
            raise wrong(path, line, f"{n_columns} columns, each closed by a bar", text)
        match = _CUI.fullmatch(cells[0])
        if match is None:
            raise wrong(path, line, "a concept identifier (`C` and seven digits)", cells[0])
        yield line, int(match[1]), cells


class _TypeTable:
    """Semantic types of every concept: two bytes for each number that a CUI can have.

    path (Path | None): MRSTY.RRF.
    wanted (Collection[str] | None): types or places in the Semantic Network; None: all.
    folder (Path): where it was looked for.
    RAISES (AngelError): types are wanted and there is no file.
    """

    def __init__(self, path: Path | None, wanted: Collection[str] | None, folder: Path) -> None:
        if path is None and wanted is not None:
            raise AngelError(f"{folder}: expected a folder with MRSTY.RRF. {_HINT}")
        self._sets: list[tuple[str, ...]] = [()]
        self._set_of = array("H", (0,)) * _MAX_CUI
        allowed: set[str] = set()
        numbers: dict[tuple[str, ...], int] = {(): 0}
        for _, cui, (_, tui, place, *_) in _rows(path, 6):
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


def _is_under(place: str, wanted: Collection[str]) -> bool:
    """Whether a place in the Semantic Network is one of `wanted` or below it."""
    parts = place.split(".")
    return any(".".join(parts[:n]) in wanted for n in range(1, len(parts) + 1))


def _retired(path: Path | None, report: VocabularyReport) -> dict[str, list[str]]:
    replaced_by: dict[str, list[str]] = {}
    for _, _, (old, _, relation, _, _, new, *_) in _rows(path, 7):
        if relation == "SY":
            replaced_by.setdefault(f"UMLS:{old}", []).append(f"UMLS:{new}")
    return successors(replaced_by, report)


def _definitions(
    path: Path | None, taken: Callable[[str, str], bool], type_table: _TypeTable
) -> dict[int, list[tuple[str, str]]]:
    """The definitions of each concept with the atoms that they belong to."""
    definitions: dict[int, list[tuple[str, str]]] = {}
    for _, cui, (_, aui, _, _, source, text, suppress, *_) in _rows(path, 8):
        if taken(source, suppress) and type_table.allows(cui):
            definitions.setdefault(cui, []).append((aui, text))
    return definitions


def _atoms(
    path: Path,
    taken: Callable[[str, str], bool],
    of_sources: Callable[[str], bool],
    languages: Collection[str] | None,
    type_table: _TypeTable,
    report: VocabularyReport,
) -> Iterator[_Atom]:
    for line, cui, cells in _rows(path, 18):
        _, language, status, _, string_type, _, preferred, aui = cells[:8]
        if languages is not None and language not in languages:
            report.skipped["names in other languages"] += 1
        elif not taken(cells[11], cells[16]):
            report.skipped["names of other sources or suppressed"] += 1
        elif not type_table.allows(cui):
            report.skipped["names of concepts of other types"] += 1
        else:
            rank = (status == "P", string_type == "PF", preferred == "Y")
            source = of_sources(cells[11])
            yield _Atom(path, line, cui, aui, cells[14], source, rank, cells[16])


def _recognises(path: Path, head: str) -> bool:
    if path.is_dir():
        return any(path.glob("MRCONSO.RRF*")) or any(path.glob("META/MRCONSO.RRF*"))
    return path.name.upper().startswith("MRCONSO.RRF")


UMLS = Format("umls.v1", read_umls, _recognises)
# The same files, of which another part is taken: it has to be named.
ST21PV = Format("umls_st21pv.v1", read_umls_st21pv, lambda path, head: False)
