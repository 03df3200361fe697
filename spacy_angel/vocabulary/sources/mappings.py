"""Mappings between vocabularies (SSSOM, Simple Standard for Sharing Ontological Mappings): what
means the same becomes an alternate identifier."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from ..names.concepts import Concept
from ..names.identifiers import iri_to_id, normalize_id
from .formats.lines import read_lines, read_rows
from .formats.records import VocabularyReport, located

_SAME = re.compile(r"(\S*[:/#])?(exactMatch|equivalentClass|sameAs)")
_COLUMNS = ("subject_id", "predicate_id", "object_id")
# A line of the metadata: those of the file, and in `curie_map` the prefixes.
_METADATA = re.compile(r"#\s*([\w.]+):\s+[\"']?(.*?)[\"']?\s*")
_OBO = re.compile(r"http://purl\.obolibrary\.org/obo/(\w+)_")
_IDENTIFIER = re.compile(r"[^\s|+:/]+:(?!//)[^\s|+]+")


@dataclass
class MappingReport:
    """What a table of mappings holds, and what came of it.

    title (str), licence (str): of the table, if it has them.
    mappings (int): those that were taken.
    mapped_concepts (int), added_ids (int): concepts that got further identifiers, and how many.
    skipped (Counter[str]): mappings that were left out, by reason: another predicate, one that is
        `denied` (its `predicate_modifier` is Not), something that is `no identifier`.
    """

    title: str = ""
    licence: str = ""
    mappings: int = 0
    mapped_concepts: int = 0
    added_ids: int = 0
    skipped: Counter[str] = field(default_factory=Counter)


class Mappings:
    """The mappings of a table that mean «is the same as», to be used in both directions.

    path (Path): a file `*.sssom.tsv`, gzipped or not.
    RAISES (AngelError): it cannot be read, or is no such table; the message names the line.
    """

    def __init__(self, path: Path) -> None:
        self._partners: dict[str, dict[str, None]] = {}
        self.report = MappingReport()
        about: dict[str, str] = {}

        def lines() -> Iterator[str]:
            for line in read_lines(path, position):
                is_comment = line.startswith("#")
                if is_comment and (match := _METADATA.fullmatch(line)):
                    about.setdefault(match[1], match[2])
                yield "" if is_comment else line

        position = VocabularyReport()
        with located(path, position):
            for row in read_rows(path, position, _COLUMNS, quotes=True, lines=lines()):
                self._take(row, about)
        self.report.title = about.get("mapping_set_title") or about.get("mapping_set_id", "")
        self.report.licence = about.get("license", "")

    def added_to(self, concepts: Iterable[Concept]) -> Iterator[Concept]:
        """Give concepts the identifiers that theirs are mapped to.

        concepts (Iterable[Concept]): of any vocabulary.
        YIELDS (Concept): the same; new alternate identifiers come after those they had.
        """
        for concept in concepts:
            known = dict.fromkeys((concept.concept_id, *concept.alternate_ids))
            partners = chain.from_iterable(self._partners.get(_key(one), ()) for one in known)
            new = [one for one in dict.fromkeys(partners) if one not in known]
            if new:
                self.report.mapped_concepts += 1
                self.report.added_ids += len(new)
                concept = replace(concept, alternate_ids=(*concept.alternate_ids, *new))
            yield concept

    def _take(self, row: Mapping[str, str], about: Mapping[str, str]) -> None:
        ends = [_identifier(row[end], about) for end in ("subject_id", "object_id")]
        if not _SAME.fullmatch(row["predicate_id"]):
            self.report.skipped[row["predicate_id"] or "no predicate"] += 1
        elif row.get("predicate_modifier"):
            self.report.skipped["denied"] += 1
        elif not all(ends):
            self.report.skipped["no identifier"] += 1
        else:
            self.report.mappings += 1
            for one, other in (ends, ends[::-1]):
                self._partners.setdefault(_key(one), {})[other] = None


def _identifier(text: str, about: Mapping[str, str]) -> str:
    """In normal form, with OBO's own spelling of its prefixes: `chebi:24431` → `CHEBI:24431`; empty
    if it is none."""
    text = iri_to_id(text)
    if not _IDENTIFIER.fullmatch(text):
        return ""
    prefix, _, code = text.partition(":")
    match = _OBO.fullmatch(about.get(prefix, ""))
    return normalize_id(f"{match[1] if match else prefix}:{code}")


def _key(concept_id: str) -> str:
    """What identifiers are compared by: a prefix may be in upper or lower case."""
    prefix, colon, code = concept_id.partition(":")
    return f"{prefix.lower()}{colon}{code}"
