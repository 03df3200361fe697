"""scispaCy's vocabularies: JSON lines."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ....files.formats import Format, first_line
from ....files.json_values import parse_json
from ...names.concepts import SCOPES
from .lines import read_lines, wrong
from .records import NO_NAME, Row, VocabularyReport, make_row, own_id, whole_text, whole_texts


def read_scispacy(
    path: Path, report: VocabularyReport, *, prefix: str | None = None
) -> Iterator[Row]:
    """scispaCy's JSON lines: `concept_id, canonical_name, aliases, types, definition`; also
    `alternate_ids`, `tree_numbers`, `scopes` and `parts`, as `kb export` writes them.

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
            entry = parse_json(line)
        except ValueError as error:
            raise wrong(path, number, "one JSON object a line", line) from error
        if not isinstance(entry, dict) or "concept_id" not in entry:
            raise wrong(path, number, "a JSON object with `concept_id`", line)
        names = [
            name
            for name in (
                whole_text(path, number, entry.get("canonical_name") or ""),
                *whole_texts(path, number, entry.get("aliases")),
            )
            if name.strip()
        ]
        if not names:
            report.skipped[NO_NAME] += 1
            continue
        alternates = whole_texts(path, number, entry.get("alternate_ids"))
        yield make_row(
            path,
            number,
            own_id(whole_text(path, number, entry["concept_id"]), prefix),
            names,
            types=whole_texts(path, number, entry.get("types")),
            definition=whole_text(path, number, entry.get("definition") or ""),
            alternate_ids=[own_id(code, prefix) for code in alternates],
            tree_numbers=whole_texts(path, number, entry.get("tree_numbers")),
            scopes=_scopes(path, number, entry.get("scopes")),
            parts=whole_texts(path, number, entry.get("parts")),
        )


def _scopes(path: Path, line: int, value: Any) -> Iterator[tuple[str, str]]:
    """Scope by name, e.g. `{"sugar sickness": "RELATED"}`."""
    if value is None:
        return
    if not isinstance(value, dict):
        raise wrong(path, line, "an object of names and scopes", value)
    for name, scope in value.items():
        if scope not in SCOPES:
            raise wrong(path, line, f"one of {', '.join(SCOPES)}", scope)
        yield whole_text(path, line, name), scope


def _recognises(path: Path, head: str) -> bool:
    return head.startswith("{") and '"concept_id"' in first_line(head)


FORMAT = Format("scispacy.v1", read_scispacy, _recognises)
