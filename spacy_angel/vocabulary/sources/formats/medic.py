"""MEDIC as the NCBI-disease benchmark has it, of 2012."""

import re
from pathlib import Path

from ....files.formats import Format, first_line
from ...names.identifiers import normalize_id
from .lines import read_lines, wrong
from .records import Concepts, VocabularyReport, make_concept

_PREFIXES = {re.compile(r"[CD]\d*", re.ASCII): "MESH", re.compile(r"\d+", re.ASCII): "OMIM"}


def read_medic(path: Path, report: VocabularyReport) -> Concepts:
    """MEDIC of 2012, `id|alternate ids||name|synonyms`. Bare digits are OMIM's identifiers, the
    others MeSH's; the root row `C||Diseases` is a concept like the rest. Every concept has the type
    `C`, MeSH's tree of diseases.

    path (Path): the file, gzipped or not.
    YIELDS (Concept): one for each line.
    RAISES (AngelError): a line without `||`, or an identifier of neither kind.
    """
    for number, line in read_lines(path):
        head, bars, tail = line.partition("||")
        if bars:
            own, *others = [_medic_id(path, number, code) for code in head.split("|")]
            names = tail.split("|")
            yield make_concept(path, number, own, names, types=("C",), alternate_ids=others)
        elif line.strip():
            raise wrong(path, number, "`id|alternate ids||name|synonyms`", line)


def _medic_id(path: Path, line: int, code: str) -> str:
    prefix = next((prefix for form, prefix in _PREFIXES.items() if form.fullmatch(code)), "")
    identifier = normalize_id(code, prefix)
    if not identifier.startswith(("OMIM:", "MESH:")):
        raise wrong(path, line, "an identifier of OMIM (digits) or MeSH (`C…`, `D…`)", code)
    return identifier


def _is_medic(path: Path, head: str) -> bool:
    line = first_line(head)
    return "||" in line and "\t" not in line


FORMAT = Format("medic.v1", read_medic, _is_medic)
