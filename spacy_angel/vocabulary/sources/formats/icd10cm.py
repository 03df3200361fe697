"""ICD-10-CM, the diagnoses as they are coded in the United States."""

import re
from pathlib import Path

from ....files.formats import Format
from .lines import read_lines, wrong
from .records import Concepts, VocabularyReport, make_concept

# order number, code, 1 for a code and 0 for a header, short title up to column 77, long title
_LINE = re.compile(r"\d{5} ([A-Z]\w{2,6}) +([01]) (?=\S)")
_LONG_TITLE = 77


def read_icd10cm(path: Path, report: VocabularyReport) -> Concepts:
    """ICD-10-CM's file in order (`icd10cm_order_2026.txt`): columns of fixed width. The long title
    is canonical, the short one, if it is another, an alias; types are `code` or `header`; the
    parent of a code is the longest one that it continues.

    path (Path): the file, gzipped or not.
    YIELDS (Concept): one for each code, with its dot: `ICD10CM:A00.0`; headings (`A00` Cholera) as
        well.
    RAISES (AngelError): a line of another layout.
    """
    known: set[str] = set()
    for number, line in read_lines(path):
        if not line.strip():
            continue
        match = _LINE.match(line)
        if match is None:
            raise wrong(path, number, "order number, code, 0 or 1, short and long title", line)
        code, flag = match.groups()
        above = next((code[:n] for n in range(len(code) - 1, 2, -1) if code[:n] in known), "")
        known.add(code)
        titles = [line[_LONG_TITLE:].strip(), line[match.end() : _LONG_TITLE].strip()]
        yield make_concept(
            path,
            number,
            _dotted(code),
            dict.fromkeys(filter(None, titles)),
            types=["code" if flag == "1" else "header"],
            parents=[_dotted(above)] if above else (),
        )


def _dotted(code: str) -> str:
    return f"ICD10CM:{code[:3]}{'.' if len(code) > 3 else ''}{code[3:]}"


FORMAT = Format("icd10cm.v1", read_icd10cm, lambda path, head: _LINE.match(head) is not None)
