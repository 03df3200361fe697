"""The output folder of a run: what is done, in a small file beside each shard, and the manifest.

    _run.json              settings and versions; one process at a time holds it
    _00000.json            the first input, and what reading it to its end counted
    00000-000001.jsonl     its second shard, which came whole under its name
    _00000-000001.json     what is in that; a shard with such a file is done
    _00000-000002.jsonl.part   finished batches of a shard that is not whole yet, see `parts`
    _manifest.json         all of it in one piece, in an order that no interruption changes

Names that begin with `_` are skipped by what reads a folder of tables.
"""

import json
import os
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from ..errors import AngelError, AngelWarning
from ..files.atomic import replacing
from .disk import lock, write_whole, writing
from .records import (
    Duplicate,
    FailedDocument,
    InputRecord,
    Manifest,
    ManifestInput,
    ManifestShard,
    RunRecord,
    ShardRecord,
    sealed,
    settings_key,
    unsealed,
)
from .source import Input

RUN = "_run.json"
MANIFEST = "_manifest.json"
# Names that begin with `_` and end so hold the finished batches of a shard.
PART = ".part"
# By these the output of a run is known, those of older versions too.
_RUN_FILES = (RUN, "_journal.jsonl")
_OLD_FILES = {"journal.jsonl", "manifest.json"}
# Damaged files that a warning names.
_SHOWN = 10


class OutputFolder:
    """An output folder, which one process at a time may hold.

    path (Path): the folder; made where it is missing.
    settings (Mapping[str, Any]): what decides the output; plain values.
    versions (Mapping[str, str]): what may decide its last decimal place.
    RAISES (AngelError): the folder holds other things, was begun with other settings, cannot be
        written, or another process works on it.
    """

    def __init__(
        self, path: Path, settings: Mapping[str, Any], versions: Mapping[str, str]
    ) -> None:
        self.path = path
        self.key = settings_key(settings)
        self._run = RunRecord(settings=dict(settings), versions=dict(versions))
        self._inputs: dict[int, InputRecord] = {}
        self._shards: dict[tuple[int, int], ShardRecord] = {}
        self._duplicates: list[Duplicate] = []
        # Why nothing can be written, which hinders none where nothing is to be done.
        self._refusal: OSError | None = None
        with writing(path):
            path.mkdir(parents=True, exist_ok=True)
            self._file = self._open()
        try:
            lock(self._file, path)
            self._read()
            self._clear()
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        """Let another process have the folder; what no killed worker will finish is deleted."""
        try:
            self._clear()
        finally:
            self._file.close()

    def __enter__(self) -> "OutputFolder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def number_of(self, source: Input, sha256: str, places: Collection[str] = ()) -> int:
        """The number of an input, a new one where it is new.

        source (Input), sha256 (str): the input and the digest of its content. Under another path
            than before it is the same input where it was moved, its documents are named alike, and
            no other input of this run stands at the old path; that is noted as a duplicate. A copy
            is an input of its own.
        places (Collection[str]): `place_of` all inputs of this run.
        RETURNS (int): its place among the inputs, from 0.
        RAISES (AngelError): the content was another when the output was begun.
        """
        place = place_of(source)
        inputs = self._inputs.values()
        known = next((each for each in inputs if each.place == place), None)
        if known is not None and known.sha256 != sha256:
            if known.error is None:
                raise AngelError(
                    f"{source.name} has changed since {self.path} was started. Use a new folder."
                )
            self._add_input(_begun(known.number, source, sha256))
            return known.number
        if known is None:
            alike = (each for each in inputs if each.sha256 == sha256 and each.place not in places)
            known = next((each for each in alike if _was_moved(each, source)), None)
        if known is None:
            number = next(i for i in range(len(inputs) + 1) if i not in self._inputs)
            self._add_input(_begun(number, source, sha256))
            return number
        if known.name != source.name:
            self._duplicates.append(Duplicate(name=source.name, same_as=known.name))
        return known.number

    def is_done(self, number: int) -> bool:
        """RETURNS (bool): whether an input was read to its end and all its shards are there."""
        known = self._inputs[number]
        return known.read_to_end and all(
            self._is_there(number, shard) for shard in range(known.shards or 0)
        )

    def digests(self, number: int) -> dict[int, str]:
        """RETURNS (dict[int, str]): number of each shard of an input that is there → digest of the
        documents that were to be annotated."""
        return {
            shard: record.digest
            for (of, shard), record in self._shards.items()
            if of == number and self._is_there(of, shard)
        }

    def has_shards(self) -> bool:
        """RETURNS (bool): whether there is any shard."""
        return bool(self._shards)

    def shards_from(self, number: int, shard: int) -> Iterator[tuple[int, int, Path]]:
        """The shards that are there, in the order of the manifest, to the first that is not.

        number (int), shard (int): of an input, and of the shard in it to begin with.
        YIELDS (tuple[int, int, Path]): both numbers, and the file.
        """
        while True:
            known = self._inputs.get(number)
            if known is not None and known.shards is not None and shard >= known.shards:
                number, shard = number + 1, 0
            elif self._is_there(number, shard):
                yield number, shard, self.path / self._shards[number, shard].file
                shard += 1
            else:
                return

    def add_shard(self, record: ShardRecord) -> None:
        """record (ShardRecord): of a shard whose file is on the disk."""
        self._write(_beside(record.input, record.shard), record)
        self._shards[record.input, record.shard] = record
        with writing(self.path):
            (self.path / part_name(record.file)).unlink(missing_ok=True)

    def end_input(
        self, number: int, shards: int, report: Mapping[str, Any], error: str | None
    ) -> None:
        """Record that an input was read to its end, or to where it breaks.

        number (int): of the input. shards (int): that its documents make; what a longer content
            before has left behind is deleted.
        report (Mapping[str, Any]): what reading counted.
        error (str | None): where and why it breaks.
        """
        with writing(self.path):
            for key in [key for key in self._shards if key[0] == number and key[1] >= shards]:
                for name in (_beside(*key), self._shards.pop(key).file):
                    (self.path / name).unlink(missing_ok=True)
        end = {**report, "shards": shards, "error": error, "read_to_end": error is None}
        self._add_input(self._inputs[number].model_copy(update=end))

    def fail_input(self, number: int, error: str) -> None:
        """number (int): of an input that was read to its end. error (str): what is wrong with it
        all the same."""
        if self._inputs[number].read_to_end:
            failed = {"error": error, "read_to_end": False}
            self._add_input(self._inputs[number].model_copy(update=failed))

    def write_manifest(self, *, was_read: bool) -> dict[str, Any]:
        """Write the manifest, where it is not there as it should be.

        was_read (bool): every input of this run was read.
        RETURNS (dict[str, Any]): its content, see `Manifest`.
        """
        inputs = [self._inputs[number] for number in sorted(self._inputs)]
        shards = [self._shards[key] for key in sorted(self._shards) if key[0] in self._inputs]
        counts: Counter[str] = Counter(inputs=len(inputs), shards=len(shards))
        for name in ("read", "documents", "mentions", "linked"):
            counts[name] = sum(getattr(shard, name) for shard in shards)
        counts["failed"] = sum(len(shard.failures) for shard in shards)
        for name in ("faults", "documents_left_out", "mentions_left_out"):
            counts[name] = sum(known.counts.get(name, 0) for known in inputs)
        # Shards of an input whose own file is lost are those of something that was begun.
        finished = was_read and len(shards) == len(self._shards)
        finished = finished and all(map(self.is_done, self._inputs))
        manifest = Manifest(
            finished=finished,
            complete=finished and not counts["failed"] and not counts["faults"],
            settings=self._run.settings,
            versions=self._run.versions,
            counts=dict(counts),
            inputs=[
                ManifestInput(**known.model_dump(include=set(ManifestInput.model_fields)))
                for known in inputs
            ],
            duplicates=self._duplicates,
            shards=[
                ManifestShard(**shard.model_dump(include=set(ManifestShard.model_fields)))
                for shard in shards
            ],
            failures=[
                FailedDocument(input=shard.input, shard=shard.shard, doc_id=doc_id, reason=why)
                for shard in shards
                for doc_id, why in shard.failures
            ],
        ).model_dump()
        text = json.dumps(manifest, indent=1, ensure_ascii=False)
        # The name of a file need not be UTF-8; its bytes are then escapes, in JSON as well.
        data = text.encode("utf8", errors="backslashreplace")
        path = self.path / MANIFEST
        with writing(path):
            if self._refusal is not None and not finished:
                raise self._refusal
            if self._refusal is None and not (path.exists() and path.read_bytes() == data):
                with replacing(path) as file:
                    file.write(data)
            if self._refusal is None and finished:
                for rest in self.path.glob(f"_*{PART}"):
                    rest.unlink(missing_ok=True)
        return manifest

    def _open(self) -> IO[bytes]:
        path = self.path / RUN
        if not path.exists() and any(self.path.iterdir()):
            raise AngelError(
                f"{self.path} has other files and no annotation to continue. Use a new folder."
            )
        try:
            return open(path, "a+b")
        except OSError as error:
            if not path.exists():
                raise
            self._refusal = error
            return open(path, "rb")

    def _clear(self) -> None:
        """Delete what was written under a temporary name, and the parts of whole shards."""
        if self._refusal is not None:
            return
        parts = (self.path / part_name(record.file) for record in self._shards.values())
        for rest in (*self.path.glob(".*.new"), *parts):
            rest.unlink(missing_ok=True)

    def _read(self) -> None:
        """Take in what is there; what is damaged is as if it were not, but for a warning."""
        damaged = [] if self._is_begun() else [RUN]
        for path in sorted(self.path.glob("_[0-9]*.json")):
            try:
                data = path.read_bytes()
                if "-" in path.name:
                    shard = unsealed(data, ShardRecord, self.key)
                    self._shards[shard.input, shard.shard] = shard
                else:
                    known = unsealed(data, InputRecord, self.key)
                    self._inputs[known.number] = known
            except ValueError:
                damaged.append(path.name)
        if damaged:
            names = ", ".join(damaged[:_SHOWN]) + (", …" if len(damaged) > _SHOWN else "")
            warnings.warn(
                f"{self.path} has damaged records ({names}), which are done again.",
                AngelWarning,
                stacklevel=3,
            )

    def _is_begun(self) -> bool:
        """Compare with the settings that the output was begun with, or begin it. RETURNS (bool):
        False where what stood there was damaged, and was written anew."""
        self._file.seek(0)
        data = self._file.read()
        try:
            first = unsealed(data, RunRecord)
        except ValueError as error:
            is_ours = any(self.path.glob("_[0-9]*.json")) or b'{"seal"'.startswith(data[:7])
            if not is_ours:
                raise AngelError(
                    f"{self.path} has other files and no annotation to continue. Use a new folder."
                ) from error
            with writing(self.path):
                if self._refusal is not None:
                    raise self._refusal from error
                self._file.truncate(0)
                self._file.write(sealed(self._run, self.key))
                self._file.flush()
                os.fsync(self._file.fileno())
            # A process that was killed in its first moment left a part of a line.
            return not data.endswith(b"\n")
        before, now = first.settings, self._run.settings
        if changed := sorted(k for k in {*before, *now} if before.get(k) != now.get(k)):
            raise AngelError(
                f"{self.path} has other settings ({', '.join(changed)}). Use a new folder."
            )
        if first.versions != self._run.versions:
            warnings.warn(
                f"{self.path} was started with {first.versions} and is continued with "
                f"{self._run.versions}; scores may differ slightly.",
                AngelWarning,
                stacklevel=3,
            )
        return True

    def _add_input(self, record: InputRecord) -> None:
        self._write(f"_{record.number:05d}.json", record)
        self._inputs[record.number] = record

    def _write(self, name: str, record: InputRecord | ShardRecord) -> None:
        with writing(self.path):
            if self._refusal is not None:
                raise self._refusal
            write_whole(self.path / name, sealed(record, self.key))

    def _is_there(self, number: int, shard: int) -> bool:
        record = self._shards.get((number, shard))
        try:
            return record is not None and (self.path / record.file).stat().st_size == record.size
        except OSError:
            return False


def place_of(source: Input) -> str:
    """RETURNS (str): absolute path of an input, which tells it from a copy."""
    return os.path.abspath(source.name)


def shard_name(number: int, shard: int) -> str:
    """RETURNS (str): name of a shard's file, without the suffix of its format."""
    return f"{number:05d}-{shard:06d}"


def part_name(file: str) -> str:
    """file (str): name of a shard. RETURNS (str): of the file with its finished batches."""
    return f"_{file}{PART}"


def is_bookkeeping(path: Path) -> bool:
    """RETURNS (bool): whether a file in the output of a run is none of its shards."""
    if path.name in _OLD_FILES:
        return {each.name for each in path.parent.iterdir()} >= _OLD_FILES
    return path.name.startswith("_") and any((path.parent / n).exists() for n in _RUN_FILES)


def _beside(number: int, shard: int) -> str:
    return f"_{shard_name(number, shard)}.json"


def _was_moved(known: InputRecord, source: Input) -> bool:
    """Whether an input with the content of a known one is that one, elsewhere: the old path leads
    to nothing or to the same file, and its documents, which plain texts name by the file, keep
    their names."""
    if len(source.paths) == 1 and Path(known.place).name != Path(place_of(source)).name:
        return False
    return not os.path.exists(known.place) or os.path.samefile(known.place, source.name)


def _begun(number: int, source: Input, sha256: str) -> InputRecord:
    return InputRecord(
        number=number,
        name=source.name,
        place=place_of(source),
        format=source.format,
        size=source.size,
        sha256=sha256,
    )
