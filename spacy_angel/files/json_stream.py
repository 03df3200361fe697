"""Objects out of a JSON file larger than memory, with the standard library's decoder.

`ijson` with its C backend takes 0.6 s for 82 MB of BioC and this 0.8 s; but it says no line of an
item or a fault, and knows no limit of an object's size and depth.
"""

import codecs
import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from ..errors import AngelError
from .faults import FileReading
from .json_values import TOO_DEEP, check_depth
from .reading import PIECE_BYTES, pieces

# One object may be this long (characters); a file whose quotes do not close ends here.
MAX_OBJECT = 2**26

_SPACE = " \t\n\r"


def stream_objects(
    path: Path, reading: FileReading, within: Collection[str]
) -> Iterator[tuple[int, Any]]:
    """The items of a list that stands at the top or under a key of the top object, or the top
    objects themselves, one after the other.

        {"source": "x", "documents": [{…}, {…}]}   [{…}, {…}]   {…}\\n{…}

    path (Path): file, plain or gzip.
    reading (FileReading): names the file.
    within (Collection[str]): keys whose list is streamed.
    YIELDS (tuple[int, Any]): line on which the item ends, item.
    RAISES (AngelError): where the file is no JSON, or is cut.
    """
    buffer = _Buffer(path, reading)
    has_values = False
    while buffer.peek():
        has_values = True
        if buffer.peek() == "[":
            yield from _items(buffer)
        elif buffer.peek() == "{":
            yield from _object(buffer, within)
        else:
            raise buffer.error("an object or a list was expected")
        buffer.take(",", optional=True)
    if not has_values:
        raise buffer.error("the file is empty")


def _object(buffer: "_Buffer", within: Collection[str]) -> Iterator[tuple[int, Any]]:
    """Items of the lists under the keys `within`; without such a key the object itself."""
    values: dict[str, Any] = {}
    streamed = False
    buffer.take("{")
    while buffer.peek() != "}":
        key = buffer.key()
        if key in within and buffer.peek() == "[":
            streamed = True
            yield from _items(buffer)
        else:
            values[key] = buffer.value()
        if buffer.peek() != "}":
            buffer.take(",")
    buffer.take("}")
    if not streamed:
        yield buffer.line, values


def stream_entries(path: Path, reading: FileReading) -> Iterator[tuple[int, str, Any]]:
    """The entries of the one object that a file holds: `{"D000001": ["Calcimycin"], …}`.

    path (Path): file, plain or gzip.
    reading (FileReading): names the file.
    YIELDS (tuple[int, str, Any]): line on which the entry ends, key, value.
    RAISES (AngelError): where the file is no such object, or is cut, or goes on after it.
    """
    buffer = _Buffer(path, reading)
    buffer.take("{")
    while buffer.peek() != "}":
        key = buffer.key()
        value = buffer.value()
        yield buffer.line, key, value
        if buffer.peek() != "}":
            buffer.take(",")
    buffer.take("}")
    if buffer.peek():
        raise buffer.error("nothing was expected after the closing brace")


def _items(buffer: "_Buffer") -> Iterator[tuple[int, Any]]:
    buffer.take("[")
    while buffer.peek() != "]":
        value = buffer.value()
        yield buffer.line, value
        if buffer.peek() != "]":
            buffer.take(",")
    buffer.take("]")


class _Buffer:
    """The part of the file that is not decoded yet."""

    def __init__(self, path: Path, reading: FileReading) -> None:
        self._line = 1
        self._counted = 0
        self._reading = reading
        self._pieces = pieces(path, reading, by_line=False)
        self._bytes = codecs.getincrementaldecoder("utf-8-sig")()
        self._json = json.JSONDecoder()
        self._text = ""
        self._at = 0
        self._more = True

    @property
    def line(self) -> int:
        """RETURNS (int): number of the line that is read now."""
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def peek(self) -> str:
        """RETURNS (str): the next character that is not white space; empty at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._text) or not self._read():
                return self._text[self._at : self._at + 1]

    def take(self, character: str, optional: bool = False) -> None:
        """Go past a character. RAISES (AngelError): where another stands there."""
        if self.peek() == character:
            self._at += 1
        elif not optional:
            raise self.error(f"{character!r} was expected")

    def key(self) -> str:
        """RETURNS (str): the next key of an object; the colon after it is taken as well."""
        key = self.value()
        if not isinstance(key, str):
            raise self.error("a key in quotes was expected")
        self.take(":")
        return key

    def value(self) -> Any:
        """RETURNS (Any): the next JSON value, of which all is in memory for a moment."""
        self.peek()
        while True:
            try:
                value, end = self._json.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                # Far from the end the text is wrong; near it, more of the file may complete it.
                cut = error.msg.startswith("Unterminated") or error.pos >= len(self._text) - 16
                left = len(self._text) - self._at
                if cut and left > MAX_OBJECT:
                    raise self.error(f"a value has more than {MAX_OBJECT} characters") from error
                if not cut or not self._read(max(left, PIECE_BYTES)):
                    raise self.error(str(error)) from error
                continue
            except RecursionError as error:
                raise self.error(TOO_DEEP) from error
            except ValueError as error:
                raise self.error(str(error)) from error
            # A number at the very end may go on.
            if end == len(self._text) and self._read():
                continue
            try:
                check_depth(value)
            except ValueError as error:
                raise self.error(str(error)) from error
            self._at = end
            return value

    def error(self, problem: str) -> AngelError:
        """RETURNS (AngelError): naming file and line."""
        return AngelError(
            f"{self._reading.where(self.line)}: the JSON is broken or cut ({problem})."
        )

    def _read(self, at_least: int = PIECE_BYTES) -> bool:
        """Read on; by doubling, so that a long object is not decoded anew for each piece."""
        if not self._more:
            return False
        parts, size = [self._text[self._at :]], 0
        self._line = self.line
        self._text, self._at, self._counted = parts[0], 0, 0
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
