"""Phrases of patients with SNOMED CT codes: the folds of AskAPatient, and COMETA.

AskAPatient has rows `id<TAB>preferred term<TAB>phrase` without context, in UTF-8 or ISO-8859-1.
Train and validation files begin with the preferred terms and repeat phrases as often as patients
wrote them; nothing is removed. COMETA is tab-separated, although its files are called `.csv`, with
a term and an example per row.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from ...errors import AngelError
from ...files.formats import Format, first_line
from ...files.reading import numbered_lines
from ...files.table import table_rows
from ..documents import CorpusDocument, GoldMention, Reading

_ROW = re.compile(r"[0-9]+\t[^\t]+\t[^\t]+")
_CODE = re.compile(r"([0-9]+)(?:\.0)?")
_ID_COLUMN = "General SNOMED ID"


def read_askapatient(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """Read AskAPatient. Each phrase is a document, named by file and line.

    path (Path): file of a fold, e.g. `AskAPatient.fold-0.test.txt`.
    reading (Reading): handles faults; identifiers without a prefix are SNOMED CT identifiers.
    RETURNS (Iterator[CorpusDocument]): documents with one mention, which is the whole phrase.
    RAISES (AngelError): if a line does not have three columns and `reading.strict` is set.
    """
    reading.prefix = reading.prefix or "SNOMEDCT"
    for number, code, _, phrase in askapatient_rows(path, reading):
        given = GoldMention(0, len(phrase), phrase, concept_ids=code)
        yield from reading.single_mention(given, phrase, f"{path.name}:{number}", number)


def askapatient_rows(path: Path, reading: Reading) -> Iterator[tuple[int, str, str, str]]:
    """Read the rows of an AskAPatient file.

    path (Path), reading (Reading): see `read_askapatient`.
    YIELDS (tuple[int, str, str, str]): line number, code, preferred term, and phrase.
    """
    for number, line in numbered_lines(path, reading, fallback="iso-8859-1"):
        row = "\t".join(field.strip() for field in line.split("\t"))
        if _ROW.fullmatch(row):
            code, term, phrase = row.split("\t")
            yield number, code, term, phrase
        elif line.strip():
            message = f"expected code, preferred term and phrase with tabs, found {line[:60]!r}."
            reading.fault_at(number, message, skipped="mentions_left_out")


def read_cometa(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """Read COMETA. Each row is a document, whose mention is the first occurrence of the term in the
    example.

    If the term does not occur in the example, it is prepended to it, as in the published data, and
    counted as `terms_not_in_example`. Case is ignored.

    path (Path): e.g. `stratified_general/train.csv`, with the columns `ID`, `Term`,
        `General SNOMED ID`, and `Example` among others.
    reading (Reading): handles counts and faults; identifiers without a prefix are SNOMED CT
        identifiers.
    RETURNS (Iterator[CorpusDocument]): documents with one mention, named by the ID of the row.
    RAISES (AngelError): if a column or a closing quote is missing, or a row is truncated.
    """
    reading.prefix = reading.prefix or "SNOMEDCT"
    rows = table_rows(path, reading, "\t")
    _, header = next(rows, (1, []))
    needed = ("ID", "Term", _ID_COLUMN, "Example")
    # In some copies, the ID is an index column written by pandas, which has no name.
    columns = ["ID" if not name and "ID" not in header else name for name in header]
    if missing := [name for name in needed if name not in columns]:
        where = reading.where(1)
        raise AngelError(f"{where}: the columns {missing} of COMETA are missing; found {header}.")
    for number, row in rows:
        cells = dict(zip(columns, row, strict=False))
        code = _CODE.fullmatch(cells.get(_ID_COLUMN, "").strip())
        if len(row) != len(header) or code is None or not (term := cells["Term"].strip()):
            message = f"expected {len(header)} columns and a code in digits under {_ID_COLUMN}, "
            message += f"found {len(row)} columns."
            reading.fault_at(number, message, skipped="mentions_left_out")
            continue
        text, start, end = mark_term(term, cells["Example"])
        reading.report.count("terms_not_in_example", text != cells["Example"])
        doc_id = cells["ID"].strip() or f"{path.name}:{number}"
        given = GoldMention(start, end, text[start:end], concept_ids=code[1])
        yield from reading.single_mention(given, text, doc_id, number)


def mark_term(term: str, example: str) -> tuple[str, int, int]:
    """Find a term in its example.

    term (str): e.g. `stomach ache`.
    example (str): e.g. `My Stomach ache is back`.
    RETURNS (tuple[str, int, int]): text, start, and end of the mention in characters: here the
        example, 3, 15; for `I feel sick`, it would be `stomach ache I feel sick`, 0, 12.
    """
    found = re.search(re.escape(term), example, re.IGNORECASE)
    return (example, *found.span()) if found else (f"{term} {example}", 0, len(term))


ASKAPATIENT = Format(
    "askapatient",
    read_askapatient,
    lambda path, head: _ROW.fullmatch(first_line(head)) is not None,
    holds="mentions",
)
COMETA = Format(
    "cometa",
    read_cometa,
    lambda path, head: {"Term", _ID_COLUMN} <= set(first_line(head).split("\t")),
    holds="mentions",
)
