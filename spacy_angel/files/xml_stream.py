"""Elements of an XML file larger than memory."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ..errors import AngelError
from .faults import FileReading
from .reading import PIECE_BYTES, pieces

# Levels of elements; BioC has six, PubMed eight.
MAX_DEPTH = 100
# Bytes of one element with all that is in it.
MAX_ELEMENT_BYTES = 2**26


def stream_elements(
    path: Path, reading: FileReading, kinds: Mapping[str, Collection[str]]
) -> Iterator[tuple[int, ElementTree.Element]]:
    """The elements inside the outermost one; each is dropped from memory when the next is taken.

    path (Path): file, plain or gzip.
    reading (FileReading): names the file.
    kinds (Mapping[str, Collection[str]]): names of the outermost element → names of the elements
        to yield; others are skipped.
    YIELDS (tuple[int, ElementTree.Element]): line on which the element ends, element.
    RAISES (AngelError): the XML is broken or cut, has another outermost element, is nested deeper
        than MAX_DEPTH, or has an element longer than MAX_ELEMENT_BYTES.
    """
    parser: Any = ElementTree.XMLPullParser(events=("start", "end"))
    root: ElementTree.Element | None = None
    depth = size = 0
    number = 1
    try:
        for number, block in _blocks(path, reading, kinds):
            parser.feed(block)
            size += len(block)
            for event, element in parser.read_events():
                depth += 1 if event == "start" else -1
                if depth > MAX_DEPTH:
                    raise ValueError(f"elements are nested deeper than {MAX_DEPTH} levels")
                if root is None:
                    root = element
                    if root.tag not in kinds:
                        raise _foreign(reading, number, kinds, f"<{root.tag}>")
                elif event == "end" and depth == 1:
                    if element.tag in kinds[root.tag]:
                        yield number, element
                    root.clear()
                    size = 0
            if size > MAX_ELEMENT_BYTES:
                raise ValueError(f"an element has more than {MAX_ELEMENT_BYTES} bytes")
        parser.close()
    except AngelError:
        raise
    except (LookupError, ValueError, ElementTree.ParseError) as error:
        line = error.position[0] if isinstance(error, ElementTree.ParseError) else number
        message = f"{reading.where(line)}: the XML is broken or cut ({error})."
        raise AngelError(message) from error
    if root is None:
        raise _foreign(reading, number, kinds, "nothing")


def _blocks(
    path: Path, reading: FileReading, kinds: Mapping[str, Collection[str]]
) -> Iterator[tuple[int, bytes]]:
    """The file in blocks that end with the line of each closing tag, so that its line is known."""
    tags = [f"</{name}".encode() for names in kinds.values() for name in names]
    block, number = b"", 1
    for number, line in pieces(path, reading):
        block += line
        if len(block) > PIECE_BYTES or any(tag in line for tag in tags):
            yield number, block
            block = b""
    yield number, block


def _foreign(reading: FileReading, line: int, kinds: Collection[str], found: str) -> AngelError:
    expected = " or ".join(f"`<{root}>`" for root in kinds)
    return AngelError(
        f"{reading.where(line)}: the file should start with {expected}, not {found[:80]}."
    )
