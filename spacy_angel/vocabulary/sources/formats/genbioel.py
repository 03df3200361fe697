"""GenBioEL's target_kb.json."""

import re
from hashlib import blake2b
from pathlib import Path

from ....files.faults import FileReading
from ....files.formats import Format
from ....files.json_stream import stream_entries
from ....files.json_values import Text, checked
from .lines import wrong
from .records import NO_NAME, Concepts, VocabularyReport, make_concept, own_id


def read_target_kb(
    path: Path, report: VocabularyReport, *, prefix: str | None = None, twins: bool = True
) -> Concepts:
    """GenBioEL's target_kb.json: one object, `{id: [names]}`, read entry by entry.

    A composite key (`D001|D002`) is one concept with the first identifier; the others are its
    alternates. Entries with the very same names are one concept, too: the published file of
    NCBI-disease has MEDIC's concepts once under their MeSH identifier and once under each of
    OMIM's, and nothing tells them apart.

    path (Path): the file, gzipped or not.
    prefix (str | None): vocabulary of identifiers without prefix; None: MeSH or UMLS if they look
        like these, else none.
    twins (bool): join entries with the very same names; the identifiers of the later ones become
        alternates of the first.
    YIELDS (Concept): one for each entry.
    RAISES (AngelError): the file is no such object, or cut.
    """
    first: dict[bytes, str] = {}
    for number, key, value in stream_entries(path, FileReading(str(path), progress=True)):
        try:
            code, texts = checked(key, Text), checked(value or [], list[Text])
        except ValueError as error:
            raise wrong(path, number, f"a list of strings ({error})", value) from error
        if not (names := [name for name in texts if name.strip()]):
            report.skipped[NO_NAME] += 1
            continue
        own, *others = [own_id(part, prefix) for part in re.split(r"[|+]", code)]
        if twins:
            # Of the names as a set, 16 bytes an entry are kept.
            joined = "\0".join(sorted(set(names))).encode()
            leader = first.setdefault(blake2b(joined, digest_size=16).digest(), own)
            own, others = leader, [own, *others]
        yield make_concept(path, number, own, names, alternate_ids=others)


FORMAT = Format("target_kb.v1", read_target_kb, lambda path, head: head.startswith("{"))
