"""AskAPatient folds: `id<TAB>preferred term<TAB>phrase`, no context; UTF-8 or ISO-8859-1.

Train and validation files begin with the preferred terms themselves and repeat phrases as often
as patients wrote them; both are read as they are.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from ...files.formats import Format, first_line
from ...files.reading import numbered_lines
from ..documents import CorpusDocument, Reading

_ROW = re.compile(r"[0-9]+\t[^\t]+\t[^\t]+")
_CODE = re.compile(r"[0-9]+")


def read_askapatient(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """Each phrase as a document of its own, named by file and line.

    path (Path): a fold's file, e.g. `AskAPatient.fold-0.test.txt`.
    reading (Reading): gets counts and faults; ids without prefix are SNOMED CT's.
    RETURNS (Iterator[CorpusDocument]): one mention each, the whole phrase.
    RAISES (AngelError): at a line that is not three columns, with `reading.strict`.
    """
    reading = reading.with_prefix("SNOMEDCT")
    for number, code, _, phrase in askapatient_rows(path, reading):
        doc_id = f"{path.name}:{number}"
        yield from reading.single_mention(phrase, (0, len(phrase)), doc_id, number, code)


def askapatient_rows(path: Path, reading: Reading) -> Iterator[tuple[int, str, str, str]]:
    """path (Path), reading (Reading): see `read_askapatient`.
    YIELDS (tuple[int, str, str, str]): line number, code, preferred term, phrase."""
    for number, line in numbered_lines(path, reading, fallback="iso-8859-1"):
        if not line.strip():
            continue
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) != 3 or not all(fields) or not _CODE.fullmatch(fields[0]):
            message = f"expected code, preferred term and phrase with tabs, found {line[:60]!r}."
            reading.fault_at(number, message, lost="mentions_left_out")
            continue
        yield number, fields[0], fields[1], fields[2]


def _recognises(path: Path, head: str) -> bool:
    return _ROW.fullmatch(first_line(head)) is not None


FORMAT = Format("askapatient", read_askapatient, _recognises, holds="mentions")
