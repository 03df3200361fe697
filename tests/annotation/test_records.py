"""Lines with checksums: what was written is read, everything else is damaged."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.annotation.records import (
    Damaged,
    EndRecord,
    InputRecord,
    Manifest,
    Report,
    RunRecord,
    ShardRecord,
    read_record,
    sealed,
    sealed_record,
    settings_key,
    unsealed,
)

KEY = settings_key({"shard_size": 10})
SHARD = ShardRecord(
    input=0,
    shard=1,
    file="00000-000001.jsonl",
    read=10,
    digest="d1",
    documents=9,
    mentions=20,
    linked=18,
    size=300,
    sha256="ab",
    failures=(("b\udcff", "it is no text"),),
)
RECORDS = [
    RunRecord(settings={"shard_size": 10}, versions={"torch": "2"}),
    InputRecord(number=0, name="b\udcff.txt", place="/b", format="text", size=3, sha256="00"),
    SHARD,
    EndRecord(input=0, shards=2, error=None, report=Report(counts={"documents": 3}, notes=["n"])),
]


def test_a_line_ends_with_its_checksum() -> None:
    line = sealed({"kind": "end", "input": 0}, b"key")
    # zlib.crc32(b'key{"kind": "end", "input": 0}')
    assert line == b'{"kind": "end", "input": 0, "crc32": "78131b8a"}\n'
    assert unsealed(line, b"key") == {"kind": "end", "input": 0}
    with pytest.raises(Damaged, match="checksum"):
        unsealed(line, b"other")
    assert unsealed(line) == {"kind": "end", "input": 0}


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.kind)
def test_every_bit_of_a_line_counts(record) -> None:
    """Names of files that are no UTF-8 included."""
    line = sealed_record(record, KEY)
    assert read_record(line, KEY) == (record, True)
    for place in range(8 * len(line)):
        changed = bytearray(line)
        changed[place // 8] ^= 1 << place % 8
        try:
            found, has_checksum = read_record(bytes(changed), KEY)
        except Damaged:
            continue
        # Where blanks stand in the frame of the checksum, other blanks mean the same.
        assert found == record
        assert has_checksum


@given(st.binary(max_size=60))
def test_any_line_is_read_or_damaged(line) -> None:
    with pytest.raises(Damaged):
        read_record(line, KEY)


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 100_000,
        b"[]",
        b"{}",
        b'{"kind": "shard"}',
        b'{"kind": "end", "input": true, "shards": 1}',
        b'{"kind": "end", "input": -1, "shards": 1}',
        b'{"kind": "end", "input": 0, "shards": 1, "more": 1}',
        b'{"kind": "end", "input": 0, "shards": 1, "error": 3}',
        b'{"kind": "end", "input": 0, "shards": 1, "crc32": "00000000"}',
        b'{"kind": "end", "input": 0, "shards": 1, "crc32": null}x',
    ],
)
def test_what_is_no_record_is_damaged(line) -> None:
    with pytest.raises(Damaged):
        read_record(line + b"\n", KEY)


def test_lines_of_old_journals_have_no_checksum() -> None:
    line = b'{"kind": "end", "input": 0, "shards": 1, "error": null, "report": {"counts": {}}}\n'
    assert read_record(line, KEY) == (EndRecord(input=0, shards=1), False)


def test_a_manifest_reads_its_own_json() -> None:
    manifest = Manifest(
        finished=True,
        complete=False,
        settings={},
        versions={},
        counts={"faults": 1},
        inputs=[],
        duplicates=[],
        shards=[],
        failures=[],
    )
    assert Manifest.model_validate_json(json.dumps(manifest.model_dump())) == manifest
    with pytest.raises(ValueError, match="complete"):
        Manifest.model_validate({**manifest.model_dump(), "complete": "perhaps"})
