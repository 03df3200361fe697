"""Plain text: a file is one document."""

from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path

from ...errors import AngelError
from ...files.formats import Format
from ...files.reading import decoded, whole
from ..documents import CorpusDocument, Reading

# A plain text is in memory whole; more than this is no text to be linked.
MAX_TEXT_BYTES = 64 * 2**20


def read_text(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """A plain text as one document, named as the file without its ending.

    path (Path): UTF-8. reading (Reading): gets faults. RETURNS (Iterator[CorpusDocument]): one.
    """
    text = text_of(path, reading)
    if text is None:
        return
    reading.report.position += path.stat().st_size
    # A byte order mark is no character of the text.
    name = path.name.removesuffix(".gz").removesuffix(".txt")
    yield CorpusDocument(name, text.removeprefix("\ufeff"))


def text_of(path: Path, reading: Reading) -> str | None:
    """path (Path), reading (Reading): as `read_text`.

    RETURNS (str | None): the text, with a byte order mark where it has one; None for a fault.
    """
    data = whole(path, MAX_TEXT_BYTES)
    if data is None:
        reading.fault(
            f"{path} is longer than {MAX_TEXT_BYTES} bytes. Split it, or use --format lines.",
            lost="documents_left_out",
        )
        return None
    try:
        return "\ufeff" * data.startswith(BOM_UTF8) + decoded(data, path)
    except AngelError as error:
        reading.fault(str(error), lost="documents_left_out")
        return None


# Any file is a text; only its name, and that it is nothing else, tells that it is meant as one.
FORMAT = Format("text", read_text, lambda path, head: False, holds="texts")
