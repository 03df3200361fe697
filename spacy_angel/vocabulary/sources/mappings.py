"""Mappings between vocabularies in SSSOM (Simple Standard for Sharing Ontological Mappings).
Equivalent identifiers become alternate identifiers."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ...files.formats import read_head
from ..names.concepts import Concept
from .formats.lines import read_rows
from .formats.records import VocabularyReport, located, own_id

_SAME = ("exactMatch", "equivalentClass", "sameAs")
# In `curie_map`, OBO's own spelling of its prefixes: `chebi: http://purl.obolibrary.org/obo/CHEBI_`
_PREFIX = re.compile(r"^#\s*(\w+):\s+\"?http://purl\.obolibrary\.org/obo/(\w+)_", re.MULTILINE)
_IDENTIFIER = re.compile(r"[^\s|+:/]+:(?!//)[^\s|+]+")
_COLUMNS = ("subject_id", "predicate_id", "object_id")


def read_mappings(path: Path, report: VocabularyReport) -> dict[str, list[str]]:
    """Read the mappings in a table that denote identity.

    path (Path): a file `*.sssom.tsv`, optionally gzipped.
    report (VocabularyReport): counts the mappings that are skipped.
    RETURNS (dict[str, list[str]]): lowercase identifier → identifiers of the same concept, in both
        directions.
    RAISES (AngelError): the file cannot be read, or is not an SSSOM table; the message names the
        line.
    """
    same: dict[str, list[str]] = {}
    spelled = dict(_PREFIX.findall(read_head(path)))
    with located(path, report):
        for row in read_rows(path, report, _COLUMNS, quotes=True):
            subject, other = (_identifier(row[c], spelled) for c in ("subject_id", "object_id"))
            if not row["predicate_id"].endswith(_SAME) or row.get("predicate_modifier"):
                report.skipped["mappings that are no exact matches"] += 1
            elif not subject or not other:
                report.skipped["mappings without identifiers"] += 1
            else:
                same.setdefault(subject.lower(), []).append(other)
                same.setdefault(other.lower(), []).append(subject)
    return same


def with_mapped_ids(
    concepts: Iterable[Concept], tables: Sequence[Mapping[str, Sequence[str]]]
) -> Iterator[Concept]:
    """Add mapped identifiers to concepts.

    concepts (Iterable[Concept]): concepts of any vocabulary.
    tables (Sequence[Mapping[str, Sequence[str]]]): mappings from `read_mappings`.
    YIELDS (Concept): each concept, with the new alternate identifiers after the existing ones.
    """
    for concept in concepts:
        ids = (concept.concept_id, *concept.alternate_ids)
        for table in tables:
            ids += tuple(other for own in ids for other in table.get(own.lower(), ()))
        _, *alternates = dict.fromkeys(ids)
        yield replace(concept, alternate_ids=tuple(alternates)) if tables else concept


def _identifier(text: str, spelled: Mapping[str, str]) -> str:
    prefix, colon, code = text.partition(":")
    identifier = own_id(f"{spelled.get(prefix, prefix)}{colon}{code}", "")
    return identifier if _IDENTIFIER.fullmatch(identifier) else ""
