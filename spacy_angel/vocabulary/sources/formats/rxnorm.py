"""RxNorm, the drugs of the United States."""

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from ....files.formats import Format, first_line
from ...names.concepts import normalize_name
from .lines import read_lines, wrong
from .records import Concepts, VocabularyReport, make_concept

_LINE = re.compile(r"\d+\|[A-Z]{3}\|([^|]*\|){16}$")
_COLUMNS = 18
# Kinds of names, the better canonical one first: ingredients, brands, drugs with their strength,
# packages; then what only gives further names.
_KINDS = ("IN", "PIN", "MIN", "BN", "SCDC", "SCD", "SBD", "GPCK", "BPCK")
_RANKS = {kind: rank for rank, kind in enumerate((*_KINDS, "PSN", "SY", "TMSY"))}


def read_rxnorm(path: Path, report: VocabularyReport) -> Concepts:
    """RxNorm's RXNCONSO.RRF: ingredients, brands, clinical and branded drugs. Types are the term
    types of the names by RxNorm itself (`IN`, `BN`, `SCD`, …); names of other sources are aliases.

    path (Path): RXNCONSO.RRF, gzipped or not, or the folder that holds it.
    YIELDS (Concept): one for each concept.
    RAISES (AngelError): a line of other than 18 columns.
    """
    file = path / "RXNCONSO.RRF" if path.is_dir() else path
    for rxcui, lines in groupby(_atoms(file, report), key=lambda entry: entry[1][0]):
        atoms = list(lines)
        own = [cells for _, cells in atoms if cells[11] == "RXNORM"]
        own.sort(key=lambda cells: _RANKS.get(cells[12], len(_RANKS)))
        kinds = [cells[12] for cells in own if cells[12] in _KINDS]
        if not kinds:
            report.skipped["concepts without a name of RxNorm's own"] += 1
            continue
        names: dict[str, str] = {}
        for cells in (*own, *(cells for _, cells in atoms)):
            names.setdefault(normalize_name(cells[14]), cells[14])
        yield make_concept(file, atoms[0][0], f"RXNORM:{rxcui}", names.values(), types=kinds)


def _atoms(path: Path, report: VocabularyReport) -> Iterator[tuple[int, list[str]]]:
    for number, line in read_lines(path):
        cells = line.split("|")
        if len(cells) != _COLUMNS + 1:
            raise wrong(path, number, f"{_COLUMNS} columns, each closed by |", line)
        if cells[1] == "ENG" and cells[16] in ("N", ""):
            yield number, cells
        else:
            report.skipped["suppressed names"] += 1


def _recognizes(path: Path, head: str) -> bool:
    return any(path.glob("RXNCONSO.RRF")) or _LINE.match(first_line(head)) is not None


FORMAT = Format("rxnorm.v1", read_rxnorm, _recognizes)
