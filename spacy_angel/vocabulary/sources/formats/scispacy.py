"""scispaCy's vocabularies in JSON lines."""

from pathlib import Path
from typing import Any

from ....files.formats import Format, first_line
from ....files.json_values import checked, parse_as
from ...names.concepts import Concept, Scope
from .lines import read_lines
from .records import Concepts, VocabularyReport, make_concept, own_id, wrong


def read_scispacy(path: Path, report: VocabularyReport, *, prefix: str | None = None) -> Concepts:
    """scispaCy's JSON lines: `concept_id, canonical_name, aliases, types, definition`; also
    `alternate_ids`, `parents`, `scopes`, and `parts`.

    path (Path): the file, plain or gzip.
    prefix (str | None): vocabulary of identifiers without a prefix; None: MeSH or UMLS if they have
        that form, otherwise none.
    YIELDS (Concept): one for each line.
    RAISES (ValueError): a line is not a JSON object, or a field has the wrong type.
    """
    for line in filter(str.strip, read_lines(path, report, cut_shows=True)):
        try:
            # `null` counts as missing
            fields = {k: v for k, v in parse_as(line, dict[str, Any]).items() if v is not None}
            scopes = checked(fields.pop("scopes", {}), dict[str, Scope])
            entry = checked({"canonical_name": "", **fields}, Concept)
        except ValueError as error:
            expected = f"one JSON object a line with `concept_id` ({error})"
            raise wrong(expected, line) from error
        yield make_concept(
            own_id(entry.concept_id, prefix),
            entry.names,
            types=entry.types,
            definition=entry.definition,
            alternate_ids=[own_id(code, prefix) for code in entry.alternate_ids],
            parents=[own_id(code, prefix) for code in entry.parents],
            scopes=scopes.items(),
            parts=entry.parts,
        )


def _recognizes(path: Path, head: str) -> bool:
    return head.startswith("{") and '"concept_id"' in first_line(head)


FORMAT = Format("scispacy.v1", read_scispacy, _recognizes)
