"""Cellosaurus: cell lines, in its text format."""

from collections.abc import Iterator
from pathlib import Path

from ....files.formats import Format
from .lines import read_lines, wrong
from .records import Row, VocabularyReport, make_row


def read_cellosaurus(
    path: Path, report: VocabularyReport, *, taxa: frozenset[int] | None = None
) -> Iterator[Row]:
    """The text file: an entry runs from `ID   name` to `//`. Types are the category (`Cancer cell
    line`) and the species (`NCBITaxon:9606`); secondary accessions are further identifiers; its
    parents are the cell lines that it derives from.

    path (Path): cellosaurus.txt, gzipped or not.
    taxa (frozenset[int] | None): species to take, as NCBI Taxonomy numbers them; None: all.
    YIELDS (Row): one an entry, with the line of its `ID`.
    RAISES (AngelError): the file is cut, or an entry lacks its `ID` or `AC` line.
    """
    entry: dict[str, list[str]] = {}
    start = number = 1
    for number, line in read_lines(path):
        code, value = line[:2], line[5:].strip()
        if code == "ID":
            if "ID" in entry:
                raise wrong(path, number, "`//` before the next entry", line)
            entry, start = {"ID": [value]}, number
        elif code == "//":
            if not entry.get("ID") or not entry.get("AC"):
                raise wrong(path, start, "an entry with the lines ID and AC", sorted(entry))
            species = [
                text.partition(";")[0].removeprefix("NCBI_TaxID=") for text in entry.get("OX", ())
            ]
            if taxa is None or any(int(s) in taxa for s in species if s.isdecimal()):
                yield _row(path, start, entry, species)
            else:
                report.skipped["cell lines of other species"] += 1
            entry = {}
        elif entry and line[2:5] == "   ":
            entry.setdefault(code, []).append(value)
    if entry:
        raise wrong(path, number, "`//` after the last entry", entry["ID"][0])


def _row(path: Path, line: int, entry: dict[str, list[str]], species: list[str]) -> Row:
    return make_row(
        path,
        line,
        entry["AC"][0],
        dict.fromkeys([entry["ID"][0], *_several(entry, "SY")]),
        types=[*entry.get("CA", ()), *(f"NCBITaxon:{s}" for s in species if s)],
        alternate_ids=_several(entry, "AS"),
        parents=[value.partition(" ")[0] for value in entry.get("HI", ())],
    )


def _several(entry: dict[str, list[str]], code: str) -> list[str]:
    return [part.strip() for value in entry.get(code, ()) for part in value.split(";")]


FORMAT = Format(
    "cellosaurus.v1", read_cellosaurus, lambda path, head: "\nAC   CVCL_" in f"\n{head}"
)
