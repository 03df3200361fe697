"""GenBioEL's target_kb.json."""

import re
from pathlib import Path

from ....files.formats import Format
from ....files.json_values import checked
from .lines import load_json
from .records import Concepts, VocabularyReport, make_concept, own_id, wrong


def read_target_kb(path: Path, report: VocabularyReport, *, prefix: str | None = None) -> Concepts:
    """GenBioEL's target_kb.json: one object, `{id: [names]}`. A composite key (`D001|D002`) is one
    concept with the first identifier; the others are alternate identifiers.

    path (Path): the file, plain or gzip; loaded into memory as a whole.
    prefix (str | None): vocabulary of identifiers without a prefix; None: MeSH or UMLS if they have
        that form, otherwise none.
    YIELDS (Concept): one for each entry.
    RAISES (ValueError): the file is not such an object, or is truncated.
    """
    for code, value in load_json(path, report, pairs=True):
        try:
            names = checked(value or [], list[str])
        except ValueError as error:
            raise wrong(f"a list of strings under {code!r} ({error})", value) from error
        own, *others = [own_id(part, prefix) for part in re.split(r"[|+]", code)]
        yield make_concept(own, names, alternate_ids=others)


FORMAT = Format("target_kb.v1", read_target_kb, lambda path, head: head.startswith("{"))
