"""What was done so far, on the disk: the journal that a run continues from, and the manifest.

`_journal.jsonl` gets a line for each input, each whole shard and each end of an input, when it is
there to stay; a line that a killed run left unfinished is cut off, one that is damaged is said to
be and what it told of done again. `_manifest.json` says the same for people and programs, in one
piece, in an order that does not depend on interruptions. Names that begin with `_` are skipped by
what reads a folder of tables.
"""

import json
import os
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from ..errors import AngelError, Errors, Warnings
from ..files.atomic import replacing
from ..files.json_values import parse_json
from ..files.system import advice, reason
from .records import (
    Batch,
    Damaged,
    Duplicate,
    EndRecord,
    FailedDocument,
    InputRecord,
    Manifest,
    ManifestInput,
    ManifestShard,
    Record,
    Report,
    RunRecord,
    ShardRecord,
    read_record,
    sealed_record,
    settings_key,
    unsealed,
)
from .source import Input

JOURNAL = "_journal.jsonl"
MANIFEST = "_manifest.json"
# Names that begin with `_` and end so hold the finished batches of a shard.
PART = ".part"
# The names that older versions gave them.
_OLD_JOURNAL = "journal.jsonl"
_OLD_MANIFEST = "manifest.json"


class Journal:
    """The record of one output folder, which one process at a time may hold.

    folder (Path): the output; made where it is missing.
    settings (Mapping[str, Any]): what decides the output; plain values.
    versions (Mapping[str, str]): what may decide its last decimal place.
    RAISES (AngelError): the folder holds other things, was begun with other settings, cannot be
        written, or another process works on it.
    """

    def __init__(
        self, folder: Path, settings: Mapping[str, Any], versions: Mapping[str, str]
    ) -> None:
        self.folder = folder
        self.key = settings_key(settings)
        self._settings, self._versions = dict(settings), dict(versions)
        self._inputs: dict[int, InputRecord] = {}
        self._shards: dict[tuple[int, int], ShardRecord] = {}
        self._ends: dict[int, EndRecord] = {}
        self._duplicates: list[Duplicate] = []
        # Why nothing can be written, which hinders none where nothing is to be done.
        self._refusal: OSError | None = None
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._file = self._open()
        try:
            _lock(self._file, folder)
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

    def __enter__(self) -> "Journal":
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
        for number, known in self._inputs.items():
            if known.place != place:
                continue
            if known.sha256 == sha256 and known.format == source.format:
                self._note_name(source, known)
                return number
            if known.sha256 != sha256:
                if not self._is_broken(number):
                    raise AngelError(Errors.E817.format(path=source.name, output=self.folder))
                self._append(_input_record(number, source, sha256))
                return number
        for number, known in self._inputs.items():
            is_same = known.sha256 == sha256 and known.format == source.format
            if is_same and known.place not in places and _was_moved(known, source):
                self._note_name(source, known)
                return number
        number = next(i for i in range(len(self._inputs) + 1) if i not in self._inputs)
        self._append(_input_record(number, source, sha256))
        return number

    def is_done(self, number: int) -> bool:
        """RETURNS (bool): whether an input was read to its end and all its shards are there."""
        end = self._ends.get(number)
        if end is None or end.error is not None:
            return False
        return all(self._is_there(number, shard) for shard in range(end.shards))

    def all_done(self) -> bool:
        """RETURNS (bool): whether all inputs that were ever begun are done."""
        return {number for number, _ in self._shards} <= self._inputs.keys() and all(
            map(self.is_done, self._inputs)
        )

    def has_shard(self, number: int, shard: int, read: int, digest: str) -> bool:
        """Whether a shard was written and is there.

        number (int), shard (int): of the input, of the shard in it.
        read (int), digest (str): number and digest of the documents that belong in it; after a
            break in the input, or a change, others may.
        RETURNS (bool): whether it can stay as it is.
        """
        record = self._shards.get((number, shard))
        if record is None or not self._is_there(number, shard):
            return False
        return is_same_shard((record.read, record.digest), read, digest)

    def shards_of(self, number: int) -> dict[int, tuple[int, str]]:
        """RETURNS (dict[int, tuple[int, str]]): number of each shard of an input that is there →
        number and digest of the documents that were to be annotated."""
        return {
            shard: (record.read, record.digest)
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
            end = self._ends.get(number)
            if end is not None and shard >= end.shards:
                number, shard = number + 1, 0
            elif self._is_there(number, shard):
                yield number, shard, self.folder / self._shards[number, shard].file
                shard += 1
            else:
                return

    def add_shard(self, record: ShardRecord) -> None:
        """record (ShardRecord): of a shard whose file is on the disk."""
        self._append(record)
        with writing(self.folder):
            (self.folder / part_name(record.file)).unlink(missing_ok=True)

    def end_input(
        self, number: int, shards: int, report: Mapping[str, Any], error: str | None
    ) -> None:
        """Record that an input was read to its end, or to where it breaks.

        number (int): of the input. shards (int): that its documents make; what a longer content
            before has left behind is deleted.
        report (Mapping[str, Any]): what reading counted.
        error (str | None): where and why it breaks.
        """
        with writing(self.folder):
            for key in self._beyond(number, shards):
                (self.folder / self._shards[key].file).unlink(missing_ok=True)
        self._append(
            EndRecord(
                input=number,
                sha256=self._inputs[number].sha256,
                shards=shards,
                error=error,
                report=Report.model_validate(report),
            )
        )

    def fail_input(self, number: int, error: str) -> None:
        """number (int): of an input that was read to its end. error (str): what is wrong with it
        all the same."""
        end = self._ends.get(number)
        if end is not None and end.error is None:
            self._append(end.model_copy(update={"error": error}))

    def write_manifest(self, *, was_read: bool) -> dict[str, Any]:
        """Write the manifest, where it is not there as it should be.

        was_read (bool): every input of this run was read.
        RETURNS (dict[str, Any]): its content, see `Manifest`.
        """
        shards = [self._shards[key] for key in sorted(self._shards) if key[0] in self._inputs]
        counts: Counter[str] = Counter(inputs=len(self._inputs), shards=len(shards))
        counts.update(read=0, documents=0, mentions=0, linked=0, failed=0)
        for shard in shards:
            counts.update(
                read=shard.read,
                documents=shard.documents,
                mentions=shard.mentions,
                linked=shard.linked,
                failed=len(shard.failures),
            )
        for name in ("faults", "documents_left_out", "mentions_left_out"):
            counts[name] = sum(end.report.counts.get(name, 0) for end in self._ends.values())
        finished = was_read and self.all_done()
        manifest = Manifest(
            finished=finished,
            complete=finished and not counts["failed"] and not counts["faults"],
            settings=self._settings,
            versions=self._versions,
            counts=dict(counts),
            inputs=[
                _manifest_input(self._inputs[number], self._ends.get(number))
                for number in sorted(self._inputs)
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
        path = self.folder / MANIFEST
        with writing(path):
            if self._refusal is not None and not finished:
                raise self._refusal
            if self._refusal is None and not (path.exists() and path.read_bytes() == data):
                with replacing(path) as file:
                    file.write(data)
            if self._refusal is None and finished:
                for rest in self.folder.glob(f"_*{PART}"):
                    rest.unlink(missing_ok=True)
        return manifest

    def _open(self) -> IO[bytes]:
        path, old = self.folder / JOURNAL, self.folder / _OLD_JOURNAL
        if not path.exists() and _begins_run(old):
            try:
                if (self.folder / _OLD_MANIFEST).exists():
                    os.replace(self.folder / _OLD_MANIFEST, self.folder / MANIFEST)
                os.replace(old, path)
            except OSError:
                path = old
        if not path.exists() and any(self.folder.iterdir()):
            raise AngelError(Errors.E815.format(path=self.folder))
        try:
            return open(path, "a+b", buffering=0)
        except OSError as error:
            if not path.exists():
                raise
            self._refusal = error
            return open(path, "rb", buffering=0)

    def _clear(self) -> None:
        """Delete what was written under a temporary name, and the parts of whole shards."""
        if self._refusal is not None:
            return
        parts = (self.folder / part_name(record.file) for record in self._shards.values())
        for rest in (*self.folder.glob(".*.new"), *parts):
            rest.unlink(missing_ok=True)

    def _read(self) -> None:
        """Take in what is there; cut off what a killed run did not finish."""
        self._file.seek(0)
        data = self._file.read()
        lines = data.splitlines(keepends=True)
        if lines and not lines[-1].endswith(b"\n"):
            data = data.removesuffix(lines.pop())
            if self._refusal is None:
                self._file.truncate(len(data))
        if lines and not any(b'"kind"' in line or b'"settings"' in line for line in lines):
            raise AngelError(Errors.E815.format(path=self.folder))
        damaged: list[int] = []
        # Whether lines without checksums are to be believed.
        is_old: bool | None = None
        for number, line in enumerate(lines, 1):
            try:
                record, has_checksum = read_record(line, self.key)
                if is_old is None and isinstance(record, RunRecord):
                    is_old = not has_checksum
                if not has_checksum and not is_old:
                    raise Damaged("there is no checksum")
                if isinstance(record, InputRecord) and record.number is None and damaged:
                    raise Damaged("the lines before it, which it is numbered by, are damaged")
            except Damaged:
                damaged.append(number)
            else:
                self._take(record)
        if damaged:
            numbers = ", ".join(map(str, damaged[:10])) + (", …" if len(damaged) > 10 else "")
            message = Warnings.W802.format(path=self._file.name, lines=numbers)
            warnings.warn(message, stacklevel=2)
        # Without its digest a shard cannot be told from one of another input.
        for key, shard in list(self._shards.items()):
            if not shard.digest and shard.input not in self._inputs:
                del self._shards[key]
        if is_old is None:
            self._append(RunRecord(settings=self._settings, versions=self._versions))

    def _append(self, record: Record) -> None:
        """A line counts once it is on the disk, and so does what it tells of."""
        line = sealed_record(record, self.key)
        with writing(self.folder):
            if self._refusal is not None:
                raise self._refusal
            while line:
                line = line[self._file.write(line) :]
            os.fsync(self._file.fileno())
        self._take(record)

    def _take(self, record: Record) -> None:
        if isinstance(record, RunRecord):
            self._compare(record)
        elif isinstance(record, InputRecord):
            number = len(self._inputs) if record.number is None else record.number
            place = record.place or os.path.abspath(record.name)
            if number in self._inputs:
                # Shards of the content before stay only where their documents are the same.
                self._ends.pop(number, None)
                for key in [k for k, shard in self._shards.items() if not shard.digest]:
                    if key[0] == number:
                        del self._shards[key]
            self._inputs[number] = record.model_copy(update={"number": number, "place": place})
        elif isinstance(record, ShardRecord):
            self._shards[record.input, record.shard] = record
        else:
            known = self._inputs.get(record.input)
            if known is not None and record.sha256 in ("", known.sha256):
                self._ends[record.input] = record
                for key in self._beyond(record.input, record.shards):
                    del self._shards[key]

    def _compare(self, first: RunRecord) -> None:
        before, now = first.settings, self._settings
        if changed := sorted(k for k in {*before, *now} if before.get(k) != now.get(k)):
            raise AngelError(Errors.E816.format(path=self.folder, changed=", ".join(changed)))
        if first.versions != self._versions:
            message = Warnings.W801.format(
                path=self.folder, before=first.versions, now=self._versions
            )
            warnings.warn(message, stacklevel=2)

    def _note_name(self, source: Input, known: InputRecord) -> None:
        if known.name != source.name:
            self._duplicates.append(Duplicate(name=source.name, same_as=known.name))

    def _beyond(self, number: int, shards: int) -> list[tuple[int, int]]:
        return [key for key in self._shards if key[0] == number and key[1] >= shards]

    def _is_broken(self, number: int) -> bool:
        end = self._ends.get(number)
        return end is not None and end.error is not None

    def _is_there(self, number: int, shard: int) -> bool:
        record = self._shards.get((number, shard))
        try:
            return record is not None and (self.folder / record.file).stat().st_size == record.size
        except OSError:
            return False


def is_same_shard(there: tuple[int, str] | None, read: int, digest: str) -> bool:
    """Whether a shard that is there holds these documents.

    there (tuple[int, str] | None): number and digest of its documents, the digest empty in old
        journals; None where there is no shard.
    read (int), digest (str): of the documents that it should hold.
    RETURNS (bool): the digests decide, and where there is none the numbers.
    """
    return there is not None and (there[1] == digest if there[1] else there[0] == read)


def place_of(source: Input) -> str:
    """RETURNS (str): absolute path of an input, which tells it from a copy."""
    return os.path.abspath(source.name)


def part_name(file: str) -> str:
    """file (str): name of a shard. RETURNS (str): of the file with its finished batches."""
    return f"_{file}{PART}"


def documents_kept(folder: Path) -> tuple[int, int]:
    """What an interrupted run leaves.

    folder (Path): the output.
    RETURNS (tuple[int, int]): documents in its shards, as its manifest has them, and in finished
        batches of others.
    """
    whole = begun = 0
    with suppress(OSError, ValueError):
        values = parse_json((folder / MANIFEST).read_bytes())
        whole = Manifest.model_validate(values).counts.get("documents", 0)
    for path in folder.glob(f"_*{PART}"):
        for line in path.read_bytes().splitlines(keepends=True):
            with suppress(ValueError):
                begun += len(Batch.model_validate(unsealed(line)).mentions)
    return whole, begun


def is_bookkeeping(path: Path) -> bool:
    """RETURNS (bool): whether a file in the output of a run is none of its shards."""
    if path.name in (_OLD_JOURNAL, _OLD_MANIFEST):
        return _begins_run(path.parent / _OLD_JOURNAL)
    is_named_so = path.name in (JOURNAL, MANIFEST) or path.name.endswith(PART)
    return path.name.startswith("_") and is_named_so and _begins_run(path.parent / JOURNAL)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """path (Path): what is written. RAISES (AngelError): the file system refuses; says what to
    do."""
    try:
        yield
    except OSError as error:
        raise AngelError(
            Errors.E824.format(path=path, reason=reason(error), advice=advice(error))
        ) from error


def _begins_run(journal: Path) -> bool:
    """Whether a file is the journal of a run, and not one that has its name."""
    try:
        with open(journal, "rb") as file:
            first = json.loads(file.readline())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(first, dict) and first.get("kind") == "run" and "settings" in first


def _was_moved(known: InputRecord, source: Input) -> bool:
    """Whether an input with the content of a known one is that one, elsewhere: the old path leads
    to nothing or to the same file, and its documents, which plain texts name by the file, keep
    their names."""
    if len(source.paths) == 1 and Path(known.place).name != Path(place_of(source)).name:
        return False
    try:
        return os.path.samefile(known.place, place_of(source))
    except OSError:
        return not os.path.exists(known.place)


def _input_record(number: int, source: Input, sha256: str) -> InputRecord:
    return InputRecord(
        number=number,
        name=source.name,
        place=place_of(source),
        format=source.format,
        size=source.size,
        sha256=sha256,
    )


def _manifest_input(known: InputRecord, end: EndRecord | None) -> ManifestInput:
    return ManifestInput(
        **known.model_dump(include={"name", "format", "size", "sha256"}),
        read_to_end=end is not None and end.error is None,
        error=None if end is None else end.error,
        shards=None if end is None else end.shards,
        counts={} if end is None else end.report.counts,
        notes=[] if end is None else end.report.notes,
    )


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
