"""Sealed records: what was written is read, everything else is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.annotation.records import (
    InputRecord,
    Manifest,
    RunRecord,
    ShardRecord,
    sealed,
    settings_key,
    unsealed,
)

KEY = settings_key({"shard_size": 10})
RUN = RunRecord(settings={"shard_size": 10}, versions={"torch": "2"})
INPUT = InputRecord(
    number=0,
    name="b\udcff.txt",
    place="/b",
    format="text",
    size=3,
    sha256="00",
    shards=2,
    counts={"documents": 3},
    notes=["n"],
)
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


def test_a_record_has_its_seal() -> None:
    data = sealed(RUN, KEY)
    # sha256(sha256(b'{"shard_size": 10}').digest() + the record as it stands)
    assert data == (
        b'{"seal": "fcbd8491e7f52ffa", "record": {"settings": {"shard_size": 10}, '
        b'"versions": {"torch": "2"}}}\n'
    )
    assert unsealed(data, RunRecord) == unsealed(data, RunRecord, KEY) == RUN
    with pytest.raises(ValueError, match="the seal is another"):
        unsealed(data, RunRecord, b"other settings")


@pytest.mark.parametrize("record", [RUN, INPUT, SHARD], ids=["run", "input", "shard"])
def test_every_bit_of_a_record_counts(record) -> None:
    """Names of files that are no UTF-8 included."""
    data = sealed(record, KEY)
    assert unsealed(data, type(record), KEY) == record
    for place in range(8 * len(data)):
        changed = bytearray(data)
        changed[place // 8] ^= 1 << place % 8
        try:
            found = unsealed(bytes(changed), type(record), KEY)
        except ValueError:
            continue
        # Other blanks mean the same.
        assert found == record


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (whatever is wrong)
        unsealed(data, RunRecord)


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 100_000,
        b"[]",
        b"{}",
        b'{"seal": "", "record": []}',
        b'{"seal": "", "record": {"settings": 1, "versions": {}}}',
        b'{"seal": "", "record": {"settings": {}, "versions": {"a": 1}}}',
        b'{"seal": "", "record": {"settings": {}, "versions": {}, "more": 1}}',
        b'{"seal": "", "record": {"settings": {}, "versions": {}}}x',
    ],
)
def test_what_is_no_record_is_refused(data) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (whatever is wrong)
        unsealed(data, RunRecord)


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
