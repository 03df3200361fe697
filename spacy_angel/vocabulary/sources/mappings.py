"""Mappings between vocabularies (SSSOM, Simple Standard for Sharing Ontological Mappings): what
means the same becomes an alternate identifier."""

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, takewhile
from pathlib import Path
from typing import Any

import yaml

from ..names.concepts import Concept
from ..names.identifiers import iri_to_id, normalize_id
from .formats.lines import read_lines, read_rows, wrong

_SAME = re.compile(r"(\S*[:/#])?(exactMatch|equivalentClass|sameAs)")
_COLUMNS = ("subject_id", "predicate_id", "object_id")
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
        lines = [line for _, line in read_lines(path)]
        head = list(takewhile(lambda line: line.startswith("#"), lines))
        about = _metadata(path, [line[1:] for line in head])
        title = about.get("mapping_set_title") or about.get("mapping_set_id") or ""
        self.report = MappingReport(str(title), str(about.get("license") or ""))
        # Where the file writes prefixes of OBO in its own way: `{"chebi": "CHEBI"}`.
        curie_map = about.get("curie_map")
        addresses = curie_map if isinstance(curie_map, dict) else {}
        matches = {str(prefix): _OBO.fullmatch(str(iri)) for prefix, iri in addresses.items()}
        prefixes = {prefix: match[1] for prefix, match in matches.items() if match}
        rows = chain([""] * len(head), lines[len(head) :])
        for _, row in read_rows(path, _COLUMNS, quotes=True, lines=rows):
            self._take(row, prefixes)

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

    def _take(self, row: Mapping[str, str], prefixes: Mapping[str, str]) -> None:
        ends = [_identifier(row[end], prefixes) for end in ("subject_id", "object_id")]
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


def _metadata(path: Path, lines: Sequence[str]) -> dict[str, Any]:
    """The metadata in the comments before the table. Free text in them is often no valid YAML; only
    `curie_map`, which tells the prefixes, has to be."""
    about: dict[str, Any] = {}
    for block in re.split(r"\n(?=\w)", textwrap.dedent("\n".join(lines))):
        try:
            entry = yaml.safe_load(block)
        # A day that no month has is a ValueError of the YAML reader.
        except (yaml.YAMLError, RecursionError, ValueError) as error:
            if block.startswith("curie_map"):
                raise wrong(path, 1, "`curie_map` as YAML behind `#`", str(error)) from error
            continue
        about |= entry if isinstance(entry, dict) else {}
    return about


def _identifier(text: str, prefixes: Mapping[str, str]) -> str:
    """In normal form, `chebi:24431` → `CHEBI:24431`; empty if it is none."""
    text = iri_to_id(text)
    if not _IDENTIFIER.fullmatch(text):
        return ""
    prefix, _, code = text.partition(":")
    return normalize_id(f"{prefixes.get(prefix, prefix)}:{code}")


def _key(concept_id: str) -> str:
    """What identifiers are compared by: a prefix may be in upper or lower case."""
    prefix, colon, code = concept_id.partition(":")
    return f"{prefix.lower()}{colon}{code}"
