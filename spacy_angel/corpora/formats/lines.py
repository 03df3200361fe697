"""Plain text with one document a line."""

from collections.abc import Iterator
from pathlib import Path

from ...files.formats import Format
from ...files.reading import numbered_lines
from ..documents import CorpusDocument, Reading


def read_lines(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """Plain text with one document a line, named `file:line`; blank lines are none.

    path (Path): UTF-8, plain or gzip. reading (Reading). RETURNS (Iterator[CorpusDocument]).
    """
    for number, line in numbered_lines(path, reading):
        if line.strip():
            yield CorpusDocument(f"{path.name}:{number}", line)


# Never told from a file: it could as well be one text.
FORMAT = Format("lines", read_lines, lambda path, head: False, holds="texts")
