"""SNOMED CT in RF2: the Snapshot files of a release, or of several editions."""

import re
from collections.abc import Iterator
from pathlib import Path

from ....errors import AngelError
from ....files.formats import Format
from .lines import read_rows
from .records import Concepts, VocabularyReport, make_concept, wrong

_IS_A = "116680003"
_FULLY_SPECIFIED = "900000000000003001"
# SAME AS and REPLACED BY; other associations change the meaning.
_SUCCESSION = {"900000000000527005", "900000000000526001"}
_SCTID = re.compile(r"\d{6,18}", re.ASCII)
_TAGGED = re.compile(r"(.*\S)\s*\(([^()]+)\)")


def read_snomed(
    path: Path, report: VocabularyReport, *, languages: frozenset[str] | None = frozenset({"en"})
) -> Concepts:
    """SNOMED CT's active concepts with their active descriptions.

    The canonical name is the fully specified name without its semantic tag, which is the type:
    `Diabetes mellitus (disorder)`. An inactive concept that is SAME AS, or REPLACED BY, one other
    is its alternate identifier, if the release has the association reference set. `Is a`
    relationships give the hierarchy. If several editions contain a component, the latest version is
    used.

    path (Path): folder with the Snapshot files of any edition, at any depth, plain or gzip.
    languages (frozenset[str] | None): languages of names and definitions; None: all.
    YIELDS (Concept): one for each concept.
    RAISES (ValueError): a file is missing or not RF2.
    """
    if not (_find(path, "sct2_Concept") and _find(path, "sct2_Description")):
        raise AngelError(
            f"{path}: expected a folder with sct2_Concept_Snapshot….txt and "
            "sct2_Description_Snapshot….txt. Give the folder of an unpacked release."
        )

    def terms(start: str) -> Iterator[tuple[str, str, str]]:
        """Concept, kind and text of each active description or definition."""
        for row in _rows(path, report, start, "conceptId", "languageCode", "typeId", "term"):
            if row["active"] == "1" and (languages is None or row["languageCode"] in languages):
                yield row["conceptId"], row["typeId"], row["term"]

    active: dict[str, None] = {}
    for row in _rows(path, report, "sct2_Concept", "definitionStatusId"):
        if row["active"] == "1":
            active[row["id"]] = None
        else:
            report.skipped["inactive concepts"] += 1
    names: dict[str, list[str]] = {}
    tags: dict[str, str] = {}
    for concept, kind, term in terms("sct2_Description"):
        match = _TAGGED.fullmatch(term) if kind == _FULLY_SPECIFIED else None
        own = names.setdefault(concept, [])
        if match is None or concept in tags:
            own.append(match[1] if match else term)
        else:
            own.insert(0, match[1])
            tags[concept] = match[2]
    definitions: dict[str, str] = {}
    for concept, _, term in terms("sct2_TextDefinition"):
        definitions.setdefault(concept, term)
    parents: dict[str, list[str]] = {}
    for row in _rows(path, report, "sct2_Relationship", "sourceId", "destinationId", "typeId"):
        if row["active"] == "1" and row["typeId"] == _IS_A and row["sourceId"] in active:
            parents.setdefault(row["sourceId"], []).append(_id(row["destinationId"]))
    columns = ("refsetId", "referencedComponentId", "targetComponentId")
    for row in _rows(path, report, "der2_cRefset_Association", *columns):
        refset, old, new = (row[column] for column in columns)
        if row["active"] == "1" and refset in _SUCCESSION and old not in active:
            report.retire(_id(old), _id(new))
    for concept in active:
        yield make_concept(
            _id(concept),
            dict.fromkeys(names.get(concept, ())),
            types=[tags.get(concept, "")],
            definition=definitions.get(concept),
            parents=parents.get(concept, ()),
        )


def _find(path: Path, start: str) -> list[Path]:
    """The Snapshot files of one kind, for any edition (`sct2_Concept_UKCLSnapshot_GB…`) and status
    (beta releases are named `xsct2_…`)."""
    files = path.rglob(f"*{start}*Snapshot*.txt*") if path.is_dir() else ()
    return sorted(file for file in files if file.name.removeprefix("x").startswith(start))


def _rows(
    path: Path, report: VocabularyReport, start: str, *columns: str
) -> Iterator[dict[str, str]]:
    """The rows of all files of one kind; of rows with the same `id` in several editions, the
    latest."""
    files = _find(path, start)
    latest: dict[str, tuple[str, Path]] = {}
    for file in files if len(files) > 1 else ():
        for row in read_rows(file, report, ("id", "effectiveTime")):
            version = row["effectiveTime"], file
            latest[row["id"]] = max(version, latest.get(row["id"], version))
    for file in files:
        for row in read_rows(file, report, ("id", "active", *columns)):
            if row["active"] not in ("0", "1"):
                raise wrong("0 or 1 as active", row["active"])
            if not latest or latest[row["id"]] == (row["effectiveTime"], file):
                yield row


def _id(code: str) -> str:
    if not _SCTID.fullmatch(code):
        raise wrong("a SNOMED CT identifier (6 to 18 digits)", code)
    return f"SNOMEDCT:{code}"


def _recognizes(path: Path, head: str) -> bool:
    return path.is_dir() and bool(_find(path, "sct2_Concept"))


FORMAT = Format("snomed.v1", read_snomed, _recognizes)
