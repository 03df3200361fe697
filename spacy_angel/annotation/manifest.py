"""What was done so far, on the disk: the journal that a run continues from, and the manifest.

`journal.jsonl` gets a line for each input, each whole shard and each end of an input, when it is
there to stay; a line that a killed run left unfinished is cut off. `manifest.json` says the same
for people and programs, in one piece, in an order that does not depend on interruptions.
"""

import json
import os
import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..errors import AngelError, Errors, Warnings
from ..files.atomic import replacing

if TYPE_CHECKING:
    from .inputs import Input

JOURNAL = "journal.jsonl"
MANIFEST = "manifest.json"
VERSION = 1


@dataclass(frozen=True, slots=True)
class ShardRecord:
    """A shard that was written.

    input (int), shard (int): numbers of the input and of the shard in it.
    file (str): its name.
    read (int): documents that were to be annotated.
    documents (int), mentions (int), linked (int): what is in it, and mentions with a concept.
    size (int), sha256 (str): of the file, in bytes.
    failures (tuple[tuple[str, str], ...]): identifier and reason of each document not in it.
    """

    input: int
    shard: int
    file: str
    read: int
    documents: int
    mentions: int
    linked: int
    size: int
    sha256: str
    failures: tuple[tuple[str, str], ...] = ()


class Journal:
    """The record of one output folder, which one process at a time may hold.

    folder (Path): the output; made where it is missing.
    settings (Mapping[str, Any]): what decides the output; plain values.
    versions (Mapping[str, str]): what may decide its last decimal place.
    RAISES (AngelError): the folder holds other things, was begun with other settings, or another
        process works on it.
    """

    def __init__(
        self, folder: Path, settings: Mapping[str, Any], versions: Mapping[str, str]
    ) -> None:
        self.folder = folder
        self._settings, self._versions = dict(settings), dict(versions)
        self._inputs: list[dict[str, Any]] = []
        self._shards: dict[tuple[int, int], ShardRecord] = {}
        self._ends: dict[int, dict[str, Any]] = {}
        self._duplicates: list[dict[str, str]] = []
        path = folder / JOURNAL
        folder.mkdir(parents=True, exist_ok=True)
        if not path.exists() and any(folder.iterdir()):
            raise AngelError(Errors.E815.format(path=folder))
        self._file = open(path, "a+b", buffering=0)  # noqa: SIM115 (closed by close)
        try:
            _lock(self._file, folder)
            self._read()
        except BaseException:
            self._file.close()
            raise
        for rest in folder.glob(".*.new"):
            rest.unlink()

    def close(self) -> None:
        """Let another process have the folder."""
        self._file.close()

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def number_of(self, source: "Input", sha256: str) -> int:
        """The number of an input, a new one where its content is new.

        source (Input), sha256 (str): the input and the digest of its content. Under another name
            than before (a copy, a file that was moved, a path given in full) it is the same input
            and noted as a duplicate.
        RETURNS (int): its place among the inputs, from 0.
        RAISES (AngelError): the content was another when the output was begun.
        """
        if any(k["name"] == source.name and k["sha256"] != sha256 for k in self._inputs):
            raise AngelError(Errors.E817.format(path=source.name, output=self.folder))
        for number, known in enumerate(self._inputs):
            if known["sha256"] == sha256:
                if known["name"] != source.name:
                    self._duplicates.append({"name": source.name, "same_as": known["name"]})
                return number
        entry = {
            "name": source.name,
            "format": source.format,
            "size": source.size,
            "sha256": sha256,
        }
        self._append("input", entry)
        return len(self._inputs) - 1

    def is_done(self, number: int) -> bool:
        """RETURNS (bool): whether an input was read to its end and all its shards are there."""
        end = self._ends.get(number)
        if end is None or end["error"] is not None:
            return False
        return all(self.has_shard(number, shard) for shard in range(end["shards"]))

    def all_done(self) -> bool:
        """RETURNS (bool): whether all inputs that were ever begun are done."""
        return all(map(self.is_done, range(len(self._inputs))))

    def has_shard(self, number: int, shard: int, read: int | None = None) -> bool:
        """Whether a shard was written and is there.

        number (int), shard (int): of the input, of the shard in it.
        read (int | None): documents that belong in it; after a break in the input others may.
        RETURNS (bool): whether it can stay as it is.
        """
        record = self._shards.get((number, shard))
        if record is None or (read is not None and record.read != read):
            return False
        try:
            return (self.folder / record.file).stat().st_size == record.size
        except OSError:
            return False

    def shards_of(self, number: int) -> dict[int, int]:
        """RETURNS (dict[int, int]): number of each shard of an input that is there → documents
        that were to be annotated."""
        return {
            shard: record.read
            for (of, shard), record in self._shards.items()
            if of == number and self.has_shard(of, shard)
        }

    def add_shard(self, record: ShardRecord) -> None:
        """record (ShardRecord): of a shard whose file is on the disk."""
        self._append("shard", asdict(record))

    def end_input(
        self, number: int, shards: int, report: Mapping[str, Any], error: str | None
    ) -> None:
        """Record that an input was read to its end, or to where it breaks.

        number (int): of the input. shards (int): that its documents make.
        report (Mapping[str, Any]): what reading counted.
        error (str | None): where and why it breaks.
        """
        values = {"input": number, "shards": shards, "error": error, "report": dict(report)}
        self._append("end", values)

    def write_manifest(self, *, complete: bool) -> dict[str, Any]:
        """Write the manifest.

        complete (bool): every input was annotated to its end.
        RETURNS (dict[str, Any]): its content.
        """
        shards = [self._shards[key] for key in sorted(self._shards)]
        counts: Counter[str] = Counter(inputs=len(self._inputs), shards=len(shards))
        for shard in shards:
            counts.update(
                read=shard.read,
                documents=shard.documents,
                mentions=shard.mentions,
                linked=shard.linked,
                failed=len(shard.failures),
            )
        manifest = {
            "version": VERSION,
            "complete": complete,
            "settings": self._settings,
            "versions": self._versions,
            "counts": dict(counts),
            "inputs": [
                {**entry, **_reading(self._ends.get(number))}
                for number, entry in enumerate(self._inputs)
            ],
            "duplicates": self._duplicates,
            "shards": [
                {key: value for key, value in asdict(shard).items() if key != "failures"}
                for shard in shards
            ],
            "failures": [
                {"input": shard.input, "shard": shard.shard, "doc_id": doc_id, "reason": reason}
                for shard in shards
                for doc_id, reason in shard.failures
            ],
        }
        with replacing(self.folder / MANIFEST) as file:
            text = json.dumps(manifest, indent=1, ensure_ascii=False)
            # The name of a file need not be UTF-8; its bytes are then escapes, in JSON as well.
            file.write(text.encode("utf8", errors="backslashreplace"))
        return manifest

    def _read(self) -> None:
        """Take in what is there; cut off what a killed run did not finish."""
        self._file.seek(0)
        data = self._file.read()
        whole = 0
        for line in data.splitlines(keepends=True):
            try:
                entry = json.loads(line) if line.endswith(b"\n") else None
            except ValueError:
                entry = None
            if not isinstance(entry, dict):
                break
            whole += len(line)
            self._take(entry)
        if whole < len(data):
            self._file.truncate(whole)
        if not whole:
            self._append("run", {"settings": self._settings, "versions": self._versions})

    def _append(self, kind: str, values: Mapping[str, Any]) -> None:
        """A line counts once it is on the disk, and so does what it tells of."""
        line = (json.dumps({"kind": kind, **values}) + "\n").encode()
        while line:
            line = line[self._file.write(line) :]
        os.fsync(self._file.fileno())
        self._take({"kind": kind, **values})

    def _take(self, entry: Mapping[str, Any]) -> None:
        values = {key: value for key, value in entry.items() if key != "kind"}
        if entry["kind"] == "run":
            self._compare(values)
        elif entry["kind"] == "input":
            self._inputs.append(values)
        elif entry["kind"] == "shard":
            values["failures"] = tuple(tuple(failure) for failure in values["failures"])
            record = ShardRecord(**values)
            self._shards[record.input, record.shard] = record
        else:
            self._ends[values["input"]] = values

    def _compare(self, first: Mapping[str, Any]) -> None:
        before, now = first["settings"], self._settings
        if changed := sorted(k for k in {*before, *now} if before.get(k) != now.get(k)):
            raise AngelError(Errors.E816.format(path=self.folder, changed=", ".join(changed)))
        if first["versions"] != self._versions:
            message = Warnings.W801.format(
                path=self.folder, before=first["versions"], now=self._versions
            )
            warnings.warn(message, stacklevel=2)


def holds_run(folder: Path) -> bool:
    """RETURNS (bool): whether a folder is the output of a run, and not one that has a file of the
    journal's name."""
    try:
        with open(folder / JOURNAL, "rb") as file:
            first = json.loads(file.readline())
    except (OSError, ValueError):
        return False
    return isinstance(first, dict) and first.get("kind") == "run" and "settings" in first


def _reading(end: Mapping[str, Any] | None) -> dict[str, Any]:
    if end is None:
        return {"read_to_end": False}
    return {
        "read_to_end": end["error"] is None,
        "error": end["error"],
        "shards": end["shards"],
        **end["report"],
    }


def _lock(file: IO[bytes], folder: Path) -> None:
    """Hold the file for this process, where the system and the disk know such locks."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError) as error:
        raise AngelError(Errors.E818.format(path=folder)) from error
    except OSError:
        # Some network disks have none.
        return
