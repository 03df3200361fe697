"""The output folder of a run, with the JSON records that an interrupted run continues from.

    _run.json              settings of the run
    _00000.json            the first input, and the counts of reading it
    00000-000001.jsonl     its second shard
    _00000-000001.json     the record of that shard
    _manifest.json         all of it in one file, written at the end

Every file is written as a whole, and the record of a shard after the shard: a shard with a record
is complete. Table readers skip names that begin with `_`.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

from ..errors import AngelError
from ..files.json_values import checked, parse_as
from .inputs import Input, readable
from .stores import RUN, Store

MANIFEST = "_manifest.json"


@dataclass(frozen=True)
class InputRecord:
    """An input of a run.

    number (int): its position among the inputs, from 0.
    name (str): its absolute path or address.
    format (str), size (int), sha256 (str): of its content; no digest where it changed while it was
        read.
    shards (int | None): number of its shards; None until it was read.
    error (str | None): why it could not be read to its end.
    counts (dict[str, int]), notes (list[str]): of reading it, see `CorpusReport`.
    """

    number: int
    name: str
    format: str
    size: int
    sha256: str
    shards: int | None = None
    error: str | None = None
    counts: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class ShardRecord:
    """A shard in the output.

    input (int), shard (int): numbers of the input and of the shard in it.
    source (str): SHA-256 of the input, and of what newer files of PubMed replace in the shard.
    file (str), size (int), sha256 (str): name of the shard's file, its bytes and their digest.
    read (int), documents (int): documents of the shard, and how many of them are in the file.
    mentions (int), linked (int): in the file, and how many of them have a concept.
    failures (list[tuple[str, str]]): identifier and reason of each document that failed.
    """

    input: int
    shard: int
    source: str
    file: str
    size: int
    sha256: str
    read: int
    documents: int
    mentions: int
    linked: int
    failures: list[tuple[str, str]]


@contextmanager
def open_output(path: str | Path, settings: Mapping[str, Any]) -> Iterator["OutputFolder"]:
    """Open an output folder, which other processes cannot open meanwhile.

    path (str | Path): local path or address; created if missing.
    settings (Mapping[str, Any]): what decides the output, as plain values.
    YIELDS (OutputFolder): the folder.
    RAISES (AngelError): the folder contains other files, was begun with other settings, cannot be
        written, or is in use by another process.
    """
    store = Store(str(path))
    store.create()
    with store.locked():
        yield OutputFolder(store, json.loads(json.dumps(settings)))


class OutputFolder:
    """The output of a run, and what is recorded in it.

    store (Store), settings (dict[str, Any]): see `open_output`.
    RAISES (AngelError): see `open_output`.
    """

    def __init__(self, store: Store, settings: dict[str, Any]) -> None:
        self.inputs: dict[int, InputRecord] = {}
        self.shards: dict[tuple[int, int], ShardRecord] = {}
        self._settings = settings
        self._store = store
        sizes = store.sizes()
        self._check_settings(sizes)
        for name in sizes:
            # Left by a process that was killed.
            if name.startswith(".") and name.endswith(".new"):
                store.delete(name)
            # What a damaged record stands for is done again.
            with suppress(OSError, ValueError):
                if re.fullmatch(r"_\d+\.json", name):
                    record = parse_as(store.read(name), InputRecord)
                    self.inputs[record.number] = record
                elif re.fullmatch(r"_\d+-\d+\.json", name):
                    shard = parse_as(store.read(name), ShardRecord)
                    if sizes.get(shard.file) == shard.size:
                        self.shards[shard.input, shard.shard] = shard

    def begin_input(self, source: Input, sha256: str) -> InputRecord:
        """Get the record of an input, which is identified by its name.

        source (Input), sha256 (str): the input and the digest of its content. Where the content
            differs from an unfinished earlier run, the shards made from it are deleted.
        RETURNS (InputRecord): the earlier one, or a new one.
        RAISES (AngelError): the content differs from that of a finished input.
        """
        name = readable(source.name)
        known = next((record for record in self.inputs.values() if record.name == name), None)
        if known is not None and known.sha256 == sha256:
            return known
        if known is not None and self.is_done(known):
            output = self._store.path
            raise AngelError(f"{name} has changed since {output} was begun. Use a new folder.")
        number = next(n for n in count() if n not in self.inputs) if known is None else known.number
        for key, shard in list(self.shards.items()):
            if key[0] == number and (known is not None or shard.source != sha256):
                del self.shards[key]
                self._store.delete(_record_name(shard))
                self._store.delete(shard.file)
        record = InputRecord(number, name, source.format, source.size, sha256)
        self.write_input(record)
        return record

    def write_input(self, record: InputRecord) -> None:
        """record (InputRecord): of an input; it is written and kept."""
        if record != self.inputs.get(record.number):
            self._store.write(f"_{record.number:05d}.json", _dump(asdict(record)))
        self.inputs[record.number] = record

    def write_shard(self, data: bytes, record: ShardRecord) -> None:
        """data (bytes), record (ShardRecord): of a shard, see `ShardAnnotator.annotate`."""
        self._store.write(record.file, data)
        self._store.write(_record_name(record), _dump(asdict(record)))
        self.shards[record.input, record.shard] = record

    def is_done(self, record: InputRecord) -> bool:
        """RETURNS (bool): whether an input was read to its end and all of its shards are there."""
        shards = range(record.shards or 0)
        is_read = record.shards is not None and record.error is None
        return is_read and all((record.number, shard) in self.shards for shard in shards)

    def write_manifest(self, *, was_read: bool) -> dict[str, Any]:
        """Write the manifest, unless it is already there.

        was_read (bool): every input of this run was read.
        RETURNS (dict[str, Any]): its content, see docs/reference/annotated_files.md.
        """
        inputs = [self.inputs[number] for number in sorted(self.inputs)]
        shards = [self.shards[key] for key in sorted(self.shards) if key[0] in self.inputs]
        counts = {"inputs": len(inputs), "shards": len(shards)}
        for name in ("read", "documents", "mentions", "linked"):
            counts[name] = sum(getattr(shard, name) for shard in shards)
        counts["failed"] = sum(len(shard.failures) for shard in shards)
        for name in ("faults", "documents_left_out", "mentions_left_out", "superseded"):
            counts[name] = sum(record.counts.get(name, 0) for record in inputs)
        skipped = counts["failed"] + counts["faults"] + counts["mentions_left_out"]
        # Shards without the record of their input belong to an input that must be given again.
        finished = was_read and len(shards) == len(self.shards) and all(map(self.is_done, inputs))
        manifest = {
            "finished": finished,
            "complete": finished and not skipped,
            "settings": self._settings,
            "counts": counts,
            "inputs": [asdict(record) for record in inputs],
            "shards": [asdict(shard) for shard in shards],
        }
        # A finished output on a read-only disk needs no writing.
        with suppress(OSError):
            if self._store.read(MANIFEST) == _dump(manifest):
                return manifest
        self._store.write(MANIFEST, _dump(manifest))
        return manifest

    def _check_settings(self, sizes: Mapping[str, int]) -> None:
        path, now = self._store.path, self._settings
        if RUN not in sizes:
            if any(not name.startswith(".") for name in sizes):
                raise AngelError(
                    f"{path} has other files and no run to continue. Use a new folder."
                )
            self._store.write(RUN, _dump(now))
        try:
            before = parse_as(self._store.read(RUN), dict[str, Any])
        except ValueError as error:
            raise AngelError(f"{path}/{RUN} is damaged ({error}). Use a new folder.") from error
        if changed := sorted(k for k in {*before, *now} if before.get(k) != now.get(k)):
            names = ", ".join(changed)
            raise AngelError(f"{path} has other settings ({names}). Use a new folder.")


def verify(path: str | Path) -> tuple[int, list[str]]:
    """Compare the shards of a finished output with the digests in its manifest.

    path (str | Path): output folder or its address.
    RETURNS (tuple[int, list[str]]): number of the shards in the manifest; names of files that have
        changed, are missing, or are not in the manifest.
    RAISES (AngelError): the folder is not a finished output of `annotate`.
    """
    store = Store(str(path))
    sizes = store.sizes()
    try:
        manifest = parse_as(store.read(MANIFEST) if MANIFEST in sizes else b"{}", dict[str, Any])
        records = checked(manifest.get("shards", []), list[ShardRecord])
    except ValueError as error:
        raise AngelError(f"{path}/{MANIFEST} is damaged: {error}.") from error
    if not manifest.get("finished"):
        raise AngelError(f"{path} is not a finished output of `annotate`: run it with all inputs.")
    digests = {record.file: record.sha256 for record in records}
    found = {name for name in sizes if re.match(r"\d+-\d+\.", name)}
    changed = found ^ {*digests}
    changed |= {n for n in found & {*digests} if sha256(store.read(n)).hexdigest() != digests[n]}
    return len(records), sorted(changed)


def _record_name(shard: ShardRecord) -> str:
    return f"_{shard.input:05d}-{shard.shard:06d}.json"


def _dump(values: Mapping[str, Any]) -> bytes:
    return (json.dumps(values, ensure_ascii=False, indent=1) + "\n").encode()
