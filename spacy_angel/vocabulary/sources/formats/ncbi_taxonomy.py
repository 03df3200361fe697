"""NCBI Taxonomy: names.dmp, nodes.dmp, and merged.dmp."""

from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from pathlib import Path
from sys import intern

from ....files.formats import Format
from .lines import find_files, read_lines, required_files
from .records import Concepts, VocabularyReport, make_concept, wrong

# In order of preference; authorities and type material are not names.
_NAME_CLASSES = (
    *("scientific name", "genbank common name", "common name", "blast name", "equivalent name"),
    *("synonym", "acronym", "includes"),
)


def read_ncbi_taxonomy(path: Path, report: VocabularyReport) -> Concepts:
    """Read `names.dmp` of the NCBI Taxonomy, and, if they are in the same folder, `nodes.dmp` for
    ranks (types) and parents, and `merged.dmp` for alternate identifiers.

    path (Path): names.dmp, or its folder.
    YIELDS (Concept): one per taxon.
    RAISES (ValueError): a file is missing or not as described.
    """
    files = required_files(path, "names.dmp")
    nodes = _rows(find_files(path, "nodes.dmp"), report, 5)
    above = {taxon: (parent, intern(rank)) for taxon, parent, rank, *_ in nodes}
    for old, new, *_ in _rows(find_files(path, "merged.dmp"), report, 2):
        report.retire(f"NCBITaxon:{old}", f"NCBITaxon:{new}")
    for taxon, group in groupby(_rows(files, report, 4), key=lambda row: row[0]):
        rows = list(group)
        names = [row[1] for kind in _NAME_CLASSES for row in rows if row[3] == kind]
        parent, rank = above.get(taxon, ("", ""))
        yield make_concept(
            f"NCBITaxon:{taxon}",
            dict.fromkeys(names),
            types=[rank],
            parents=[f"NCBITaxon:{parent}"] if parent and parent != taxon else (),
        )


def _rows(files: Sequence[Path], report: VocabularyReport, least: int) -> Iterator[list[str]]:
    """The cells of each line, `1\\t|\\troot\\t|\\t…\\t|`."""
    for line in chain.from_iterable(read_lines(file, report) for file in files):
        cells = [cell.strip() for cell in line.rstrip().removesuffix("|").split("|")]
        if len(cells) < least or not cells[0].isdecimal():
            raise wrong(f"at least {least} columns with | between them", line)
        yield cells


def _recognizes(path: Path, head: str) -> bool:
    return any(path.glob("names.dmp")) or head.startswith("1\t|\tall\t|")


FORMAT = Format("ncbi_taxonomy.v1", read_ncbi_taxonomy, _recognizes)
