"""Elements out of an XML file larger than memory."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ..errors import AngelError, Errors
from .faults import FileReading
from .reading import pieces


def stream_elements(
    path: Path, reading: FileReading, root: str, wanted: Collection[str], foreign: str
) -> Iterator[tuple[int, ElementTree.Element]]:
    """The elements of some names, each dropped from memory once it is handed out.

    path (Path): file, plain or gzip.
    reading (FileReading): names the file.
    root (str): what the outermost element is called.
    wanted (Collection[str]): names of the elements.
    foreign (str): message for a file whose outermost element is another.
    YIELDS (tuple[int, ElementTree.Element]): line on which it was complete, element.
    RAISES (AngelError): where the XML is broken or cut, or of another kind.
    """
    parser: Any = ElementTree.XMLPullParser(events=("start", "end"))
    top: ElementTree.Element | None = None
    number = 1
    try:
        for number, piece in pieces(path, report=reading.report):
            parser.feed(piece)
            for event, element in parser.read_events():
                if top is None:
                    top = element
                    if top.tag != root:
                        raise AngelError(foreign)
                elif event == "end" and element.tag in wanted:
                    yield number, element
                    top.clear()
        parser.close()
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        if isinstance(error, AngelError):
            raise
        raise AngelError(Errors.E411.format(where=reading.where(number), error=error)) from error
    if top is None:
        raise AngelError(foreign)
