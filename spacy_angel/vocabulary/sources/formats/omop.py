"""OMOP standardized vocabularies, as downloaded from OHDSI Athena."""

from collections.abc import Iterator
from pathlib import Path

from ....files.formats import Format
from ...names.identifiers import normalize_id
from .lines import find_files, read_rows, required_files
from .records import Concepts, VocabularyReport, make_concept

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
) -> Concepts:
    """CONCEPT.csv, with the names in CONCEPT_SYNONYM.csv and, from CONCEPT_RELATIONSHIP.csv, the
    hierarchy (`Is a`) and the replacements of invalid concepts, if these files are in the same
    folder. Types are the domain (`Condition`); the code of the source vocabulary is an alternate
    identifier.

    path (Path): CONCEPT.csv, plain or gzip, or the folder of the files.
    standard (bool): include only standard concepts.
    languages (frozenset[str] | None): languages of synonyms, as concept identifiers; None: all.
    YIELDS (Concept): one for each valid concept.
    RAISES (ValueError): there is no CONCEPT.csv, or a file lacks a column.
    """
    concepts = required_files(path, "CONCEPT.csv")

    def rows(files: list[Path], columns: tuple[str, ...]) -> Iterator[dict[str, str]]:
        for file in files:
            yield from read_rows(file, report, columns)

    synonyms: dict[str, list[str]] = {}
    for row in rows(find_files(path, "CONCEPT_SYNONYM.csv"), _SYNONYM):
        if languages is None or row["language_concept_id"] in languages:
            synonyms.setdefault(row["concept_id"], []).append(row["concept_synonym_name"])
    parents: dict[str, list[str]] = {}
    for row in rows(find_files(path, "CONCEPT_RELATIONSHIP.csv"), _RELATIONSHIP):
        first, second = row["concept_id_1"], f"OMOP:{row['concept_id_2']}"
        if row["invalid_reason"]:
            continue
        if row["relationship_id"] == "Is a":
            parents.setdefault(first, []).append(second)
        elif row["relationship_id"] == "Concept replaced by":
            report.retire(f"OMOP:{first}", second)
    for row in rows(concepts, _CONCEPT):
        own = row["concept_id"]
        if row.get("invalid_reason"):
            report.skipped["invalid concepts"] += 1
        elif standard and row.get("standard_concept") != "S":
            report.skipped["concepts that are not standard"] += 1
        else:
            code = normalize_id(row["concept_code"], row["vocabulary_id"].replace(" ", "_"))
            yield make_concept(
                f"OMOP:{own}",
                dict.fromkeys([row["concept_name"], *synonyms.get(own, ())]),
                types=[row["domain_id"]],
                alternate_ids=[] if " " in code or "|" in code else [code],
                parents=parents.get(own, ()),
            )


def _recognizes(path: Path, head: str) -> bool:
    if path.is_dir():
        return bool(find_files(path, "CONCEPT.csv"))
    return head.startswith("concept_id\tconcept_name\tdomain_id\t")


FORMAT = Format("omop.v1", read_omop, _recognizes)
