"""CTD's diseases (MEDIC) and chemicals, and MEDIC of 2012."""

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from ....files.formats import Format, first_line
from ...names.identifiers import normalize_id
from .lines import read_lines, read_rows, wrong
from .records import Row, VocabularyReport, make_row, tree_types

_CTD_HEADS = ("DiseaseName\tDiseaseID\t", "ChemicalName\tChemicalID\t")


def read_ctd(path: Path, report: VocabularyReport) -> Iterator[Row]:
    """CTD_diseases.tsv (MEDIC) and CTD_chemicals.tsv, of any year: the columns are found by the
    names in the file's head. Types are the letter and the branch of the tree numbers.

    path (Path): the file, gzipped or not.
    YIELDS (Row): one a line.
    RAISES (AngelError): no line with CTD's column names, or a row that does not fit them.
    """
    for number, cell in read_rows(path, (), lines=_ctd_lines(path)):
        kind = "Disease" if "DiseaseName" in cell else "Chemical"
        synonyms = (cell[key].split("|") for key in cell if key.endswith("Synonyms"))
        tree_numbers = [*filter(None, cell.get("TreeNumbers", "").split("|"))]
        alternates = filter(None, cell.get(f"Alt{kind}IDs", "").split("|"))
        parents = filter(None, cell.get("ParentIDs", "").split("|"))
        yield make_row(
            path,
            number,
            normalize_id(cell[f"{kind}ID"], "MESH"),
            [cell[f"{kind}Name"], *chain.from_iterable(synonyms)],
            types=tree_types(path, number, tree_numbers),
            definition=cell.get("Definition"),
            alternate_ids=map(normalize_id, alternates),
            parents=[normalize_id(parent, "MESH") for parent in parents],
        )


def _ctd_lines(path: Path) -> Iterator[str]:
    """The line of column names and the rows, with blank lines in the place of comments."""
    has_head = False
    for number, line in read_lines(path):
        if line.startswith("#"):
            head = line.lstrip("# ")
            has_head |= head.startswith(_CTD_HEADS)
            yield head if head.startswith(_CTD_HEADS) else ""
        elif has_head:
            yield line
        else:
            expected = "CTD's column names (`# DiseaseName` or `# ChemicalName` …) before the rows"
            raise wrong(path, number, expected, line)


def read_medic(path: Path, report: VocabularyReport) -> Iterator[Row]:
    """MEDIC as the NCBI-disease benchmark has it: `id|alternate ids||name|synonyms`.

    Bare digits are OMIM's, the others MeSH's; the root row `C||Diseases` is a concept like the
    rest. Every concept has the type `C`, MeSH's tree of diseases.

    path (Path): the file, gzipped or not.
    YIELDS (Row): one a line.
    RAISES (AngelError): a line without `||`, or an identifier of neither kind.
    """
    for number, line in read_lines(path):
        if not line.strip():
            continue
        head, bars, tail = line.partition("||")
        if not bars:
            raise wrong(path, number, "`id|alternate ids||name|synonyms`", line)
        ids = [_medic_id(path, number, code) for code in head.split("|")]
        yield make_row(path, number, ids[0], tail.split("|"), types=("C",), alternate_ids=ids[1:])


def _medic_id(path: Path, line: int, code: str) -> str:
    is_mesh = re.fullmatch(r"[CD]\d*", code, re.ASCII)
    is_omim = re.fullmatch(r"\d+", code, re.ASCII)
    identifier = normalize_id(code, "MESH" if is_mesh else "OMIM" if is_omim else "")
    if not identifier.startswith(("OMIM:", "MESH:")):
        raise wrong(path, line, "an identifier of OMIM (digits) or MeSH (`C…`, `D…`)", code)
    return identifier


def _is_ctd(path: Path, head: str) -> bool:
    return any(f"\n# {name}" in f"\n{head}" for name in _CTD_HEADS)


def _is_medic(path: Path, head: str) -> bool:
    line = first_line(head)
    return "||" in line and "\t" not in line


CTD = Format("ctd.v1", read_ctd, _is_ctd)
MEDIC = Format("medic.v1", read_medic, _is_medic)
