"""NCBI Taxonomy: names.dmp, nodes.dmp, merged.dmp."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from sys import intern

from ....errors import AngelError
from ....files.formats import Format
from .lines import read_lines
from .records import Concepts, VocabularyReport, make_concept, with_retired_ids, wrong

# In the order in which they serve as names; authorities and type material are no names.
_NAME_CLASSES = (
    *("scientific name", "genbank common name", "common name", "blast name", "equivalent name"),
    *("synonym", "acronym", "includes"),
)


def read_ncbi_taxonomy(path: Path, report: VocabularyReport) -> Concepts:
    """Read `names.dmp` of the NCBI Taxonomy, and, if they are in the same folder, `nodes.dmp` for
    ranks (types) and parents, and `merged.dmp` for alternate identifiers.

    path (Path): names.dmp, or its folder.
    YIELDS (Concept): one per taxon.
    RAISES (ValueError): a file is missing or not as described, or a taxon has no scientific name.
    """
    folder = path if path.is_dir() else path.parent
    file = folder / "names.dmp" if path.is_dir() else path
    if not file.is_file():
        raise AngelError(f"{path}: expected names.dmp. Unpack taxdump.tar.gz there.")
    # parent and rank
    nodes = {row[0]: (row[1], intern(row[2])) for row in _rows(folder / "nodes.dmp", report, 5)}
    merged = (row[:2] for row in _rows(folder / "merged.dmp", report, 2))
    replaced_by = {f"NCBITaxon:{old}": [f"NCBITaxon:{new}"] for old, new in merged}

    def concepts() -> Concepts:
        for taxon, group in groupby(_rows(file, report, 4), key=lambda row: row[0]):
            rows = list(group)
            names = [row[1] for kind in _NAME_CLASSES for row in rows if row[3] == kind]
            if all(row[3] != _NAME_CLASSES[0] for row in rows):
                kinds = sorted({row[3] for row in rows})
                raise wrong(f"a {_NAME_CLASSES[0]} of taxon {taxon}", kinds)
            parent, rank = nodes.get(taxon, ("", ""))
            yield make_concept(
                f"NCBITaxon:{taxon}",
                dict.fromkeys(names),
                types=[rank],
                parents=[f"NCBITaxon:{parent}"] if parent and parent != taxon else (),
            )

    return with_retired_ids(concepts(), replaced_by, report)


def _rows(path: Path, report: VocabularyReport, least: int) -> Iterator[list[str]]:
    """The cells of each line, `1\\t|\\troot\\t|\\t…\\t|`; nothing if there is no file."""
    for line in read_lines(path, report) if path.is_file() else ():
        cells = [cell.strip() for cell in line.rstrip().removesuffix("|").split("|")]
        if len(cells) < least or not cells[0].isdecimal():
            raise wrong(f"at least {least} columns with | between them", line)
        yield cells


def _recognizes(path: Path, head: str) -> bool:
    return any(path.glob("names.dmp")) or head.startswith("1\t|\tall\t|")


FORMAT = Format("ncbi_taxonomy.v1", read_ncbi_taxonomy, _recognizes)
