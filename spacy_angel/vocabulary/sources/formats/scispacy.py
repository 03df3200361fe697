"""scispaCy's vocabularies: JSON lines."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from ....files.formats import Format, first_line
from ....files.json_values import Text, parse_as
from .lines import read_lines, wrong
from .records import NO_NAME, Row, VocabularyReport, make_row, own_id

_Scope = Literal["PREFERRED", "EXACT", "NARROW", "BROAD", "RELATED", "OBSOLETE", "SUPPRESSED"]
_Texts = list[Text] | None


class _Entry(BaseModel):
    model_config = ConfigDict(strict=True)

    concept_id: Text
    canonical_name: Text | None = None
    aliases: _Texts = None
    types: _Texts = None
    definition: Text | None = None
    alternate_ids: _Texts = None
    parents: _Texts = None
    scopes: dict[Text, _Scope] | None = None
    parts: _Texts = None


def read_scispacy(
    path: Path, report: VocabularyReport, *, prefix: str | None = None
) -> Iterator[Row]:
    """scispaCy's JSON lines: `concept_id, canonical_name, aliases, types, definition`; also
    `alternate_ids`, `parents`, `scopes` and `parts`.

    path (Path): the file, gzipped or not.
    prefix (str | None): vocabulary of identifiers without prefix; None: MeSH or UMLS where the
        form says so, else none.
    YIELDS (Row): one a line.
    RAISES (AngelError): a line that is no JSON object, or a field of the wrong kind.
    """
    for number, line in read_lines(path, cut_shows=True):
        if not line.strip():
            continue
        try:
            entry = parse_as(line, _Entry)
        except ValueError as error:
            expected = f"one JSON object a line with `concept_id` ({error})"
            raise wrong(path, number, expected, line) from error
        names = [n for n in (entry.canonical_name or "", *(entry.aliases or ())) if n.strip()]
        if not names:
            report.skipped[NO_NAME] += 1
            continue
        yield make_row(
            path,
            number,
            own_id(entry.concept_id, prefix),
            names,
            types=entry.types or (),
            definition=entry.definition,
            alternate_ids=[own_id(code, prefix) for code in entry.alternate_ids or ()],
            parents=[own_id(code, prefix) for code in entry.parents or ()],
            scopes=(entry.scopes or {}).items(),
            parts=entry.parts or (),
        )


def _recognises(path: Path, head: str) -> bool:
    return head.startswith("{") and '"concept_id"' in first_line(head)


FORMAT = Format("scispacy.v1", read_scispacy, _recognises)
