"""GenBioEL's target_kb.json."""

import re
from collections.abc import Iterator
from pathlib import Path

from ...files.faults import FileReading
from ...files.formats import Format
from ...files.json_stream import stream_entries
from .records import NO_NAME, Row, VocabularyReport, make_row, own_id, whole_text, whole_texts


def read_target_kb(
    path: Path, report: VocabularyReport, *, prefix: str | None = None
) -> Iterator[Row]:
    """GenBioEL's target_kb.json: one object, `{id: [names]}`, read entry by entry.

    A composite key (`D001|D002`) is one concept with the first identifier; the others are its
    alternates.

    path (Path): the file, gzipped or not.
    prefix (str | None): vocabulary of identifiers without prefix; None: MeSH or UMLS where the
        form tells, else none.
    YIELDS (Row): one an entry.
    RAISES (AngelError): the file is no such object, or cut.
    """
    for number, key, value in stream_entries(path, FileReading(str(path), progress=True)):
        names = [name for name in whole_texts(path, number, value) if name.strip()]
        if not names:
            report.skipped[NO_NAME] += 1
            continue
        codes = re.split(r"[|+]", whole_text(path, number, key))
        ids = [own_id(code, prefix) for code in codes]
        yield make_row(path, number, ids[0], names, alternate_ids=ids[1:])


FORMAT = Format("target_kb.v1", read_target_kb, lambda path, head: head.startswith("{"))
