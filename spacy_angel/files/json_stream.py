"""Objects of a JSON file one by one, with the standard library's decoder.

The text of the file is in memory, but only one object at a time.

`ijson` is no replacement: it has no limit on depth and takes time quadratic in it, 27 seconds for
a file of 80,000 brackets, and gives no line numbers.
"""

import json
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from ..errors import AngelError
from .faults import FileReading
from .json_values import TOO_DEEP
from .reading import decoded, pieces

_SPACE = re.compile(r"[ \t\n\r]*")


def stream_objects(
    path: Path, reading: FileReading, within: Collection[str]
) -> Iterator[tuple[int, Any]]:
    """The items of a list at the top or under a key of the top object, or the top objects
    themselves, one after the other.

        {"source": "x", "documents": [{…}, {…}]}   [{…}, {…}]   {…}\\n{…}

    path (Path): file, plain or gzip.
    reading (FileReading): names the file.
    within (Collection[str]): keys whose list is streamed.
    YIELDS (tuple[int, Any]): line on which the item ends, item.
    RAISES (AngelError): the file is not JSON, or is cut.
    """
    text = _Text(path, reading)
    if not text.peek():
        raise text.error("the file is empty")
    while first := text.peek():
        if first == "[":
            yield from text.items()
        elif first == "{":
            values: dict[str, Any] = {}
            is_streamed = False
            for key in text.entries():
                if key in within and text.peek() == "[":
                    is_streamed = True
                    yield from text.items()
                else:
                    values[key] = text.value()
            if not is_streamed:
                yield text.line, values
        else:
            raise text.error("an object or a list was expected")


class _Text:
    """The text of a file, and how far it is decoded."""

    def __init__(self, path: Path, reading: FileReading) -> None:
        self._reading = reading
        data = b"".join(piece for _, piece in pieces(path, reading, by_line=False))
        self._text, self._at = decoded(data, path), 0
        self._json = json.JSONDecoder()
        # The current line, from 1.
        self.line = 1

    def peek(self) -> str:
        """RETURNS (str): the next character that is not white space; empty at the end."""
        self._skip_to(_SPACE.match(self._text, self._at).end())  # type: ignore[union-attr]
        return self._text[self._at : self._at + 1]

    def items(self) -> Iterator[tuple[int, Any]]:
        """YIELDS (tuple[int, Any]): line and value of each item of the list that begins here."""
        for _ in self._members("[", "]"):
            value = self.value()
            yield self.line, value

    def entries(self) -> Iterator[str]:
        """YIELDS (str): each key of the object that begins here; the caller takes the value."""
        for _ in self._members("{", "}"):
            key = self.value()
            if not isinstance(key, str):
                raise self.error("a key in quotes was expected")
            self._take(":")
            yield key

    def _members(self, begin: str, end: str) -> Iterator[None]:
        self._take(begin)
        while self.peek() != end:
            yield
            if self.peek() != end:
                self._take(",")
        self._take(end)

    def _take(self, character: str) -> None:
        if self.peek() != character:
            raise self.error(f"{character!r} was expected")
        self._at += 1

    def _skip_to(self, end: int) -> None:
        self.line += self._text.count("\n", self._at, end)
        self._at = end

    def value(self) -> Any:
        """RETURNS (Any): the next JSON value."""
        self.peek()
        try:
            value, end = self._json.raw_decode(self._text, self._at)
        except RecursionError as error:
            raise self.error(TOO_DEEP) from error
        except ValueError as error:
            raise self.error(str(error)) from error
        self._skip_to(end)
        return value

    def error(self, problem: str) -> AngelError:
        """RETURNS (AngelError): naming file and line."""
        where = self._reading.where(self.line)
        return AngelError(f"{where}: the JSON is broken or cut ({problem}).")
