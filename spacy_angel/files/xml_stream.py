"""Streaming of the elements in an XML file, which may be larger than memory."""

import re
from collections.abc import Collection, Iterator, Mapping
from html.entities import html5
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ..errors import AngelError
from .faults import FileReading
from .reading import pieces

# Entities of HTML, which document types of XML define in other files.
_ENTITY = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z]\w*;)")


def stream_elements(
    path: Path, reading: FileReading, kinds: Mapping[str, Collection[str]]
) -> Iterator[tuple[int, ElementTree.Element]]:
    """Stream the children of the root element. Each is discarded when the next one is read.

    path (Path): file, plain or gzip.
    reading (FileReading): provides the name of the file for error messages.
    kinds (Mapping[str, Collection[str]]): for each possible root element, the names of the children
        to yield; other children are skipped.
    YIELDS (tuple[int, ElementTree.Element]): number of the line on which the element ends, and the
        element.
    RAISES (AngelError): if the XML is invalid or truncated, or has a different root element.
    """
    parser: Any = ElementTree.XMLPullParser(events=("start", "end"))
    root: Any = None
    depth = 0
    line = 1
    try:
        for line, piece in pieces(path, reading):
            parser.feed(_ENTITY.sub(_character, piece))
            for event, element in parser.read_events():
                if event == "start":
                    # Without the namespace.
                    element.tag = element.tag.rpartition("}")[2]
                depth += 1 if event == "start" else -1
                if root is None:
                    root = element
                    if root.tag not in kinds:
                        raise _foreign(reading, line, kinds, f"<{root.tag}>")
                elif event == "end" and depth == 1:
                    if element.tag in kinds[root.tag]:
                        yield line, element
                    root.clear()
        parser.close()
    except (LookupError, ElementTree.ParseError) as error:
        message = f"{reading.where(line)}: the XML is broken or cut ({error})."
        raise AngelError(message) from error
    if root is None:
        raise _foreign(reading, line, kinds, "nothing")


def _character(entity: re.Match[bytes]) -> bytes:
    characters = html5.get(entity[1].decode(), "")
    return "".join(f"&#{ord(each)};" for each in characters).encode() or entity[0]


def _foreign(reading: FileReading, line: int, kinds: Collection[str], found: str) -> AngelError:
    expected = " or ".join(f"`<{root}>`" for root in kinds)
    return AngelError(
        f"{reading.where(line)}: the file should start with {expected}, not {found[:80]}."
    )
