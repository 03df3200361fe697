"""The JSON that a run writes and reads again: records of the journal, finished batches, manifest.

Each line ends with a checksum of itself and of what it was written for, so that a line that a disk
or an editor has changed is told from one that was written:

    {"kind": "end", "input": 0, "shards": 3, …, "crc32": "1c291ca3"}

Lines of journals that were begun before there were checksums have none.
"""

import json
import zlib
from collections.abc import Mapping
from hashlib import sha256
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, TypeAdapter

VERSION = 2

_CHECKSUM = ', "crc32": "{:08x}"}}'
_CHECKSUM_LENGTH = len(_CHECKSUM.format(0))


class Damaged(ValueError):
    """A line is not what was written."""


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("a string was expected")
    return value


# The name of a file need not be UTF-8, which pydantic's own strings must be.
Text = Annotated[str, PlainValidator(_text)]
Count = Annotated[int, Field(strict=True, ge=0)]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RunRecord(_Record):
    """The first line: what decides the output.

    settings (dict[str, Any]): see `run.annotate`; plain values.
    versions (dict[str, Text]): what may decide the last decimal place.
    """

    kind: Literal["run"] = "run"
    settings: dict[str, Any]
    versions: dict[str, Text]


class InputRecord(_Record):
    """An input that was begun, or begun again with another content.

    number (Count | None): its number; None in old journals, which number by their lines.
    name (Text): as it was given. place (Text): absolute path of the file, or of the folder of
        several texts; empty in old journals.
    format (Text), size (Count), sha256 (Text): of its content.
    """

    kind: Literal["input"] = "input"
    number: Count | None = None
    name: Text
    place: Text = ""
    format: Text
    size: Count
    sha256: Text


class ShardRecord(_Record):
    """A shard that was written.

    input (Count), shard (Count): numbers of the input and of the shard in it.
    file (Text): its name.
    read (Count): documents that were to be annotated.
    digest (Text): of these documents, see `plan.documents_digest`; empty in old journals.
    documents (Count), mentions (Count), linked (Count): what is in it, and mentions with a concept.
    size (Count), sha256 (Text): of the file, in bytes.
    failures (tuple[tuple[Text, Text], ...]): identifier and reason of each document not in it.
    """

    kind: Literal["shard"] = "shard"
    input: Count
    shard: Count
    file: Text
    read: Count
    digest: Text = ""
    documents: Count
    mentions: Count
    linked: Count
    size: Count
    sha256: Text
    failures: tuple[tuple[Text, Text], ...] = ()


class Report(_Record):
    """What reading counted.

    counts (dict[str, Count]), notes (list[Text]): see `CorpusReport`.
    """

    counts: dict[str, Count] = {}
    notes: list[Text] = []


class EndRecord(_Record):
    """An input was read to its end, or to where it breaks.

    input (Count): its number. sha256 (Text): of its content; empty in old journals.
    shards (Count): that its documents make.
    error (Text | None): where and why it breaks.
    report (Report): what reading counted.
    """

    kind: Literal["end"] = "end"
    input: Count
    sha256: Text = ""
    shards: Count
    error: Text | None = None
    report: Report = Report()


class Batch(_Record):
    """A finished batch of a shard that is not whole yet, see `parts`.

    batch (Count): its number. mentions (tuple[Any, ...]): those of each of its documents.
    """

    batch: Count
    mentions: tuple[Any, ...]


Record = RunRecord | InputRecord | ShardRecord | EndRecord
_RECORD: TypeAdapter[Record] = TypeAdapter(Annotated[Record, Field(discriminator="kind")])


class ManifestInput(_Record):
    """An input in the manifest.

    name, format, size, sha256: as in `InputRecord`.
    read_to_end (bool): whether it was read without an error.
    error (Text | None), shards (Count | None): as in `EndRecord`, None before its end.
    counts (dict[str, Count]), notes (list[Text]): as in `Report`.
    """

    name: Text
    format: Text
    size: Count
    sha256: Text
    read_to_end: bool
    error: Text | None
    shards: Count | None
    counts: dict[str, Count]
    notes: list[Text]


class ManifestShard(_Record):
    """A shard in the manifest; the fields are those of `ShardRecord`."""

    input: Count
    shard: Count
    file: Text
    read: Count
    documents: Count
    mentions: Count
    linked: Count
    size: Count
    sha256: Text


class FailedDocument(_Record):
    """A document that could not be annotated; input (Count), shard (Count), doc_id (Text), reason
    (Text)."""

    input: Count
    shard: Count
    doc_id: Text
    reason: Text


class Duplicate(_Record):
    """An input that was given under another name (Text) than at first (`same_as`, Text)."""

    name: Text
    same_as: Text


class Manifest(_Record):
    """What an output holds; `Manifest.model_validate_json(path.read_bytes())` reads it.

    version (int): of this layout.
    finished (bool): nothing is left to do: every input, of this run and those before, was
        annotated to its end.
    complete (bool): finished, and no document failed and no fault of an input cost anything.
    settings (dict[str, Any]), versions (dict[str, Text]): as in `RunRecord`.
    counts (dict[str, Count]): `inputs`, `shards`, documents `read`, `documents` written,
        `mentions`, `linked`, `failed` documents; what reading the inputs met: `faults`,
        `documents_left_out`, `mentions_left_out`.
    inputs, duplicates, shards, failures: in the order of their numbers.
    """

    version: int = VERSION
    finished: bool
    complete: bool
    settings: dict[str, Any]
    versions: dict[str, Text]
    counts: dict[str, Count]
    inputs: list[ManifestInput]
    duplicates: list[Duplicate]
    shards: list[ManifestShard]
    failures: list[FailedDocument]


def settings_key(settings: Mapping[str, Any]) -> bytes:
    """RETURNS (bytes): digest of the settings of a run, which goes into its checksums."""
    return sha256(json.dumps(settings, sort_keys=True).encode()).digest()


def sealed(values: Mapping[str, Any], key: bytes) -> bytes:
    """values (Mapping[str, Any]): plain values. key (bytes): what the line is written for.
    RETURNS (bytes): a line of JSON with its checksum."""
    body = json.dumps(values)
    return (body[:-1] + _CHECKSUM.format(_crc32(body, key)) + "\n").encode()


def unsealed(line: bytes, key: bytes | None = None) -> dict[str, Any]:
    """Read a line of `sealed`.

    line (bytes): with its end. key (bytes | None): what it should be written for; None where that
        does not matter, and nor does its checksum.
    RETURNS (dict[str, Any]): its values.
    RAISES (Damaged): it is not what was written, or was written for something else.
    """
    values, checksum, body = _parsed(line)
    if key is not None and checksum != f"{_crc32(body, key):08x}":
        raise Damaged("the checksum is another")
    return values


def sealed_record(record: Record, key: bytes) -> bytes:
    """record (Record), key (bytes): from `settings_key`. RETURNS (bytes): a journal's line."""
    return sealed(record.model_dump(), key)


def read_record(line: bytes, key: bytes) -> tuple[Record, bool]:
    """Read a line of a journal.

    line (bytes): with its end. key (bytes): of the run; the first line brings its own.
    RETURNS (tuple[Record, bool]): the record, and whether it has a checksum, which is right.
    RAISES (Damaged): it is not what was written.
    """
    values, checksum, body = _parsed(line)
    try:
        record = _RECORD.validate_python(values)
    except ValueError as error:
        raise Damaged(str(error)) from error
    if isinstance(record, RunRecord):
        key = settings_key(record.settings)
    if checksum is not None and checksum != f"{_crc32(body, key):08x}":
        raise Damaged("the checksum is another")
    return record, checksum is not None


def _parsed(line: bytes) -> tuple[dict[str, Any], object, str]:
    """The values of a line, its checksum if it has one, and what that was taken of."""
    try:
        values = json.loads(line)
        body = line.decode().removesuffix("\n")[:-_CHECKSUM_LENGTH] + "}"
    except (ValueError, RecursionError) as error:
        raise Damaged(str(error)) from error
    if not isinstance(values, dict):
        raise Damaged("an object was expected")
    return values, values.pop("crc32", None), body


def _crc32(body: str, key: bytes) -> int:
    return zlib.crc32(key + body.encode())
