"""The output folder of a run, with the JSON records that an interrupted run continues from.

    _run.json              settings of the run
    _00000.json            the first input, and the counts of reading it
    00000-000001.jsonl     its second shard
    _00000-000001.json     the record of that shard
    _manifest.json         all of it in one file, written at the end

Every file is written under a temporary name and renamed, the record of a shard after the shard: a
shard with a record is complete. Table readers skip names that begin with `_`.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import AngelError
from ..files.atomic import replacing
from ..files.json_values import parse_as
from ..files.system import advice, reason

if TYPE_CHECKING:
    from .inputs import Input

RUN = "_run.json"
MANIFEST = "_manifest.json"
STREAM = "-"
"""The name of standard input and standard output."""


@dataclass(frozen=True)
class InputRecord:
    """An input of a run.

    number (int): its position among the inputs, from 0.
    name (str), path (str): as given, and as an absolute path.
    format (str), size (int), sha256 (str): of its content; no digest where it changed while it was
        read.
    shards (int | None): number of its shards; None until it was read.
    error (str | None): why it could not be read to its end.
    counts (dict[str, int]), notes (list[str]): of reading it, see `CorpusReport`.
    """

    number: int
    name: str
    path: str
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
    source (str): SHA-256 of the input.
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
def open_output(path: Path, settings: Mapping[str, Any]) -> Iterator["OutputFolder"]:
    """Open an output folder, which other processes cannot open meanwhile.

    path (Path): the folder; created if missing.
    settings (Mapping[str, Any]): what decides the output, as plain values.
    YIELDS (OutputFolder): the folder.
    RAISES (AngelError): the folder contains other files, was begun with other settings, cannot be
        written, or is in use by another process.
    """
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)
    with _locked(path):
        try:
            _delete_temporary(path)
            yield OutputFolder(path, settings)
        finally:
            _delete_temporary(path)


class OutputFolder:
    """The output of a run, and what is recorded in it.

    path (Path), settings (Mapping[str, Any]): see `open_output`.
    RAISES (AngelError): see `open_output`.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        self.path = path
        self.settings: dict[str, Any] = json.loads(json.dumps(settings))
        self.inputs: dict[int, InputRecord] = {}
        self.shards: dict[tuple[int, int], ShardRecord] = {}
        self._check_settings()
        for file in path.glob("_[0-9]*.json"):
            # What a damaged record stands for is done again.
            with suppress(OSError, ValueError):
                if "-" not in file.name:
                    record = parse_as(file.read_bytes(), InputRecord)
                    self.inputs[record.number] = record
                    continue
                shard = parse_as(file.read_bytes(), ShardRecord)
                if (path / shard.file).stat().st_size == shard.size:
                    self.shards[shard.input, shard.shard] = shard

    def begin_input(self, source: "Input", sha256: str) -> InputRecord:
        """Get the record of an input, which is identified by its absolute path.

        source (Input), sha256 (str): the input and the digest of its content. Where the content
            differs from an unfinished earlier run, the shards made from it are deleted.
        RETURNS (InputRecord): the earlier one, or a new one.
        RAISES (AngelError): the content differs from that of a finished input.
        """
        path = readable(source.name if source.name == STREAM else os.path.abspath(source.name))
        known = next((record for record in self.inputs.values() if record.path == path), None)
        if known is not None and known.sha256 == sha256:
            return known
        if known is not None and self.is_done(known):
            raise AngelError(
                f"{source.name} has changed since it was annotated into {self.path}. Restore it, "
                "or annotate it into a new folder."
            )
        number = next(n for n in count() if n not in self.inputs) if known is None else known.number
        for key, shard in list(self.shards.items()):
            if key[0] == number and (known is not None or shard.source != sha256):
                del self.shards[key]
                for name in (_record_name(*key), shard.file):
                    (self.path / name).unlink(missing_ok=True)
        name = readable(source.name)
        record = InputRecord(number, name, path, source.format, source.size, sha256)
        self.write_input(record)
        return record

    def write_input(self, record: InputRecord) -> None:
        """record (InputRecord): of an input; it is kept and written."""
        _write_record(self.path / f"_{record.number:05d}.json", record)
        self.inputs[record.number] = record

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
        for name in ("faults", "documents_left_out", "mentions_left_out"):
            counts[name] = sum(record.counts.get(name, 0) for record in inputs)
        # Shards without the record of their input belong to an input that must be given again.
        finished = was_read and len(shards) == len(self.shards) and all(map(self.is_done, inputs))
        manifest = {
            "finished": finished,
            "complete": finished and not counts["failed"] and not counts["faults"],
            "settings": self.settings,
            "counts": counts,
            "inputs": [asdict(record) for record in inputs],
            "shards": [asdict(shard) for shard in shards],
        }
        path = self.path / MANIFEST
        data = json.dumps(manifest, ensure_ascii=False, indent=1).encode()
        # A finished output on a read-only disk needs no writing.
        if not path.exists() or path.read_bytes() != data:
            write_durably(path, data)
        return manifest

    def _check_settings(self) -> None:
        path, now = self.path / RUN, self.settings
        if not path.exists():
            if any(self.path.iterdir()):
                raise AngelError(
                    f"{self.path} contains files that are not the output of `annotate`. Give an "
                    "empty or a new folder."
                )
            write_durably(path, json.dumps(now, ensure_ascii=False, indent=1).encode())
        try:
            before = parse_as(path.read_bytes(), dict[str, Any])
        except ValueError as error:
            raise AngelError(f"{path} is damaged ({error}). Give a new folder.") from error
        if changed := sorted(k for k in {*before, *now} if before.get(k) != now.get(k)):
            raise AngelError(
                f"{self.path} was begun with other settings (different: {', '.join(changed)}). "
                "Restore them, or give a new folder."
            )


def write_shard(folder: Path, data: bytes, record: ShardRecord) -> ShardRecord:
    """Write a shard and its record, which then survive a crash of the machine.

    folder (Path): the output. data (bytes), record (ShardRecord): from `ShardWorker.annotate`.
    RETURNS (ShardRecord): the same record.
    """
    write_durably(folder / record.file, data)
    _write_record(folder / _record_name(record.input, record.shard), record)
    return record


def shard_name(number: int, shard: int) -> str:
    """RETURNS (str): name of a shard's file, without the suffix of its format."""
    return f"{number:05d}-{shard:06d}"


def write_durably(path: Path, data: bytes) -> None:
    """path (Path), data (bytes): of a file, which survives a crash of the machine once this
    returns. RAISES (AngelError): the file system refuses."""
    with writing(path):
        with replacing(path) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if os.name == "posix":
            handle = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """path (Path): what is written. RAISES (AngelError): in place of an OSError."""
    try:
        yield
    except OSError as error:
        raise AngelError(
            f"{path} cannot be written: {reason(error)}. {advice(error)} Finished shards are kept, "
            "and the same command continues from there."
        ) from error


def readable(text: str) -> str:
    """RETURNS (str): a text with the bytes of a file name that are not UTF-8 escaped."""
    return text.encode("utf8", "backslashreplace").decode("utf8")


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other processes out of a folder, where the system and the disk can lock it."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError) as error:
            raise AngelError(
                f"Another process is annotating into {folder}. Wait for it, or give another folder."
            ) from error
        except OSError:
            # Some network disks have no locks.
            pass
        yield
    finally:
        os.close(handle)


def _delete_temporary(folder: Path) -> None:
    """Delete what processes that were killed left behind."""
    for path in folder.glob(".*.new"):
        path.unlink(missing_ok=True)


def _record_name(number: int, shard: int) -> str:
    return f"_{shard_name(number, shard)}.json"


def _write_record(path: Path, record: InputRecord | ShardRecord) -> None:
    write_durably(path, (json.dumps(asdict(record), ensure_ascii=False) + "\n").encode())
