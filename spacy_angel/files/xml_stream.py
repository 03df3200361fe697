"""Elements out of an XML file larger than memory."""

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ..errors import AngelError
from .faults import FileReading
from .reading import pieces

# Levels of elements; BioC has six, PubMed eight.
MAX_DEPTH = 100
# The longest that one element, with all that is in it, may be.
MAX_ELEMENT_BYTES = 2**26
_BLOCK_BYTES = 2**16
# Longer than any tag that ends an element which is handed out.
_TAG_BYTES = 2**8


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
    # The open elements of the levels above those that are handed out, and how many are open in all.
    outer: list[ElementTree.Element] = []
    depth = 0
    wanted: Collection[str] = ()
    number, size, level = 1, 0, 0
    try:
        for number, block in _blocks(path, reading, kinds):
            parser.feed(block)
            size += len(block)
            for event, element in parser.read_events():
                if event == "start":
                    depth += 1
                    if depth > MAX_DEPTH:
                        raise ValueError(f"elements are nested deeper than {MAX_DEPTH} levels")
                    if not level:
                        if element.tag not in kinds:
                            raise _foreign(reading, number, kinds, f"<{element.tag}>")
                        wanted = kinds[element.tag]
                        level = 1 + max(place.count("/") for place in wanted)
                    if depth <= level:
                        outer.append(element)
                    continue
                depth -= 1
                if depth > level:
                    continue
                if depth < level:
                    outer.pop()
                if outer:
                    tags = [*(one.tag for one in outer[1:]), element.tag]
                    if "/".join(tags) in wanted:
                        yield number, element
                    outer[-1].clear()
                    size = 0
            if size > MAX_ELEMENT_BYTES:
                raise ValueError(f"an element has more than {MAX_ELEMENT_BYTES} bytes")
        parser.close()
    except AngelError:
        raise
    except ElementTree.ParseError as error:
        where = reading.where(error.position[0])
        raise AngelError(f"[E906] {where}: the XML is broken or cut ({error}).") from error
    except (LookupError, ValueError) as error:
        raise AngelError(
            f"[E906] {reading.where(number)}: the XML is broken or cut ({error})."
        ) from error
    if not level:
        raise _foreign(reading, number, kinds, "nothing")


def _blocks(
    path: Path, reading: FileReading, kinds: Mapping[str, Collection[str]]
) -> Iterator[tuple[int, bytes]]:
    """The file in blocks, each with the number of the line in which it ends: up to where an element
    that is handed out may be complete, so that its line is known."""
    names = {place.rpartition("/")[2] for wanted in kinds.values() for place in wanted}
    ends = re.compile(b"|".join(re.escape(f"</{name}>").encode() for name in sorted(names)))
    rest, number = b"", 1
    for _, piece in pieces(path, reading, _BLOCK_BYTES, by_line=False):
        block = rest + piece
        begin = 0
        for end in ends.finditer(block):
            number += block.count(b"\n", begin, end.end())
            yield number, block[begin : end.end()]
            begin = end.end()
        # What is left may end with the beginning of such a tag.
        kept = max(begin, len(block) - _TAG_BYTES)
        if kept > begin:
            number += block.count(b"\n", begin, kept)
            yield number, block[begin:kept]
        rest = block[kept:]
    if rest:
        yield number + rest.count(b"\n"), rest


def _foreign(reading: FileReading, line: int, kinds: Collection[str], found: str) -> AngelError:
    expected = " or ".join(f"`<{root}>`" for root in kinds)
    return AngelError(
        f"{reading.where(line)}: the file should start with {expected}, not {found[:80]}."
    )
