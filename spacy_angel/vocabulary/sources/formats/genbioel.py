"""GenBioEL's target_kb.json."""

import re
from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

from ....files.faults import FileReading
from ....files.formats import Format
from ....files.json_stream import stream_entries
from ....files.json_values import Text, checked
from .lines import wrong
from .records import NO_NAME, Row, VocabularyReport, make_row, merge_concepts, own_id


def read_target_kb(
    path: Path, report: VocabularyReport, *, prefix: str | None = None, twins: bool = True
) -> Iterator[Row]:
    """GenBioEL's target_kb.json: one object, `{id: [names]}`, read entry by entry.

    A composite key (`D001|D002`) is one concept with the first identifier; the others are its
    alternates. A key with spaces at its edges (` D008661`, which stands in the published file of
    NCBI-disease beside `D008661`) is the same key without them; where both are there, they are
    joined and counted as `merged`. So are entries with the very same names: MEDIC's concepts stand
    there once under their MeSH identifier and once under each of OMIM's, and nothing tells them
    apart.

    path (Path): the file, gzipped or not; read twice, and twice more for twins.
    prefix (str | None): vocabulary of identifiers without prefix; None: MeSH or UMLS where the
        form says so, else none.
    twins (bool): join entries with the very same names; the identifiers of the later ones become
        alternates of the first.
    YIELDS (Row): one a concept; of keys with spaces that stand alone at the end.
    RAISES (AngelError): the file is no such object, or cut.
    """
    others: dict[str, list[str]] = {}
    joined: set[str] = set()
    first: dict[bytes, str] = {}
    for row in _entries(path, VocabularyReport(), prefix) if twins else ():
        own = row.concept.concept_id
        # Of the names as a set, 16 bytes an entry are kept.
        names = "\0".join(sorted(set(row.concept.names))).encode()
        leader = first.setdefault(blake2b(names, digest_size=16).digest(), own)
        if leader != own:
            joined.add(own)
            others.setdefault(leader, []).extend((own, *row.concept.alternate_ids))
    for row in _entries(path, report, prefix):
        concept = row.concept
        if concept.concept_id in joined:
            report.merged += 1
            continue
        alternates = (*concept.alternate_ids, *others.get(concept.concept_id, ()))
        yield row._replace(concept=replace(concept, alternate_ids=tuple(dict.fromkeys(alternates))))


def _entries(path: Path, report: VocabularyReport, prefix: str | None) -> Iterator[Row]:
    """The entries, those of one key joined; keys with spaces that have no twin come last."""
    blank: dict[str, list[Row]] = {}
    for row in _rows(path, prefix, report, blank=True):
        blank.setdefault(row.concept.concept_id, []).append(row)
    for row in _rows(path, prefix, report, blank=False):
        others = blank.pop(row.concept.concept_id, [])
        report.merged += len(others)
        yield row._replace(concept=merge_concepts(row.concept, *(o.concept for o in others)))
    for _, rows in sorted(blank.items()):
        yield from rows


def _rows(path: Path, prefix: str | None, report: VocabularyReport, blank: bool) -> Iterator[Row]:
    """The entries whose keys have, or do not have, spaces at their edges."""
    for number, key, value in stream_entries(path, FileReading(str(path), progress=True)):
        if (key != key.strip()) is not blank:
            continue
        try:
            code, texts = checked(key, Text), checked(value or [], list[Text])
        except ValueError as error:
            raise wrong(path, number, f"a list of strings ({error})", value) from error
        if not (names := [name for name in texts if name.strip()]):
            report.skipped[NO_NAME] += 1
            continue
        ids = [own_id(part, prefix) for part in re.split(r"[|+]", code)]
        yield make_row(path, number, ids[0], names, alternate_ids=ids[1:])


FORMAT = Format("target_kb.v1", read_target_kb, lambda path, head: head.startswith("{"))
