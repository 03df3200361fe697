"""NCBI Taxonomy: names.dmp, nodes.dmp, merged.dmp."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from sys import intern

from ....errors import AngelError
from ....files.formats import Format
from .lines import read_lines, wrong
from .records import Concepts, VocabularyReport, count_unused, make_concept, successors

# In the order in which they serve as names; authorities and type material are no names.
_NAME_CLASSES = (
    *("scientific name", "genbank common name", "common name", "blast name", "equivalent name"),
    *("synonym", "acronym", "includes"),
)


def read_ncbi_taxonomy(path: Path, report: VocabularyReport) -> Concepts:
    """NCBI Taxonomy's `names.dmp`, with ranks (types) and parents of `nodes.dmp`, and the numbers
    that were merged (`merged.dmp`) as further identifiers, if these files are beside it.

    path (Path): names.dmp, or the folder of the three.
    YIELDS (Concept): one for each taxon.
    RAISES (AngelError): a file is missing or not as described, or a taxon has no scientific name.
    """
    folder = path if path.is_dir() else path.parent
    file = folder / "names.dmp" if path.is_dir() else path
    if not file.is_file():
        hint = "Unpack taxdump.tar.gz there."
        raise AngelError(f"{path}: expected a folder with names.dmp. {hint}")
    # parent and rank
    nodes = {cells[0]: (cells[1], intern(cells[2])) for _, cells in _dmp(folder / "nodes.dmp", 5)}
    replaced_by = {cells[0]: [cells[1]] for _, cells in _dmp(folder / "merged.dmp", 2)}
    retired = successors(replaced_by, report)
    for taxon, lines in groupby(_dmp(file, 4), key=lambda entry: entry[1][0]):
        rows = list(lines)
        names = [cells[1] for kind in _NAME_CLASSES for _, cells in rows if cells[3] == kind]
        if all(cells[3] != _NAME_CLASSES[0] for _, cells in rows):
            kinds = sorted({cells[3] for _, cells in rows})
            raise wrong(file, rows[0][0], f"a {_NAME_CLASSES[0]} of taxon {taxon}", kinds)
        parent, rank = nodes.get(taxon, ("", ""))
        yield make_concept(
            file,
            rows[0][0],
            f"NCBITaxon:{taxon}",
            dict.fromkeys(names),
            types=[rank],
            parents=[f"NCBITaxon:{parent}"] if parent and parent != taxon else (),
            alternate_ids=[f"NCBITaxon:{old}" for old in retired.pop(taxon, ())],
        )
    count_unused(retired, report)


def _dmp(path: Path, least: int) -> Iterator[tuple[int, list[str]]]:
    """Line and cells of a dump: `1\\t|\\troot\\t|\\t…\\t|`; nothing if there is no file."""
    if not path.is_file():
        return
    for number, line in read_lines(path):
        cells = [cell.strip() for cell in line.rstrip().removesuffix("|").split("|")]
        if len(cells) < least or not cells[0].isdecimal():
            raise wrong(path, number, f"at least {least} columns with | between them", line)
        yield number, cells


def _recognizes(path: Path, head: str) -> bool:
    return any(path.glob("names.dmp")) or head.startswith("1\t|\tall\t|")


FORMAT = Format("ncbi_taxonomy.v1", read_ncbi_taxonomy, _recognizes)
