"""COMETA: tab-separated values under the name `.csv`, one term with its example a row."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from ...errors import AngelError
from ...files.formats import Format, first_line
from ...files.table import table_rows
from ..documents import CorpusDocument, Reading

_CODE = re.compile(r"([0-9]+)(?:\.0)?")
Granularity = Literal["general", "specific"]


def read_cometa(
    path: Path, reading: Reading, granularity: Granularity = "general"
) -> Iterator[CorpusDocument]:
    """Each row as a document: the first occurrence of the term in the example is its mention.

    Where the term does not stand in the example, it stands alone before it, as in the published
    data; counted as `terms_not_in_example`. Case makes no difference.

    path (Path): e.g. `stratified_general/train.csv` with the columns `ID`, `Term`,
        `General SNOMED ID`, `Specific SNOMED ID`, `Example` among its own.
    reading (Reading): gets counts and faults; ids without prefix are SNOMED CT's.
    granularity (Granularity): `general` (the published split's) or `specific` ids.
    RETURNS (Iterator[CorpusDocument]): one mention each, named by the row's ID.
    RAISES (AngelError): where the columns are missing, quotes do not close, or a row is cut.
    """
    reading = reading.with_prefix("SNOMEDCT")
    id_column = f"{granularity.capitalize()} SNOMED ID"
    rows = table_rows(path, reading, "\t")
    _, header = next(rows, (1, []))
    needed = ("ID", "Term", id_column, "Example")
    # An index column that pandas wrote has no name; in some copies it stands for the ID.
    columns = ["ID" if not name and "ID" not in header else name for name in header]
    if missing := [name for name in needed if name not in columns]:
        raise AngelError(
            f"{reading.where(1)}: the columns {missing} of COMETA are missing; found {header}."
        )
    at_id, at_term, at_code, at_example = map(columns.index, needed)
    for number, row in rows:
        code = _CODE.fullmatch(row[at_code].strip()) if len(row) == len(header) else None
        if code is None or not row[at_term].strip():
            reading.fault(
                f"{reading.where(number)}: expected {len(header)} columns and a code in digits "
                f"under {id_column}, found {len(row)} columns.",
                lost="mentions_left_out",
            )
            continue
        text, start, end = mark_term(row[at_term].strip(), row[at_example])
        if start == 0 and text != row[at_example]:
            reading.report.count("terms_not_in_example")
        doc_id = row[at_id].strip() or f"{path.name}:{number}"
        mention = reading.mention(
            text, (start, end), text[start:end], doc_id, number, raw_ids=code[1]
        )
        if mention is not None:
            yield CorpusDocument(doc_id, text, (mention,), reading.split)


def mark_term(term: str, example: str) -> tuple[str, int, int]:
    """Where a term is marked.

    term (str): e.g. `stomach ache`. example (str): e.g. `My Stomach ache is back`.
    RETURNS (tuple[str, int, int]): text, start and end of the mention in characters: here the
        example, 3, 15; for `I feel sick` it would be `stomach ache I feel sick`, 0, 12.
    """
    # Unlike a regular expression, `find` takes time that grows with the two lengths' sum.
    start = _folded(example).find(_folded(term))
    if start >= 0:
        return example, start, start + len(term)
    return f"{term} {example}", 0, len(term)


def _folded(text: str) -> str:
    """RETURNS (str): without case, and as long as before."""
    folded = text.casefold()
    if len(folded) == len(text):
        return folded
    return "".join(new if len(new := letter.casefold()) == 1 else letter for letter in text)


def _recognises(path: Path, head: str) -> bool:
    return {"Term", "General SNOMED ID"} <= set(first_line(head).split("\t"))


FORMAT = Format("cometa", read_cometa, _recognises, holds="mentions")
