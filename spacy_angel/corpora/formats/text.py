"""Plain text: a file is one document."""

from collections.abc import Iterator
from pathlib import Path

from ...errors import AngelError, Errors
from ...files.formats import Format
from ...files.reading import decoded, pieces
from ..documents import CorpusDocument, Reading

# A plain text is in memory whole; more than this is no text to be linked.
MAX_TEXT_BYTES = 64 * 2**20


def read_text(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """A plain text as one document, named as the file without its ending.

    path (Path): UTF-8. reading (Reading): gets faults. RETURNS (Iterator[CorpusDocument]): one.
    """
    parts: list[bytes] = []
    size = 0
    for _, piece in pieces(path):
        parts.append(piece)
        size += len(piece)
        if size > MAX_TEXT_BYTES:
            message = Errors.E807.format(path=path, limit=MAX_TEXT_BYTES)
            reading.fault(message, lost="documents_left_out")
            return
    try:
        text = decoded(b"".join(parts), path)
    except AngelError as error:
        reading.fault(str(error), lost="documents_left_out")
        return
    reading.report.position += path.stat().st_size
    yield CorpusDocument(path.name.removesuffix(".gz").removesuffix(".txt"), text)


# Any file is a text; only its name, and that it is nothing else, tells that it is meant as one.
FORMAT = Format("text", read_text, lambda path, head: False, holds="texts")
