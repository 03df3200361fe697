"""Streaming of the objects in a JSON file with the standard library's decoder.

The whole text of the file is kept in memory, but objects are decoded one at a time.

`ijson` is not used because it provides no line numbers and does not limit the nesting depth. Its
running time is quadratic in the depth: it takes 27 seconds for a file of 80,000 brackets.
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
    """Stream the items of a top-level list or of a list in a top-level object, or else the
    top-level objects themselves.

        {"source": "x", "documents": [{…}, {…}]}   [{…}, {…}]   {…}\\n{…}

    path (Path): file, plain or gzip.
    reading (FileReading): provides the name of the file for error messages.
    within (Collection[str]): keys of the lists to stream.
    YIELDS (tuple[int, Any]): number of the line on which the item ends, and the item.
    RAISES (AngelError): if the file is not valid JSON, or is truncated.
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
    """The text of a JSON file, and the current position in it."""

    def __init__(self, path: Path, reading: FileReading) -> None:
        self._reading = reading
        data = b"".join(piece for _, piece in pieces(path, reading, by_line=False))
        self._text, self._at = decoded(data, path), 0
        self._json = json.JSONDecoder()
        # The current line, starting from 1.
        self.line = 1

    def peek(self) -> str:
        """RETURNS (str): the next non-whitespace character; empty at the end of the text."""
        self._skip_to(_SPACE.match(self._text, self._at).end())  # type: ignore[union-attr]
        return self._text[self._at : self._at + 1]

    def items(self) -> Iterator[tuple[int, Any]]:
        """YIELDS (tuple[int, Any]): line number and value of each item of the list that follows."""
        for _ in self._members("[", "]"):
            value = self.value()
            yield self.line, value

    def entries(self) -> Iterator[str]:
        """YIELDS (str): each key of the object that starts here; the caller must read the value."""
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
        """RETURNS (AngelError): an error with the file name and the line number."""
        where = self._reading.where(self.line)
        return AngelError(f"{where}: the JSON is broken or cut ({problem}).")
