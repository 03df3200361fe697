"""Objects of a JSON file larger than memory, with the standard library's decoder.

`ijson` is no replacement: it has no limit on depth and takes time quadratic in it, 27 seconds for
a file of 80,000 brackets, and gives no line numbers.
"""

import codecs
import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from ..errors import AngelError
from .faults import FileReading
from .json_values import TOO_DEEP
from .reading import PIECE_BYTES, pieces

_SPACE = " \t\n\r"


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
    buffer = _Buffer(path, reading)
    if not buffer.peek():
        raise buffer.error("the file is empty")
    while first := buffer.peek():
        if first == "[":
            yield from buffer.items()
        elif first == "{":
            values: dict[str, Any] = {}
            is_streamed = False
            for key in buffer.entries():
                if key in within and buffer.peek() == "[":
                    is_streamed = True
                    yield from buffer.items()
                else:
                    values[key] = buffer.value()
            if not is_streamed:
                yield buffer.line, values
        else:
            raise buffer.error("an object or a list was expected")


def stream_entries(path: Path, reading: FileReading) -> Iterator[tuple[int, str, Any]]:
    """The entries of the only object of a file: `{"D000001": ["Calcimycin"], …}`.

    path (Path): file, plain or gzip.
    reading (FileReading): names the file.
    YIELDS (tuple[int, str, Any]): line on which the entry ends, key, value.
    RAISES (AngelError): the file is not such an object, is cut, or continues after it.
    """
    buffer = _Buffer(path, reading)
    for key in buffer.entries():
        value = buffer.value()
        yield buffer.line, key, value
    if buffer.peek():
        raise buffer.error("nothing was expected after the closing brace")


class _Buffer:
    """The part of the file that is not decoded yet."""

    def __init__(self, path: Path, reading: FileReading) -> None:
        self._reading = reading
        self._pieces = pieces(path, reading, by_line=False)
        self._bytes = codecs.getincrementaldecoder("utf-8-sig")()
        self._json = json.JSONDecoder()
        self._text, self._at, self._more = "", 0, True
        # The current line, from 1.
        self.line = 1

    def peek(self) -> str:
        """RETURNS (str): the next character that is not white space; empty at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _SPACE:
                self._skip_to(self._at + 1)
            if self._at < len(self._text) or not self._read():
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
        """RETURNS (Any): the next JSON value, which has to fit into memory."""
        self.peek()
        while True:
            try:
                value, end = self._json.raw_decode(self._text, self._at)
                # A number at the very end may continue.
                if end == len(self._text) and self._read():
                    continue
            except json.JSONDecodeError as error:
                # Near the end of the text, more of the file may complete the value.
                cut = error.msg.startswith("Unterminated") or error.pos >= len(self._text) - 16
                left = len(self._text) - self._at
                if not cut or not self._read(max(left, PIECE_BYTES)):
                    raise self.error(str(error)) from error
            except (RecursionError, ValueError) as error:
                is_deep = isinstance(error, RecursionError)
                raise self.error(TOO_DEEP if is_deep else str(error)) from error
            else:
                self._skip_to(end)
                return value

    def error(self, problem: str) -> AngelError:
        """RETURNS (AngelError): naming file and line."""
        where = self._reading.where(self.line)
        return AngelError(f"{where}: the JSON is broken or cut ({problem}).")

    def _read(self, at_least: int = PIECE_BYTES) -> bool:
        """Read on; by doubling, so that a long object is not decoded anew for each piece."""
        if not self._more:
            return False
        parts, size = [self._text[self._at :]], 0
        self._text, self._at = parts[0], 0
        try:
            while self._more and size < at_least:
                _, piece = next(self._pieces, (0, b""))
                self._more = bool(piece)
                parts.append(self._bytes.decode(piece, final=not piece))
                size += len(parts[-1])
        except UnicodeDecodeError as error:
            raise self.error(str(error)) from error
        self._text = "".join(parts)
        return size > 0
