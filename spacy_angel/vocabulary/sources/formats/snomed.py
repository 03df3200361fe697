"""SNOMED CT in RF2: the Snapshot files of a release."""

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from ....errors import AngelError
from ....files.formats import Format
from ...names.identifiers import normalize_id
from .lines import read_lines, wrong
from .records import Row, VocabularyReport, check_new, count_unused, make_row, successors

_COMPONENT = ["id", "effectiveTime", "active", "moduleId"]
_CONCEPT = [*_COMPONENT, "definitionStatusId"]
_DESCRIPTION = [
    *_COMPONENT,
    "conceptId",
    "languageCode",
    "typeId",
    "term",
    "caseSignificanceId",
]
_ASSOCIATION = [*_COMPONENT, "refsetId", "referencedComponentId", "targetComponentId"]
_FULLY_SPECIFIED = "900000000000003001"
# SAME AS and REPLACED BY: the other associations do not keep the meaning.
_SUCCESSION = {"900000000000527005", "900000000000526001"}
_SCTID = re.compile(r"\d{6,18}", re.ASCII)
_TAGGED = re.compile(r"(.*\S)\s*\(([^()]+)\)")
_HINT = "Give the folder of an unpacked release, or its folder Snapshot."


def read_snomed(
    path: Path, report: VocabularyReport, *, languages: frozenset[str] | None = frozenset({"en"})
) -> Iterator[Row]:
    """The active concepts with their active descriptions.

    The canonical name is the fully specified name without its semantic tag, which is the type:
    `Diabetes mellitus (disorder)`. Inactive concepts that are SAME AS, or REPLACED BY, one other
    are its alternate identifiers, where the release has the association reference set.

    path (Path): folder with the Snapshot files, at any depth, gzipped or not, of one release.
    languages (frozenset[str] | None): languages of names and definitions; None: all.
    YIELDS (Row): one a concept, with its line in the concept file.
    RAISES (AngelError): a file is missing or not RF2; a concept stands in it twice.
    """
    concept_files = _find(path, "sct2_Concept_Snapshot")
    description_files = _find(path, "sct2_Description_Snapshot")
    if not concept_files or not description_files:
        expected = "sct2_Concept_Snapshot….txt and sct2_Description_Snapshot….txt"
        raise AngelError(f"{path}: expected a folder with {expected}. {_HINT}")
    places = _active_concepts(concept_files, report)
    names: dict[str, list[str]] = {}
    tagged: dict[str, tuple[str, str]] = {}
    for concept, kind, term in _terms(description_files, languages):
        if concept not in places:
            continue
        match = _TAGGED.fullmatch(term) if kind == _FULLY_SPECIFIED else None
        if match is not None:
            tagged.setdefault(concept, (match[1], match[2]))
        names.setdefault(concept, []).append(match[1] if match else term)
    definitions: dict[str, str] = {}
    for concept, _, term in _terms(_find(path, "sct2_TextDefinition_Snapshot"), languages):
        if concept in places:
            definitions.setdefault(concept, term)
    retired = _retired(_find(path, "der2_cRefset_Association*Snapshot"), places, report)
    for concept, (file, line) in places.items():
        if concept not in names:
            report.skipped["concepts without a name"] += 1
            continue
        name, tag = tagged.get(concept, (names[concept][0], ""))
        identifier = normalize_id(concept, "SNOMEDCT")
        yield make_row(
            file,
            line,
            identifier,
            dict.fromkeys((name, *names[concept])),
            types=[tag] if tag else (),
            definition=definitions.get(concept),
            alternate_ids=retired.pop(identifier, ()),
        )
    count_unused(retired, report)


def _find(path: Path, start: str) -> list[Path]:
    files = path.rglob(f"{start}*") if path.is_dir() else ()
    return sorted(file for file in files if file.name.endswith((".txt", ".txt.gz")))


def _rows(path: Path, columns: list[str]) -> Iterator[tuple[int, list[str]]]:
    """The rows of an RF2 file after its head, checked to have its columns."""
    for number, line in read_lines(path):
        cells = line.split("\t")
        if number == 1:
            if cells != columns:
                raise wrong(path, number, f"the columns {' '.join(columns)}", line)
            continue
        if len(cells) != len(columns) or cells[2] not in ("0", "1"):
            raise wrong(path, number, f"{len(columns)} columns, the third 0 or 1", line)
        yield number, cells


def _sctid(path: Path, line: int, code: str) -> str:
    if not _SCTID.fullmatch(code):
        raise wrong(path, line, "a SNOMED CT identifier (6 to 18 digits)", code)
    return code


def _active_concepts(files: list[Path], report: VocabularyReport) -> dict[str, tuple[Path, int]]:
    places: dict[str, tuple[Path, int]] = {}
    for path in files:
        for line, (code, _, active, *_) in _rows(path, _CONCEPT):
            concept = _sctid(path, line, code)
            if active == "0":
                report.skipped["inactive concepts"] += 1
                continue
            check_new(concept, places, path, line)
            places[concept] = (path, line)
    return places


def _terms(files: list[Path], languages: Collection[str] | None) -> Iterator[tuple[str, str, str]]:
    """Concept, kind and text of each active description or definition."""
    for path in files:
        for line, cells in _rows(path, _DESCRIPTION):
            if cells[2] == "1" and (languages is None or cells[5] in languages):
                if not cells[7].strip():
                    raise wrong(path, line, "a term", cells[7])
                yield _sctid(path, line, cells[4]), cells[6], cells[7].strip()


def _retired(
    files: list[Path], active: Collection[str], report: VocabularyReport
) -> dict[str, list[str]]:
    replaced_by: dict[str, list[str]] = {}
    for path in files:
        for line, (_, _, is_active, _, refset, old, new) in _rows(path, _ASSOCIATION):
            if is_active == "1" and refset in _SUCCESSION and old not in active:
                codes = [normalize_id(_sctid(path, line, c), "SNOMEDCT") for c in (old, new)]
                replaced_by.setdefault(codes[0], []).append(codes[1])
    return successors(replaced_by, report)


def _recognises(path: Path, head: str) -> bool:
    return path.is_dir() and any(path.rglob("sct2_Concept_Snapshot*"))


FORMAT = Format("snomed.v1", read_snomed, _recognises)
