"""The output folder: damage, what was moved, copied or replaced, disks that refuse, old outputs."""

import errno
import gzip
import json
import os
import random
import warnings
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from support.tiny_annotation import write_jsonl

from spacy_angel.annotation import folder as module
from spacy_angel.annotation.folder import MANIFEST, RUN, OutputFolder
from spacy_angel.annotation.inputs import plan_inputs
from spacy_angel.annotation.plan import Plan
from spacy_angel.annotation.records import ShardRecord
from spacy_angel.annotation.shards import write_shard
from spacy_angel.errors import AngelError

SETTINGS = {"shard_size": 10}


def run(
    out: Path,
    *sources: Path,
    strict: bool = False,
    after_shard: Callable[[int], object] = lambda _: None,
    **changes: Any,
) -> list[str]:
    """Give out the identifiers of documents.

    out (Path), sources (Path), strict (bool): as for `annotate`.
    after_shard (Callable[[int], object]): hears of each shard that was made, from 1.
    changes (Any): of the settings.
    RETURNS (list[str]): shards that were made.
    """
    made = []
    with OutputFolder(out, {**SETTINGS, **changes}, {}) as folder:
        plan = Plan(plan_inputs(sources), folder, 10, strict, {})
        for job in plan.jobs():
            data = "".join(f"{document.doc_id}\n" for document in job.documents).encode()
            record = ShardRecord(
                input=job.input,
                shard=job.shard,
                file=job.file(".jsonl"),
                read=len(job.documents),
                digest=job.digest,
                documents=len(job.documents),
                mentions=0,
                linked=0,
                size=len(data),
                sha256=sha256(data).hexdigest(),
            )
            folder.add_shard(write_shard(folder.path, data, record))
            made.append(record.file)
            after_shard(len(made))
        plan.check_inputs()
        folder.write_manifest(was_read=plan.was_read)
    return made


def files(folder: Path) -> dict[str, bytes]:
    """RETURNS (dict[str, bytes]): name → content."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def manifest(out: Path) -> dict[str, Any]:
    return json.loads((out / MANIFEST).read_bytes())


@pytest.fixture
def source(tmp_path) -> Path:
    return write_jsonl(tmp_path / "in.jsonl", 25)


@pytest.fixture
def out(tmp_path, source) -> Path:
    assert len(run(tmp_path / "out", source)) == 3
    return tmp_path / "out"


def test_shards_that_follow_each_other_to_the_first_that_is_missing(tmp_path, source) -> None:
    """Of two inputs with three shards and one, and one without documents between them."""
    empty, last = tmp_path / "empty.jsonl", write_jsonl(tmp_path / "last.jsonl", 4)
    empty.write_text("")
    out = tmp_path / "out"
    run(out, source, empty, last)

    def numbers(number: int, shard: int) -> list[tuple[int, int]]:
        with OutputFolder(out, SETTINGS, {}) as folder:
            found = list(folder.shards_from(number, shard))
        assert [path.name for *_, path in found] == [f"{i:05d}-{s:06d}.jsonl" for i, s, _ in found]
        return [(i, s) for i, s, _ in found]

    assert numbers(0, 0) == [(0, 0), (0, 1), (0, 2), (2, 0)]
    assert numbers(0, 2) == [(0, 2), (2, 0)]
    assert numbers(2, 1) == []
    (out / "00000-000001.jsonl").unlink()
    assert numbers(0, 0) == [(0, 0)]


# damage


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_a_damaged_file_is_told_and_mended(out, source, tmp_path, monkeypatch, step) -> None:
    """A bit of every byte, or every few, of what is recorded: never a traceback, and in the end the
    same output."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    other = write_jsonl(tmp_path / "other.jsonl", 4)
    run(out, source, other)
    before = files(out)
    bits = random.Random(0)
    for name in (RUN, "_00000.json", "_00000-000001.json"):
        data = before[name]
        for place in range(0, len(data), step):
            changed = bytearray(data)
            changed[place] ^= 1 << bits.randrange(8)
            (out / name).write_bytes(changed)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                run(out, source, other)
            if caught:
                assert f"{out} has damaged records ({name})" in str(caught[0].message)
                assert files(out) == before
            else:
                # Other blanks mean the same; without its end a line is that of a killed run.
                assert data[place : place + 1] in (b" ", b"\n")
                (out / name).write_bytes(data)


@pytest.mark.parametrize(
    ("name", "made"),
    [
        # the settings: what was sealed with them stays
        (RUN, []),
        # an input: its documents are read again and found to be the same
        ("_00000.json", []),
        ("_00000-000000.json", ["00000-000000.jsonl"]),
        ("_00000-000002.json", ["00000-000002.jsonl"]),
    ],
)
def test_what_a_damaged_file_costs(out, source, name, made) -> None:
    before = files(out)
    (out / name).write_bytes(before[name].replace(b'"', b"'", 3))
    with pytest.warns(UserWarning, match=rf"damaged records \({name}\)"):
        assert run(out, source) == made
    assert files(out) == before


def test_without_the_settings_other_settings_keep_nothing(out, source) -> None:
    (out / RUN).write_bytes(b"{\n")
    named = (
        r"\(_run.json, _00000-000000.json, _00000-000001.json, _00000-000002.json, _00000.json\)"
    )
    with pytest.warns(UserWarning, match=named):
        assert len(run(out, source, cache=True)) == 3


@pytest.mark.parametrize("text", ["my own notes\n", "notes", "[]\n", '{"settings": 1}\n'])
def test_a_file_that_is_not_of_a_run_is_left_alone(tmp_path, source, text) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / RUN).write_text(text)
    with pytest.raises(AngelError, match="no annotation to continue"):
        run(tmp_path / "out", source)
    assert (tmp_path / "out" / RUN).read_text() == text


@pytest.mark.parametrize("length", [0, 1, 5, 40])
def test_a_run_that_was_killed_in_its_first_moment(out, source, length) -> None:
    before = files(out)
    for path in out.iterdir():
        path.unlink()
    (out / RUN).write_bytes(before[RUN][:length])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(run(out, source)) == 3
    assert files(out) == before


def test_the_manifest_has_the_notes_of_an_input(tmp_path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"doc_id": "1", "text": "Gout."}\n{"doc_id": "2"}\n')
    run(tmp_path / "out", source)
    [entry] = manifest(tmp_path / "out")["inputs"]
    assert entry["counts"]["documents_left_out"] == 1
    [note] = entry["notes"]
    assert "line 2" in note


@pytest.mark.parametrize("damage", [b"", b"x" * 10, None])
def test_a_shard_that_is_gone_or_cut_is_made_anew(out, source, damage) -> None:
    before = files(out)
    shard = out / "00000-000001.jsonl"
    if damage is None:
        shard.unlink()
    else:
        shard.write_bytes(damage)
    assert run(out, source) == [shard.name]
    assert files(out) == before


# inputs


def test_a_copy_is_another_input(out, source, tmp_path) -> None:
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(source.read_bytes())
    assert len(run(out, source, copy)) == 3
    assert manifest(out)["counts"]["documents"] == 50
    assert manifest(out)["duplicates"] == []
    assert run(out, copy, source) == []


@pytest.mark.parametrize(("name", "made"), [("in.jsonl", 0), ("renamed.jsonl", 3)])
def test_an_input_that_was_moved(out, source, tmp_path, name, made) -> None:
    """Documents may be named by their file, so under another name they are others."""
    moved = tmp_path / "elsewhere" / name
    moved.parent.mkdir()
    source.rename(moved)
    assert len(run(out, moved)) == made
    duplicates = [] if made else [{"name": str(moved), "same_as": str(source)}]
    assert manifest(out)["duplicates"] == duplicates


def test_one_file_under_two_paths_is_the_same_input(out, source, tmp_path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    assert run(out, tmp_path / "link/in.jsonl") == []
    # where both are given, both are
    assert len(run(out, tmp_path / "link/in.jsonl", source)) == 3


def test_a_folder_of_one_text_is_known_by_the_name_of_the_text(tmp_path) -> None:
    folder, out = tmp_path / "notes", tmp_path / "out"
    folder.mkdir()
    (folder / "ann.txt").write_text("migraine")
    assert len(run(out, folder)) == 1
    (folder / "ann.txt").rename(folder / "bob.txt")
    with pytest.raises(AngelError, match="has changed since"):
        run(out, folder)


@pytest.mark.parametrize("strict", [False, True])
def test_a_broken_input_may_be_fetched_anew(tmp_path, source, strict) -> None:
    out, packed = tmp_path / "out", tmp_path / "in.jsonl.gz"
    whole = gzip.compress(source.read_bytes())
    packed.write_bytes(whole[: len(whole) * 3 // 4])
    if strict:
        with pytest.raises(AngelError, match="is cut or damaged"):
            run(out, packed, strict=True)
        first = sorted(path.name for path in out.glob("*.jsonl"))
    else:
        first = run(out, packed)
        assert manifest(out)["finished"] is False
        assert "is cut or damaged" in manifest(out)["inputs"][0]["error"]
    packed.write_bytes(whole)
    second = run(out, packed)
    # the shards that were whole stay
    assert set(first) & set(second) == {first[-1]}
    run(tmp_path / "whole", packed)
    assert files(out) == files(tmp_path / "whole")


# what changes while it is read


def changed_by(
    tmp_path: Path, change: Callable[[Path], object], strict: bool = False, after: int = 1
) -> tuple[Path, Path]:
    """Change an input of 25 documents after a shard. RETURNS (tuple[Path, Path]): output, input."""
    out, source = tmp_path / "out", write_jsonl(tmp_path / "in.jsonl", 25)
    run(out, source, strict=strict, after_shard=lambda n: n == after and change(source))
    return out, source


def append(source: Path) -> None:
    with open(source, "a") as file:
        file.write('{"doc_id": "d25", "text": "migraine"}\n')


def shorten(source: Path) -> None:
    source.write_text("".join(source.read_text().splitlines(keepends=True)[:15]))


def rewrite(source: Path) -> None:
    text = source.read_text()
    state = source.stat()
    source.write_text(text.replace("history", "History"))
    os.utime(source, ns=(state.st_atime_ns, state.st_mtime_ns))


@pytest.mark.parametrize("after", [1, 3])
@pytest.mark.parametrize("change", [append, shorten, rewrite, Path.unlink])
def test_an_input_that_changes_is_told(tmp_path, change, after) -> None:
    out, source = changed_by(tmp_path, change, after=after)
    values = manifest(out)
    assert (values["finished"], values["complete"]) == (False, False)
    assert f"{source} has changed since this run started" in values["inputs"][0]["error"]
    if source.exists():
        run(out, source)
        assert manifest(out)["complete"] is True
        run(tmp_path / "whole", source)
        assert files(out) == files(tmp_path / "whole")


def test_an_input_that_changes_stops_a_strict_run(tmp_path) -> None:
    with pytest.raises(AngelError, match="has changed since this run started"):
        changed_by(tmp_path, append, strict=True)


def test_an_input_that_is_touched_is_the_same(tmp_path) -> None:
    out, _ = changed_by(tmp_path, lambda source: os.utime(source))
    assert manifest(out)["inputs"][0]["error"] is None


def test_an_input_that_changes_after_its_end_is_told(tmp_path) -> None:
    out, source = tmp_path / "out", write_jsonl(tmp_path / "in.jsonl", 5)
    with OutputFolder(out, SETTINGS, {}) as folder:
        plan = Plan(plan_inputs([source]), folder, 10, False, {})
        assert len(list(plan.jobs())) == 1
        append(source)
        plan.check_inputs()
        folder.write_manifest(was_read=plan.was_read)
    assert "has changed" in manifest(out)["inputs"][0]["error"]


# disks that refuse


@pytest.fixture
def read_only(monkeypatch) -> None:
    """Let no file be opened for writing, as on a disk that can only be read."""
    real = open

    def refusing(path, mode="r", *args, **keywords):
        if set(mode) & set("wax+"):
            raise OSError(errno.EROFS, "Read-only file system", str(path))
        return real(path, mode, *args, **keywords)

    for place in (module, __import__("spacy_angel.files.atomic", fromlist=["x"])):
        monkeypatch.setattr(place, "open", refusing, raising=False)


def test_a_finished_output_needs_no_writing(out, source, read_only) -> None:
    before = files(out)
    assert run(out, source) == []
    assert files(out) == before


def test_a_disk_that_can_only_be_read(out, source, tmp_path, read_only) -> None:
    more = write_jsonl(tmp_path / "more.jsonl", 4)
    with pytest.raises(AngelError) as caught:
        run(out, source, more)
    message = str(caught.value)
    assert f"{out} cannot be written: Read-only file system. The disk can only be read" in message
    assert "Errno" not in message
    with pytest.raises(AngelError, match="cannot be written: Read-only file system"):
        run(tmp_path / "new", source)


def test_a_file_where_the_output_should_be(source, tmp_path) -> None:
    (tmp_path / "out").write_text("x")
    with pytest.raises(AngelError, match="A file stands where a folder was expected"):
        run(tmp_path / "out", source)


def test_an_input_that_cannot_be_read(source, tmp_path, monkeypatch) -> None:
    from spacy_angel.annotation import plan

    def refuse(_) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(plan, "fingerprint", refuse)
    with pytest.raises(AngelError, match=r"in.jsonl cannot be read: Permission denied"):
        run(tmp_path / "out", source)


# old outputs


@pytest.mark.parametrize(
    "names", [("_journal.jsonl", MANIFEST), ("journal.jsonl", "manifest.json")]
)
def test_of_an_old_output_the_shards_are_read(tmp_path, source, names) -> None:
    """It is no longer continued."""
    old = tmp_path / "old"
    old.mkdir()
    write_jsonl(old / "00000-000000.jsonl", 4)
    for name in names:
        (old / name).write_text("{}\n")
    (shard,) = plan_inputs([old])
    assert shard.paths == (old / "00000-000000.jsonl",)
    with pytest.raises(AngelError, match="no annotation to continue"):
        run(old, source)


# what is left behind


def test_a_worker_that_is_killed_leaves_nothing(tmp_path) -> None:
    with OutputFolder(tmp_path, SETTINGS, {}):
        (tmp_path / ".00000-000000.jsonl.0.new").write_text("half")
    assert sorted(path.name for path in tmp_path.iterdir()) == [RUN]
