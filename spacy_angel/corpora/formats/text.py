"""Plain text: one document per file or per line."""

from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path

from ...errors import AngelError
from ...files.formats import Format
from ...files.reading import decoded, numbered_lines, pieces
from ..documents import CorpusDocument, Reading

# Limits memory, since each text is read as a whole.
MAX_TEXT_BYTES = 64 * 2**20


def read_text(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """Read a plain text file as one document, named after the file without its extension.

    path (Path): UTF-8, plain or gzip.
    reading (Reading): handles faults.
    RETURNS (Iterator[CorpusDocument]): one document.
    """
    text = text_of(path, reading)
    if text is not None:
        reading.report.position += path.stat().st_size
        name = path.name.removesuffix(".gz").removesuffix(".txt")
        yield CorpusDocument(name, text.removeprefix("\ufeff"))


def text_of(path: Path, reading: Reading) -> str | None:
    """Read the text of a file.

    path (Path), reading (Reading): see `read_text`.
    RETURNS (str | None): the text, including any byte order mark; None if there is a fault.
    """
    data = bytearray()
    try:
        for _, piece in pieces(path):
            data += piece
            if len(data) > MAX_TEXT_BYTES:
                raise AngelError(
                    f"{path} is longer than {MAX_TEXT_BYTES} bytes. Split it, or use "
                    "--format lines."
                )
        return "\ufeff" * data.startswith(BOM_UTF8) + decoded(bytes(data), path)
    except AngelError as error:
        reading.fault(str(error), skipped="documents_left_out")
        return None


def read_lines(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """Read each line of a plain text file as a document, named `file:line`. Blank lines are
    skipped.

    path (Path): UTF-8, plain or gzip.
    reading (Reading): handles faults.
    RETURNS (Iterator[CorpusDocument]): one document per line.
    """
    for number, line in numbered_lines(path, reading):
        if line.strip():
            yield CorpusDocument(f"{path.name}:{number}", line)


# Any file could be plain text, so these formats are never inferred from the content.
TEXT = Format("text", read_text, lambda path, head: False, holds="texts")
LINES = Format("lines", read_lines, lambda path, head: False, holds="texts")
