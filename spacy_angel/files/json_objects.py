"""Reading of the objects in a JSON file: a document per line, or one list."""

from collections.abc import Collection, Iterator
from itertools import chain, groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

from ..errors import AngelError
from .faults import FileReading
from .json_values import parse_json
from .reading import decoded, pieces


def read_objects(
    path: Path, reading: FileReading, within: Collection[str] = ()
) -> Iterator[tuple[int, Any]]:
    """Read the items of a list or of lists in an object, or else the object itself, and do the same
    for each line of a file with JSON lines. JSON lines are read one at a time; other files are kept
    in memory as a whole.

        {"source": "x", "documents": [{…}, {…}]}   [{…}, {…}]   {…}\\n{…}

    path (Path): file, plain or gzip.
    reading (FileReading): handles faults in JSON lines. For other files, its `unit` becomes `item`.
    within (Collection[str]): keys of the lists in an object.
    YIELDS (tuple[int, Any]): number of the line or, in a single list, of the item, counted from 1;
        and the item.
    RAISES (AngelError): if the file is not valid JSON, or is truncated; a faulty line of JSON lines
        only if `reading.strict` is set.
    """
    lines = _lines(path, reading)
    first = [*islice(lines, 2)]
    has_lines = len(first) == 2 and _is_json(first[0][1])
    lines = chain(first, lines)
    if not has_lines:
        text = decoded(b"".join(line for _, line in lines), path)
        lines, reading.unit = iter([(1, text.encode())]), "item"
    for number, line in lines:
        try:
            value = parse_json(line)
            if not isinstance(value, dict | list):
                raise ValueError("an object or a list was expected")
        except ValueError as error:
            problem = f"the JSON is broken or cut ({error})."
            if not has_lines:
                raise AngelError(f"{reading.name}: {problem}") from error
            reading.fault_at(number, problem, skipped="documents_left_out")
            continue
        for count, item in enumerate(_items(value, within), 1):
            yield (number if has_lines else count), item


def _lines(path: Path, reading: FileReading) -> Iterator[tuple[int, bytes]]:
    """YIELDS (tuple[int, bytes]): number and content of each line that is not blank."""
    for number, parts in groupby(pieces(path, reading), key=itemgetter(0)):
        line = b"".join(piece for _, piece in parts)
        if line.strip():
            yield number, line


def _is_json(text: bytes) -> bool:
    try:
        parse_json(text)
    except ValueError:
        return False
    return True


def _items(value: Any, within: Collection[str]) -> list[Any]:
    if isinstance(value, list):
        return value
    lists = [value[key] for key in within if isinstance(value.get(key), list)]
    return [item for items in lists for item in items] if lists else [value]
