"""ICTV's taxonomy of viruses: every taxon under the names of all releases since 1971."""

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from ....files.faults import FileReading
from ....files.formats import Format, first_line
from ....files.table import rows_of
from .lines import read_lines, wrong
from .records import Row, VocabularyReport, make_row

_RELEASE, _LEVEL, _NAME, _TAXON = _COLUMNS = ("msl_release_num", "level_id", "name", "ictv_id")
# As `taxonomy_level.utf8.txt` beside it has them. The column `rank` says the same at the end of a
# line, behind free text: ICTV's own reader takes lines for sound that have a cell too many there.
_RANKS = {
    "120": "realm",
    "130": "subrealm",
    "140": "kingdom",
    "150": "subkingdom",
    "160": "phylum",
    "170": "subphylum",
    "180": "class",
    "190": "subclass",
    "200": "order",
    "250": "suborder",
    "300": "family",
    "400": "subfamily",
    "500": "genus",
    "550": "subgenus",
    "600": "species",
}
# Of the tree itself, which is named by the year of a release.
_ROOT = "100"
_NO_NAMES = frozenset({"", "Unassigned"})


def read_ictv(
    path: Path, report: VocabularyReport, *, ranks: frozenset[str] | None = None
) -> Iterator[Row]:
    """ICTV's `taxonomy_node_export.utf8.txt`, which has the taxa of every release of the Master
    Species List. The name in the newest one is canonical, those of the releases before follow;
    types are the ranks. Taxa that are no longer in the newest release are left out.

    path (Path): the file, gzipped or not.
    ranks (frozenset[str] | None): ranks to take, e.g. `species`; None: all.
    YIELDS (Row): one a taxon, those that came first in any release first.
    RAISES (AngelError): the first line does not name the columns, or a line has not as many.
    """
    lines = read_lines(path)
    _, head = next(lines, (1, ""))
    columns = head.split("\t")
    if missing := [name for name in _COLUMNS if name not in columns]:
        raise wrong(path, 1, f"a line with the columns {', '.join(missing)}", head)
    places = [columns.index(name) for name in _COLUMNS]
    # Taxon → release → name, rank and line.
    taxa: dict[int, dict[int, tuple[str, str, int]]] = {}
    rows = rows_of(
        chain([head], (line for _, line in lines)), FileReading(str(path)), "\t", escape="\\"
    )
    for number, cells in islice(rows, 1, None):
        if len(cells) < len(columns):
            raise wrong(path, number, f"{len(columns)} columns", "\t".join(cells))
        release, level, name, code = (cells[place].strip() for place in places)
        if level == _ROOT or name in _NO_NAMES:
            continue
        if level not in _RANKS:
            raise wrong(path, number, f"a {_LEVEL} of {', '.join(_RANKS)}", level)
        releases = taxa.setdefault(_whole(path, number, _TAXON, code), {})
        releases[_whole(path, number, _RELEASE, release)] = name, _RANKS[level], number
    newest = max(chain.from_iterable(taxa.values()), default=0)
    for taxon, by_release in taxa.items():
        if newest not in by_release:
            report.skipped["taxa that are not in the newest release"] += 1
            continue
        name, rank, number = by_release[newest]
        if ranks is not None and rank not in ranks:
            report.skipped["taxa of other ranks"] += 1
            continue
        older = (by_release[one][0] for one in sorted(by_release, reverse=True))
        names = dict.fromkeys((name, *older))
        yield make_row(path, number, f"ICTV:{taxon}", names, types=[rank])


def _whole(path: Path, line: int, column: str, cell: str) -> int:
    if not (cell.isascii() and cell.isdecimal() and len(cell) < 19):
        raise wrong(path, line, f"a whole number as {column}", cell)
    return int(cell)


def _recognises(path: Path, head: str) -> bool:
    return first_line(head).startswith("taxnode_id\tparent_id\ttree_id\tmsl_release_num\t")


FORMAT = Format("ictv.v1", read_ictv, _recognises)
