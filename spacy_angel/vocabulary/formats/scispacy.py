"""Vocabularies in JSON: scispaCy's JSON lines, GenBioEL's target_kb.json."""

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import AngelError, Errors
from ..identifiers import normalize_id
from .lines import read_lines, read_pieces, wrong
from .records import Row, VocabularyReport, bare_prefix, make_row

_OPEN = re.compile(r"\s*\{")
_CLOSE = re.compile(r"\s*\}")
_KEY = re.compile(r'\s*("(?:[^"\\]|\\.)*")\s*:\s*', re.DOTALL)
_AFTER = re.compile(r"\s*([,}])")
_PIECE_BYTES = 1 << 16
_NO_NAME = "concepts without a name"


def read_scispacy(
    path: Path, report: VocabularyReport, *, prefix: str | None = None
) -> Iterator[Row]:
    """scispaCy's JSON lines: `concept_id, canonical_name, aliases, types, definition`.

    path (Path): the file, gzipped or not.
    prefix (str | None): vocabulary of identifiers without prefix; None: MeSH or UMLS where the
        form tells, else none.
    YIELDS (Row): one a line; `alternate_ids` is read where it is there.
    RAISES (AngelError): a line that is no JSON object, or a field of the wrong kind.
    """
    for number, line in read_lines(path, cut_shows=True):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise wrong(path, number, "one JSON object a line", line) from error
        if not isinstance(entry, dict) or "concept_id" not in entry:
            raise wrong(path, number, "a JSON object with `concept_id`", line)
        names = [
            name
            for name in (
                _text(path, number, entry.get("canonical_name") or ""),
                *_texts(path, number, entry.get("aliases")),
            )
            if name.strip()
        ]
        if not names:
            report.skipped[_NO_NAME] += 1
            continue
        alternates = _texts(path, number, entry.get("alternate_ids"))
        yield make_row(
            path,
            number,
            _identifier(_text(path, number, entry["concept_id"]), prefix),
            names,
            types=_texts(path, number, entry.get("types")),
            definition=_text(path, number, entry.get("definition") or ""),
            alternate_ids=[_identifier(code, prefix) for code in alternates],
        )


def read_target_kb(
    path: Path, report: VocabularyReport, *, prefix: str | None = None
) -> Iterator[Row]:
    """GenBioEL's target_kb.json: one object, `{id: [names]}`, read entry by entry.

    A composite key (`D001|D002`) is one concept with the first identifier; the others are its
    alternates.

    path (Path): the file, gzipped or not.
    prefix (str | None): vocabulary of identifiers without prefix; None: MeSH or UMLS where the
        form tells, else none.
    YIELDS (Row): one an entry.
    RAISES (AngelError): the file is no such object, or cut.
    """
    for number, key, value in _entries(path):
        names = [name for name in _texts(path, number, value) if name.strip()]
        if not names:
            report.skipped[_NO_NAME] += 1
            continue
        codes = re.split(r"[|+]", _text(path, number, key))
        ids = [_identifier(code, prefix) for code in codes]
        yield make_row(path, number, ids[0], names, alternate_ids=ids[1:])


def _identifier(code: str, prefix: str | None) -> str:
    code = code.strip()
    return normalize_id(code, bare_prefix(code) if prefix is None else prefix)


def _text(path: Path, line: int, value: Any) -> str:
    """JSON can spell what no text file can hold: halves of characters, and NUL."""
    if not isinstance(value, str) or "\0" in value:
        raise wrong(path, line, "a string", value)
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise wrong(path, line, "a string of whole characters", value) from error
    return value


def _texts(path: Path, line: int, value: Any) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise wrong(path, line, "a list of strings", value)
    return [_text(path, line, item) for item in value]


class _Entry(NamedTuple):
    key: str
    value: Any
    after: str
    end: int


def _entries(path: Path) -> Iterator[tuple[int, str, Any]]:
    """The entries of one JSON object with the lines they end in; holds one piece of the file."""
    text, line, after, wanted = "", 1, "", 0
    for piece in _decoded(path):
        text += piece
        # An entry longer than the piece: try again only when twice as much is there.
        if piece and len(text) < wanted:
            continue
        position = 0
        if not after and text.strip():
            opening = _OPEN.match(text)
            if opening is None:
                raise wrong(path, line, "a JSON object `{id: [names]}`", text)
            position, after = opening.end(), "{"
        while after in ("{", ",") and (entry := _next_entry(text, position)):
            line += text.count("\n", position, entry.end)
            yield line, entry.key, entry.value
            position, after = entry.end, entry.after
        if after == "{" and (closing := _CLOSE.match(text, position)):
            position, after = closing.end(), "}"
        text = text[position:]
        wanted = 2 * len(text)
        if after == "}" and text.strip():
            raise wrong(path, line, "nothing after the closing brace", text.strip())
    if after != "}":
        raise wrong(path, line, "a JSON object `{id: [names]}`, complete", text.strip())


def _next_entry(text: str, start: int) -> _Entry | None:
    """The entry at `start`, or None where it is not whole (or not JSON: then it never will be)."""
    key = _KEY.match(text, start)
    if key is None:
        return None
    try:
        value, end = json.JSONDecoder().raw_decode(text, key.end())
        name = json.loads(key[1])
    except (ValueError, RecursionError):
        return None
    after = _AFTER.match(text, end)
    return _Entry(name, value, after[1], after.end()) if after else None


def _decoded(path: Path) -> Iterator[str]:
    """The file as text, in pieces; an empty one marks the end."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    number = 1
    for number, piece in read_pieces(path, _PIECE_BYTES):
        if text := _decode(decoder, piece, path, number):
            yield text
    yield _decode(decoder, b"", path, number, final=True)


def _decode(
    decoder: codecs.IncrementalDecoder, piece: bytes, path: Path, line: int, final: bool = False
) -> str:
    try:
        return decoder.decode(piece, final)
    except UnicodeDecodeError as error:
        reason = f"byte 0x{error.object[error.start]:02x}"
        raise AngelError(Errors.E202.format(path=path, line=line, reason=reason)) from error
