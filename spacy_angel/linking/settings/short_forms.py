"""Clinical short forms, lay words, brands and other words, and the names that they stand for.

A file of them has a line each: the form, what it is, the names separated by `|`, the best first.
`data/short_forms.tsv` was written for this package.
"""

from functools import cache
from pathlib import Path

from ...about import DATA
from ...errors import AngelError
from ...files.faults import FileReading
from ...files.table import table_rows
from ...vocabulary.names.concepts import normalize_name

FILE = DATA / "short_forms.tsv"


@cache
def read_short_forms(path: Path = FILE) -> dict[str, tuple[str, ...]]:
    """Read a file of short forms.

    path (Path): TSV, by default the package's own.
    RETURNS (dict[str, tuple[str, ...]]): names by form; lay words and brands in normal form, short
        forms as they are written, e.g. `MS` is one and `ms` is not.
    RAISES (AngelError): a line that has no three cells, or a file that cannot be read.
    """
    forms = {}
    for number, cells in table_rows(path, FileReading(path.name, strict=True), "\t"):
        if len(cells) != 3 or not all(cells):
            raise AngelError(
                f"{path}, line {number}: expected three cells (a short form, `short form`, and its "
                f"meaning), found {len(cells)}."
            )
        form, kind, names = cells
        forms[form if kind == "short form" else normalize_name(form)] = tuple(names.split("|"))
    return forms
