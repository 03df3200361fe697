"""Elements out of an XML file larger than memory."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ..errors import AngelError, Errors
from .faults import FileReading
from .reading import pieces

# Levels of elements; BioC has six, PubMed eight.
MAX_DEPTH = 100
# The longest that one element, with all that is in it, may be.
MAX_ELEMENT_BYTES = 2**26
# Lines are given to the parser together: one by one they take longer than what is parsed of them.
_BLOCK_BYTES = 2**16


def stream_elements(
    path: Path, reading: FileReading, kinds: Mapping[str, Collection[str]]
) -> Iterator[tuple[int, ElementTree.Element]]:
    """Elements near the outermost one, each dropped from memory once it is handed out.

    path (Path): file, plain or gzip.
    reading (FileReading): names the file.
    kinds (Mapping[str, Collection[str]]): what the outermost element may be called → paths under
        it of the elements that are handed out, e.g. `DisorderList/Disorder`, all of one depth;
        others of that depth are passed over.
    YIELDS (tuple[int, ElementTree.Element]): line on which it was complete, element.
    RAISES (AngelError): where the XML is broken or cut, of another kind, nested deeper than
        MAX_DEPTH, or has an element longer than MAX_ELEMENT_BYTES.
    """
    parser: Any = ElementTree.XMLPullParser(events=("start", "end"))
    open_elements: list[ElementTree.Element] = []
    wanted: Collection[str] = ()
    number, size, level = 1, 0, 0
    try:
        for number, block in _blocks(pieces(path, reading), kinds):
            parser.feed(block)
            size += len(block)
            for event, element in parser.read_events():
                if event == "start":
                    open_elements.append(element)
                    if len(open_elements) > MAX_DEPTH:
                        raise ValueError(f"elements are nested deeper than {MAX_DEPTH} levels")
                    if not level:
                        if element.tag not in kinds:
                            raise _foreign(reading, number, kinds, f"<{element.tag}>")
                        wanted = kinds[element.tag]
                        level = 1 + max(place.count("/") for place in wanted)
                    continue
                open_elements.pop()
                if 1 <= len(open_elements) <= level:
                    tags = [*(outer.tag for outer in open_elements[1:]), element.tag]
                    if "/".join(tags) in wanted:
                        yield number, element
                    open_elements[-1].clear()
                    size = 0
            if size > MAX_ELEMENT_BYTES:
                raise ValueError(f"an element has more than {MAX_ELEMENT_BYTES} bytes")
        parser.close()
    except AngelError:
        raise
    except ElementTree.ParseError as error:
        where = reading.where(error.position[0])
        raise AngelError(Errors.E906.format(where=where, error=error)) from error
    except (LookupError, ValueError) as error:
        raise AngelError(Errors.E906.format(where=reading.where(number), error=error)) from error
    if not level:
        raise _foreign(reading, number, kinds, "nothing")


def _blocks(
    lines: Iterator[tuple[int, bytes]], kinds: Mapping[str, Collection[str]]
) -> Iterator[tuple[int, bytes]]:
    """Lines together, each block up to the line in which an element that is handed out may end, so
    that its number is known; at most _BLOCK_BYTES and a line."""
    paths = {path for wanted in kinds.values() for path in wanted}
    ends = tuple({f"</{path.rpartition('/')[2]}>".encode() for path in paths})
    parts: list[bytes] = []
    size = number = 0
    for number, line in lines:
        parts.append(line)
        size += len(line)
        if size > _BLOCK_BYTES or any(end in line for end in ends):
            yield number, b"".join(parts)
            parts, size = [], 0
    if parts:
        yield number, b"".join(parts)


def _foreign(reading: FileReading, line: int, kinds: Collection[str], found: str) -> AngelError:
    expected = " or ".join(f"`<{root}>`" for root in kinds)
    message = Errors.E907.format(where=reading.where(line), expected=expected, found=found[:80])
    return AngelError(message)
