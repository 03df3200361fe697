"""Vocabularies in one table: CTD's diseases and chemicals, MEDIC of 2012, `id, name, synonyms`."""

import re
from collections.abc import Iterator
from pathlib import Path

from ....errors import AngelError
from ....files.formats import Format, first_line, read_head
from ...names.identifiers import normalize_id
from .lines import read_lines, wrong
from .records import Row, VocabularyReport, make_row, own_id, tree_types

_CTD_KINDS = {
    "DiseaseName": ("DiseaseID", "AltDiseaseIDs"),
    "ChemicalName": ("ChemicalID", None),
}
_OMIM = re.compile(r"\d+", re.ASCII)
_MESH = re.compile(r"[CD]\d*", re.ASCII)
# The first column's name: `id`, `#id`, `mesh_id`, `Concept ID`, `ConceptID`, `cui`, `code`, …
_ID_HEADER = re.compile(
    r"#?\s*((?i:(\w+[ _.-])?(id|cui|code|curie|identifier))|[A-Za-z]*[a-z]I[Dd])"
)
_TREE_HEADER = re.compile(r"tree[ _.-]?num", re.IGNORECASE)


def read_ctd(path: Path, report: VocabularyReport) -> Iterator[Row]:
    """CTD_diseases.tsv (MEDIC) and CTD_chemicals.tsv, of any year: the columns are found by the
    names in the file's head. Types are the letter and the branch of the tree numbers, which are
    kept.

    path (Path): the file, gzipped or not.
    YIELDS (Row): one a line.
    RAISES (AngelError): no line with CTD's column names, or a row that does not fit them.
    """
    columns: list[str] = []
    for number, line in read_lines(path):
        if line.startswith("#"):
            head = line.lstrip("# ").split("\t")
            if head[0] in _CTD_KINDS and _CTD_KINDS[head[0]][0] in head:
                columns = head
                name_column = head[0]
                id_column, alternates_column = _CTD_KINDS[name_column]
                synonym_columns = [name for name in head if name.endswith("Synonyms")]
                if len(set(columns)) < len(columns):
                    raise wrong(path, number, "different names for the columns", line)
            continue
        if not columns:
            expected = "CTD's column names (`# DiseaseName` or `# ChemicalName` …) before the rows"
            raise wrong(path, number, expected, line)
        if not line:
            continue
        cells = line.split("\t")
        if len(cells) != len(columns):
            raise wrong(path, number, f"{len(columns)} columns", line)
        cell = dict(zip(columns, cells, strict=True))
        alternates = cell.get(alternates_column or "", "").split("|")
        tree_numbers = [*filter(None, cell.get("TreeNumbers", "").split("|"))]
        try:
            types = tree_types(tree_numbers)
        except ValueError as error:
            raise wrong(path, number, "MeSH tree numbers", error.args[0]) from error
        yield make_row(
            path,
            number,
            normalize_id(cell[id_column], "MESH"),
            [
                cell[name_column],
                *(name for key in synonym_columns for name in cell[key].split("|")),
            ],
            types=types,
            definition=cell.get("Definition"),
            alternate_ids=[normalize_id(code) for code in alternates if code],
            tree_numbers=tree_numbers,
        )


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
    if _OMIM.fullmatch(code):
        return normalize_id(code, "OMIM")
    if _MESH.fullmatch(code):
        return normalize_id(code, "MESH")
    identifier = normalize_id(code)
    if not identifier.startswith(("OMIM:", "MESH:")):
        raise wrong(path, line, "an identifier of OMIM (digits) or MeSH (`C…`, `D…`)", code)
    return identifier


def read_table(
    path: Path,
    report: VocabularyReport,
    *,
    prefix: str | None = None,
    tree_numbers: str | Path | None = None,
) -> Iterator[Row]:
    """Tab-separated `id, name, synonym|synonym`, with or without a line of column names.

    path (Path): the file, gzipped or not.
    prefix (str | None): vocabulary of identifiers without prefix; None: MeSH or UMLS where the
        form says so, else none.
    tree_numbers (str | Path | None): tab-separated MeSH tree numbers (`id, name, number`), which
        give the types as well: letter and branch.
    YIELDS (Row): one a line.
    RAISES (AngelError): a line of other than two or three columns, or a third column that is
        named tree numbers.
    """
    by_id = _tree_numbers(Path(tree_numbers)) if tree_numbers is not None else {}
    for number, line in read_lines(path):
        cells = line.split("\t")
        if number == 1 and _is_header(cells):
            if len(cells) == 3 and _TREE_HEADER.search(cells[2]):
                raise AngelError(
                    f"{path}, line 1: expected synonyms in column 3, found {cells[2]!r}. Use "
                    f"`--option tree_numbers={path}`."
                )
            continue
        if not line.strip():
            continue
        if len(cells) not in (2, 3):
            raise wrong(path, number, "two or three columns: id, name, synonyms", line)
        identifier = own_id(cells[0], prefix)
        synonyms = cells[2].split("|") if len(cells) == 3 else []
        names = [cells[1], *synonyms]
        numbers = by_id.get(identifier, [])
        types = tree_types(numbers)
        yield make_row(path, number, identifier, names, types=types, tree_numbers=numbers)


def _is_header(cells: list[str]) -> bool:
    """Whether the cells of a first line are names of columns."""
    return _ID_HEADER.fullmatch(cells[0].strip()) is not None


def _tree_numbers(path: Path) -> dict[str, list[str]]:
    numbers: dict[str, list[str]] = {}
    for number, line in read_lines(path):
        cells = line.split("\t")
        if not line.strip() or (number == 1 and _is_header(cells)):
            continue
        try:
            code, _, tree_number = cells
            tree_types([tree_number])
            numbers.setdefault(normalize_id(code, "MESH"), []).append(tree_number)
        except ValueError as error:
            raise wrong(path, number, "id, name, MeSH tree number", line) from error
    return numbers


def _is_ctd(path: Path, head: str) -> bool:
    return any(f"\n# {name}\t" in f"\n{head}" for name in _CTD_KINDS)


def _is_medic(path: Path, head: str) -> bool:
    line = first_line(head)
    return "||" in line and "\t" not in line


def holds_tree_numbers(path: Path) -> bool:
    """RETURNS (bool): whether a file is a table of MeSH's tree numbers, which has no names."""
    if not path.is_file():
        return False
    cells = first_line(read_head(path)).split("\t")
    return len(cells) == 3 and _is_header(cells) and bool(_TREE_HEADER.search(cells[2]))


CTD = Format("ctd.v1", read_ctd, _is_ctd)
MEDIC = Format("medic.v1", read_medic, _is_medic)
TABLE = Format("table.v1", read_table, lambda path, head: first_line(head).count("\t") in (1, 2))
