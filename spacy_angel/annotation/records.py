"""The JSON that a run writes and reads again: a small file a shard and an input, and the manifest.

A record is sealed with a digest of itself and of the settings of the run, so that a file that a
disk or an editor has changed, or that was written with other settings, is told from one that holds:

    {"seal": "1c291ca3…", "record": {"input": 0, "shard": 1, "file": "00000-000001.jsonl", …}}
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PlainValidator

from ..files.json_values import checked, parse_json

VERSION = 2


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
    """What was begun.

    settings (dict[str, Any]): what decides the output, see `run.annotate`; plain values.
    versions (dict[str, Text]): what may decide the last decimal place.
    """

    settings: dict[str, Any]
    versions: dict[str, Text]


class ManifestInput(_Record):
    """An input in the manifest.

    name (Text): as it was given.
    format (Text), size (Count), sha256 (Text): of its content.
    read_to_end (bool): whether it was read without an error.
    error (Text | None): where and why it breaks.
    shards (Count | None): that its documents make; None before its end.
    counts (dict[str, Count]), notes (list[Text]): what reading counted, see `CorpusReport`.
    """

    name: Text
    format: Text
    size: Count
    sha256: Text
    read_to_end: bool = False
    error: Text | None = None
    shards: Count | None = None
    counts: dict[str, Count] = {}
    notes: list[Text] = []


class InputRecord(ManifestInput):
    """An input that was begun, beside its shards.

    number (Count): its number. place (Text): absolute path of the file, or of the folder of several
        texts.
    """

    number: Count
    place: Text


class ManifestShard(_Record):
    """A shard in the manifest.

    input (Count), shard (Count): numbers of the input and of the shard in it.
    file (Text): its name.
    read (Count): documents that were to be annotated.
    documents (Count), mentions (Count), linked (Count): what is in it, and mentions with a concept.
    size (Count), sha256 (Text): of the file, in bytes.
    """

    input: Count
    shard: Count
    file: Text
    read: Count
    documents: Count
    mentions: Count
    linked: Count
    size: Count
    sha256: Text


class ShardRecord(ManifestShard):
    """A shard that was written, beside it.

    digest (Text): of its documents, see `plan.documents_digest`.
    failures (tuple[tuple[Text, Text], ...]): identifier and reason of each document not in it.
    """

    digest: Text
    failures: tuple[tuple[Text, Text], ...] = ()


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


_R = TypeVar("_R", bound=_Record)


def settings_key(settings: Mapping[str, Any]) -> bytes:
    """RETURNS (bytes): digest of the settings of a run, which goes into its seals."""
    return sha256(json.dumps(settings, sort_keys=True).encode()).digest()


def sealed(record: _Record, key: bytes) -> bytes:
    """record (_Record), key (bytes): of the settings. RETURNS (bytes): what `unsealed` reads."""
    values = record.model_dump()
    return (json.dumps({"seal": _seal(values, key), "record": values}) + "\n").encode()


def unsealed(data: bytes, kind: type[_R], key: bytes | None = None) -> _R:
    """Read what `sealed` wrote.

    data (bytes): of the file. kind (type[_R]): of record.
    key (bytes | None): of the settings; None for a `RunRecord`, which brings its own.
    RETURNS (_R): the record.
    RAISES (ValueError): it is not what was written, or was written with other settings.
    """
    values = parse_json(data)
    if not isinstance(values, dict) or not isinstance(written := values.get("record"), dict):
        raise ValueError("a record was expected")
    record = checked(written, kind)
    key = settings_key(written["settings"]) if key is None else key
    if values.get("seal") != _seal(written, key):
        raise ValueError("the seal is another")
    return record


def _seal(values: Mapping[str, Any], key: bytes) -> str:
    return sha256(key + json.dumps(values).encode()).hexdigest()[:16]
