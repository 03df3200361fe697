"""OMOP's standardized vocabularies, as OHDSI's Athena packs them."""

from collections.abc import Iterator
from pathlib import Path

from ....errors import AngelError
from ....files.formats import Format
from ...names.identifiers import normalize_id
from .lines import read_rows
from .records import Rows, VocabularyReport, count_unused, make_row, successors

_CONCEPT = ("concept_id", "concept_name", "domain_id", "vocabulary_id", "concept_code")
_SYNONYM = ("concept_id", "concept_synonym_name", "language_concept_id")
_RELATIONSHIP = ("concept_id_1", "concept_id_2", "relationship_id", "invalid_reason")
_ENGLISH = "4180186"


def read_omop(
    path: Path,
    report: VocabularyReport,
    *,
    standard: bool = False,
    languages: frozenset[str] | None = frozenset({_ENGLISH}),
) -> Rows:
    """CONCEPT.csv with the names of CONCEPT_SYNONYM.csv and, from CONCEPT_RELATIONSHIP.csv, the
    hierarchy (`Is a`) and the concepts that replace invalid ones, where these files are beside it.
    Types are the domain (`Condition`); the code of the source vocabulary is a further identifier.

    path (Path): CONCEPT.csv, gzipped or not, or the folder of the files.
    standard (bool): take standard concepts only.
    languages (frozenset[str] | None): of synonyms, by their concept identifiers; None: all.
    YIELDS (Row): one a valid concept.
    RAISES (AngelError): there is no CONCEPT.csv, or a file lacks a column.
    """
    folder = path if path.is_dir() else path.parent
    files = _find(folder, "CONCEPT.csv") if path.is_dir() else [path]
    if not files:
        raise AngelError(f"{path}: expected a folder with CONCEPT.csv. Unpack the download there.")
    synonyms: dict[str, list[str]] = {}
    for row in _read(folder, "CONCEPT_SYNONYM.csv", _SYNONYM):
        if languages is None or row["language_concept_id"] in languages:
            synonyms.setdefault(row["concept_id"], []).append(row["concept_synonym_name"])
    parents: dict[str, list[str]] = {}
    replaced_by: dict[str, list[str]] = {}
    for row in _read(folder, "CONCEPT_RELATIONSHIP.csv", _RELATIONSHIP):
        if row["invalid_reason"]:
            continue
        links = {"Is a": parents, "Concept replaced by": replaced_by}.get(row["relationship_id"])
        if links is not None:
            links.setdefault(row["concept_id_1"], []).append(row["concept_id_2"])
    retired = successors(replaced_by, report)
    for number, row in read_rows(files[0], _CONCEPT):
        concept = row["concept_id"]
        if row.get("invalid_reason"):
            report.skipped["invalid concepts"] += 1
        elif standard and row.get("standard_concept") != "S":
            report.skipped["concepts that are not standard"] += 1
        else:
            code = normalize_id(row["concept_code"], row["vocabulary_id"].replace(" ", "_"))
            others = [f"OMOP:{old}" for old in retired.pop(concept, ())]
            yield make_row(
                files[0],
                number,
                f"OMOP:{concept}",
                dict.fromkeys([row["concept_name"], *synonyms.get(concept, ())]),
                types=filter(None, [row["domain_id"]]),
                alternate_ids=[*(() if " " in code or "|" in code else (code,)), *others],
                parents=[f"OMOP:{parent}" for parent in parents.get(concept, ())],
            )
    count_unused(retired, report)


def _find(folder: Path, name: str) -> list[Path]:
    return [file for end in ("", ".gz") if (file := folder / f"{name}{end}").is_file()]


def _read(folder: Path, name: str, columns: tuple[str, ...]) -> Iterator[dict[str, str]]:
    for file in _find(folder, name)[:1]:
        yield from (row for _, row in read_rows(file, columns))


def _recognises(path: Path, head: str) -> bool:
    if path.is_dir():
        return bool(_find(path, "CONCEPT.csv"))
    return head.startswith("concept_id\tconcept_name\tdomain_id\t")


FORMAT = Format("omop.v1", read_omop, _recognises)
