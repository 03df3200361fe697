"""Files to annotate → documents, in a stream.

The formats of `spacy_angel.corpora` that hold whole documents, and those that large collections
come in: plain text, JSON lines, Parquet, PubMed's XML. A fault in a file is counted and costs only
the document that it spoils, unless everything is to be strict.
"""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from typing import Any

from ..corpora.documents import CorpusDocument, CorpusReport, GoldMention, Reading
from ..corpora.formats.pubmed import ROOT, read_pubmed
from ..corpora.registry import FORMATS as CORPUS_FORMATS
from ..corpora.registry import infer_format as infer_corpus_format
from ..corpora.registry import read_corpus
from ..errors import AngelError, Errors
from ..files.json_values import parse_json
from ..files.reading import not_utf8, numbered_lines, pieces
from .manifest import JOURNAL, MANIFEST, holds_run

# A plain text is one document and in memory whole; more than this is no text to be linked.
MAX_TEXT_BYTES = 64 * 2**20

_ID_FIELDS = ("doc_id", "id", "pmid")
_ROW_OPTIONS = ("prefix", "id_field", "text_field")
_OPTIONS: dict[str, tuple[str, ...]] = {
    "text": (),
    "lines": (),
    "pubmed": (),
    "jsonl": _ROW_OPTIONS,
    "parquet": _ROW_OPTIONS,
}
_PARQUET_ROWS = 256
# What a folder of PubMed's holds beside the articles.
_NO_DOCUMENTS = (".md5",)


class BadRow(Exception):
    """A field of a row is missing or of the wrong kind; the text says what."""


@dataclass(frozen=True, slots=True)
class Input:
    """A file to annotate, or a folder of plain texts, which are one document each.

    name (str): the path as it was given.
    paths (tuple[Path, ...]): the files.
    format (str): one of INPUT_FORMATS.
    size (int): bytes of all files.
    """

    name: str
    paths: tuple[Path, ...]
    format: str
    size: int


def plan_inputs(
    paths: Sequence[str | Path], format: str | None = None, options: Collection[str] = ()
) -> list[Input]:
    """Tell what is to be read.

    paths (Sequence[str | Path]): files; a folder stands for its files by name, hidden ones and
        checksums left out, and of the output of a run its journal and manifest. Plain texts of a
        folder become one input.
    format (str | None): one of INPUT_FORMATS; None to tell it from each file.
    options (Collection[str]): names of the options that the reading will get.
    RETURNS (list[Input]): in the order given.
    RAISES (AngelError): there is no such file, an empty folder, an unknown format or option.
    """
    if format is not None and format not in INPUT_FORMATS:
        raise AngelError(Errors.E801.format(format=format, known=", ".join(INPUT_FORMATS)))
    inputs: list[Input] = []
    for path in map(Path, paths):
        if not path.exists():
            raise AngelError(Errors.E901.format(path=path, error="there is no such file"))
        files = _files(path) if path.is_dir() else [path]
        if not files:
            raise AngelError(Errors.E803.format(path=path))
        formats = [format or infer_format(file) for file in files]
        if path.is_dir() and set(formats) == {"text"}:
            inputs.append(_input(path, files, "text"))
        else:
            inputs += [_input(file, [file], f) for file, f in zip(files, formats, strict=True)]
    for source in inputs:
        known = _OPTIONS.get(source.format, ("prefix",))
        if unknown := sorted(set(options) - set(known)):
            message = Errors.E806.format(
                format=source.format, unknown=", ".join(unknown), known=", ".join(known) or "none"
            )
            raise AngelError(message)
    return inputs


def infer_format(path: Path) -> str:
    """Tell the format of a file from its first lines and its name.

    path (Path): file, plain or gzip.
    RETURNS (str): one of INPUT_FORMATS; `text` for `*.txt` that is nothing else.
    RAISES (AngelError): where it looks like none of them.
    """
    with open(path, "rb") as file:
        if file.read(4) == b"PAR1":
            return "parquet"
    suffixes = path.name.lower().removesuffix(".gz")
    if suffixes.endswith((".jsonl", ".ndjson")):
        return "bioc_json" if _first_object_has(path, "passages") else "jsonl"
    try:
        format = infer_corpus_format(path)
    except AngelError:
        format = ""
    if format == "bioc_xml" and _is_pubmed(path):
        return "pubmed"
    if format in INPUT_FORMATS:
        return format
    if suffixes.endswith(".txt"):
        return "text"
    raise AngelError(Errors.E802.format(path=path, known=", ".join(INPUT_FORMATS)))


def read_input(
    source: Input, *, strict: bool, report: CorpusReport, options: Mapping[str, Any]
) -> Iterator[CorpusDocument]:
    """Stream the documents of an input.

    source (Input): from `plan_inputs`.
    strict (bool): raise at the first fault; otherwise leave out what it spoils and count it.
    report (CorpusReport): gets counts, faults and the position in the file.
    options (Mapping[str, Any]): of the format: `prefix` of identifiers without vocabulary (all
        but text and PubMed); `id_field`, `text_field` (JSONL and Parquet).
    RETURNS (Iterator[CorpusDocument]): in the order of the file, repeats included.
    RAISES (AngelError): where a file cannot be read (on), naming file and line.
    """
    if source.format in CORPUS_FORMATS:
        (path,) = source.paths
        return read_corpus(
            path, source.format, keep_duplicates=True, strict=strict, report=report, **options
        )
    values = dict(options)
    reading = Reading(source.name, strict, report, prefix=values.pop("prefix", ""))
    return _chained(partial(_READERS[source.format], reading=reading, **values), source.paths)


def fingerprint(source: Input) -> str:
    """RETURNS (str): SHA-256 of the content, for a folder of its names and contents."""
    state = sha256()
    for path in source.paths:
        if len(source.paths) > 1:
            state.update(os.fsencode(path.name) + f"\0{path.stat().st_size}\0".encode())
        with open(path, "rb") as file:
            while block := file.read(2**20):
                state.update(block)
    return state.hexdigest()


def read_text(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """A plain text as one document, named as the file without its ending.

    path (Path): UTF-8. reading (Reading): gets faults. RETURNS (Iterator[CorpusDocument]): one.
    """
    size = path.stat().st_size
    where = reading.where(1) if str(path) == reading.name else f"{path}"
    if size > MAX_TEXT_BYTES:
        message = Errors.E807.format(path=path, size=size, limit=MAX_TEXT_BYTES)
        reading.fault(message, lost="documents_left_out")
        return
    data = b"".join(piece for _, piece in pieces(path))
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode("utf8")
    except UnicodeDecodeError as error:
        reading.fault(not_utf8(where, error), lost="documents_left_out")
        return
    reading.report.position += size
    yield CorpusDocument(path.name.removesuffix(".gz").removesuffix(".txt"), text)


def read_lines(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """Plain text with one document a line, named `file:line`; blank lines are none.

    path (Path): UTF-8, plain or gzip. reading (Reading). RETURNS (Iterator[CorpusDocument]).
    """
    for number, line in numbered_lines(path, reading):
        if line.strip():
            yield CorpusDocument(f"{path.name}:{number}", line)


def read_jsonl(
    path: Path, reading: Reading, id_field: str = "", text_field: str = "text"
) -> Iterator[CorpusDocument]:
    """JSON lines: `{"doc_id": "1", "text": "…", "mentions": [{"start": 0, "end": 5}]}`.

    path (Path): UTF-8, plain or gzip.
    reading (Reading): gets faults.
    id_field (str): field with the identifier; else `doc_id`, `id` or `pmid`, else `file:line`.
    text_field (str): field with the text; where it is missing, `title` and `abstract`.
    RETURNS (Iterator[CorpusDocument]): with the mentions (`start`, `end`, and any of `text`,
        `label`, `concept_id`) that a line brings.
    """
    for number, line in numbered_lines(path, reading):
        if not line.strip():
            continue
        try:
            row = parse_json(line)
            if not isinstance(row, dict):
                raise BadRow("an object was expected")
            yield row_document(row, reading, path, number, id_field, text_field)
        except (BadRow, ValueError) as error:
            if isinstance(error, AngelError):
                raise
            _row_fault(reading, f"{reading.where(number)}", error)


def read_parquet(
    path: Path, reading: Reading, id_field: str = "", text_field: str = "text"
) -> Iterator[CorpusDocument]:
    """A Parquet file with the columns of `read_jsonl`'s fields.

    path (Path), reading (Reading), id_field (str), text_field (str), RETURNS: as `read_jsonl`.
    RAISES (AngelError): it is no Parquet file, or pyarrow is missing.
    """
    pq = import_parquet()
    number = 0
    try:
        with pq.ParquetFile(path) as file:
            known = {*_ID_FIELDS, "title", "abstract", "title_end", "mentions"}
            names = [n for n in file.schema_arrow.names if n in known | {id_field, text_field}]
            for batch in file.iter_batches(batch_size=_PARQUET_ROWS, columns=names):
                for row in batch.to_pylist():
                    number += 1
                    try:
                        yield row_document(row, reading, path, number, id_field, text_field)
                    except BadRow as error:
                        _row_fault(reading, f"{reading.name}, row {number}", error)
                reading.report.position = path.stat().st_size * number // file.metadata.num_rows
    except (OSError, ValueError) as error:
        if isinstance(error, AngelError):
            raise
        raise AngelError(Errors.E809.format(path=path, row=number, error=error)) from error


def import_parquet() -> Any:
    """RETURNS (Any): `pyarrow.parquet`. RAISES (AngelError): it is not installed."""
    try:
        import pyarrow.parquet as pq
    except ImportError as error:
        raise AngelError(Errors.E810) from error
    return pq


_READERS: dict[str, Callable[..., Iterator[CorpusDocument]]] = {
    "text": read_text,
    "lines": read_lines,
    "jsonl": read_jsonl,
    "parquet": read_parquet,
    "pubmed": read_pubmed,
}
INPUT_FORMATS = (*_READERS, "pubtator", "bioc_xml", "bioc_json", "docbin")


def _row_fault(reading: Reading, where: str, problem: Exception) -> None:
    reading.fault(Errors.E808.format(where=where, problem=problem), lost="documents_left_out")


def row_document(
    row: Mapping[str, Any],
    reading: Reading,
    path: Path,
    number: int,
    id_field: str,
    text_field: str,
) -> CorpusDocument:
    """A JSON object or a row of a table as a document.

    row (Mapping[str, Any]): see `read_jsonl`.
    reading (Reading): gets the faults of mentions.
    path (Path), number (int): name the document where the row does not.
    id_field (str), text_field (str): see `read_jsonl`.
    RETURNS (CorpusDocument): with the mentions of the row.
    RAISES (BadRow): a field is missing or of the wrong kind.
    """
    fields = (id_field,) if id_field else _ID_FIELDS
    doc_id = next((row[name] for name in fields if row.get(name) is not None), None)
    if doc_id is None:
        if id_field:
            raise BadRow(f"the field {id_field} is missing")
        doc_id = f"{path.name}:{number}"
    doc_id = _whole_characters(str(doc_id), id_field or "the identifier")
    text, title_end = _row_text(row, text_field)
    mentions = []
    for mention in row.get("mentions") or ():
        if (found := _row_mention(mention, text, doc_id, reading, number)) is not None:
            mentions.append(found)
    return CorpusDocument(doc_id, text, tuple(mentions), title_end=title_end)


def _row_text(row: Mapping[str, Any], text_field: str) -> tuple[str, int | None]:
    text, title_end = row.get(text_field), row.get("title_end")
    if text is None:
        pieces = [row.get("title"), row.get("abstract")]
        if not any(isinstance(piece, str) for piece in pieces):
            raise BadRow(f"the field {text_field}, or title and abstract, is missing")
        title = pieces[0] or ""
        text = " ".join(str(piece) for piece in pieces if piece)
        title_end = len(str(title)) if title else None
    if not isinstance(text, str):
        raise BadRow(f"{text_field} must be a string, {type(text).__name__} came")
    if isinstance(title_end, float) and title_end.is_integer():
        # pandas' only whole numbers that may be missing
        title_end = int(title_end)
    is_inside = isinstance(title_end, int) and 0 <= title_end <= len(text)
    return _whole_characters(text, text_field), title_end if is_inside else None


def _whole_characters(text: str, name: str) -> str:
    try:
        text.encode("utf8")
    except UnicodeEncodeError as error:
        raise BadRow(f"{name} holds half a character ({error})") from error
    return text


def _row_mention(
    value: Any, text: str, doc_id: str, reading: Reading, number: int
) -> GoldMention | None:
    if not isinstance(value, Mapping):
        raise BadRow("mentions must be a list of objects")
    start, end = value.get("start"), value.get("end")
    if not isinstance(start, int) or not isinstance(end, int):
        raise BadRow("a mention needs whole numbers for start and end")
    mention, label, ids = (value.get(key) or "" for key in ("text", "label", "concept_id"))
    if not all(isinstance(item, str) for item in (mention, label, ids)):
        raise BadRow("text, label and concept_id of a mention must be strings")
    mention = mention or (text[start:end] if 0 <= start < end <= len(text) else "")
    return reading.mention(text, (start, end), mention, doc_id, number, label, ids)


def _chained(
    read: Callable[[Path], Iterator[CorpusDocument]], paths: Sequence[Path]
) -> Iterator[CorpusDocument]:
    for path in paths:
        yield from read(path)


def _files(folder: Path) -> list[Path]:
    left_out = (JOURNAL, MANIFEST) if holds_run(folder) else ()
    return sorted(
        path
        for path in folder.iterdir()
        if path.is_file()
        and not path.name.startswith(".")
        and path.name not in left_out
        and path.suffix not in _NO_DOCUMENTS
    )


def _input(path: Path, files: Sequence[Path], format: str) -> Input:
    return Input(str(path), tuple(files), format, sum(file.stat().st_size for file in files))


def _first_object_has(path: Path, key: str) -> bool:
    line = b"".join(
        piece for _, piece in takewhile(lambda numbered: numbered[0] == 1, pieces(path))
    )
    try:
        return key in parse_json(line.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, TypeError):
        return False


def _is_pubmed(path: Path) -> bool:
    """Whether the first element, which a declaration of the document's type may come before, is
    PubMed's."""
    for number, piece in pieces(path):
        if b"<" + ROOT.encode() in piece or b"DOCTYPE " + ROOT.encode() in piece:
            return True
        if number > 10 or b"<collection" in piece:
            return False
    return False
