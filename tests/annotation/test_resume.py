"""Runs that are interrupted, killed or continued, and inputs that changed meanwhile."""

import errno
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from annotation.conftest import files, rows, shard_files, times
from support.helpers import ROOT
from support.tiny_annotation import write_jsonl
from typer.testing import CliRunner

from spacy_angel.annotation import stores
from spacy_angel.annotation.folder import MANIFEST, RUN, OutputFolder, open_output
from spacy_angel.annotation.run import annotate
from spacy_angel.cli.app import app
from spacy_angel.errors import AngelError

POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals and locks")


@pytest.fixture
def out(pipeline, source, tmp_path):
    """A finished output of three shards."""
    annotate(source, pipeline, output=tmp_path / "out", shard_size=10)
    return tmp_path / "out"


def fill_disk(monkeypatch, at):
    """Simulate a disk that is full in the middle of the file `at`."""
    write = stores._write_durably

    def failing(path, data):
        if path.name == at:
            path.with_name(f".{at}.0.new").write_bytes(data[:10])
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, data)

    monkeypatch.setattr(stores, "_write_durably", failing)


@pytest.mark.parametrize(
    ("at", "there"),
    [("_00000-000001.json", 2), ("00000-000002.jsonl", 2), ("_00000.json", 0), (MANIFEST, 3)],
)
def test_a_full_disk_ends_in_the_same_files(
    pipeline, source, out, tmp_path, monkeypatch, at, there
):
    other = tmp_path / "other"
    with monkeypatch.context() as patch:
        fill_disk(patch, at)
        with pytest.raises(AngelError, match="No space left on device"):
            annotate(source, pipeline, output=other, shard_size=10)
    assert len(shard_files(other)) == there
    if at != MANIFEST:
        assert json.loads((other / MANIFEST).read_bytes())["finished"] is False
    annotate(source, pipeline, output=other, shard_size=10)
    assert files(other) == files(out)


# Runs its arguments; a shell may have begun the tests in the background, where signals are ignored.
HEARING = """
import os, signal, sys
for number in (signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
"""


@POSIX
@pytest.mark.slow
@pytest.mark.parametrize("how", ["SIGKILL", "SIGINT", "SIGHUP"])
def test_a_killed_run_leaves_no_process_and_goes_on(pipeline, tmp_path, how):
    source = write_jsonl(tmp_path / "many.jsonl", 400)
    whole, out = tmp_path / "whole", tmp_path / "out"
    annotate(source, pipeline, output=whole, shard_size=20)
    command = [sys.executable, "-m", "spacy_angel", "annotate", source, "-o", out]
    command += ["--pipeline", pipeline, "--shard-size", "20", "--workers", "2"]
    process = subprocess.Popen(
        [sys.executable, "-c", HEARING, *map(str, command)],
        cwd=ROOT,
        start_new_session=True,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not shard_files(out):
        assert process.poll() is None
        time.sleep(0.05)
    if how == "SIGINT":
        # Ctrl-C reaches everything that the terminal runs.
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.send_signal(getattr(signal, how))
    _, said = process.communicate()
    assert process.returncode == (-signal.SIGKILL if how == "SIGKILL" else 130)
    with suppress(ProcessLookupError):
        while True:  # until all processes have ended
            os.killpg(process.pid, 0)
            time.sleep(0.1)
    if how != "SIGKILL":
        assert json.loads((out / MANIFEST).read_text("utf8"))["complete"] is False
        assert not list(out.glob(".*"))
        assert "Run the same command again to continue" in said
    assert len(shard_files(out)) < 20
    annotate(source, pipeline, output=out, shard_size=20, workers=2)
    assert files(out) == files(whole)


@pytest.mark.slow
def test_a_script_without_a_main_guard_gets_an_error(pipeline, source, tmp_path):
    arguments = f"{str(source)!r}, {str(pipeline)!r}, output='out', workers=2"
    script = tmp_path / "script.py"
    script.write_text(f"import spacy_angel\nspacy_angel.annotate({arguments})")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, script.name]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert 'inside of `if __name__ == "__main__":`' in done.stderr


def test_a_finished_run_does_nothing_and_takes_new_inputs(pipeline, source, out, tmp_path):
    before = times(out), files(out)
    annotate(source, pipeline, output=out, shard_size=10)
    assert (times(out), files(out)) == before
    more = write_jsonl(tmp_path / "more.jsonl", 4)
    manifest = annotate([more, source], pipeline, output=out, shard_size=10)
    assert manifest["counts"]["documents"] == 29
    assert times(out).items() >= before[0].items()
    # Earlier inputs need not be given again.
    last = write_jsonl(tmp_path / "last.jsonl", 1)
    manifest = annotate(last, pipeline, output=out, shard_size=10)
    assert (manifest["complete"], manifest["counts"]["documents"]) == (True, 30)


def test_a_copy_is_annotated_and_a_path_given_twice_only_once(pipeline, tmp_path, monkeypatch):
    """Two patients' notes may hold the same words: each is in the output under its own name."""
    notes = [tmp_path / "ann.txt", tmp_path / "bob.txt"]
    for note in notes:
        note.write_text("history of migraine")
    monkeypatch.chdir(tmp_path)
    manifest = annotate([*notes, "ann.txt"], pipeline, output=tmp_path / "out")
    assert [row["doc_id"] for row in rows(tmp_path / "out")] == ["ann", "bob"]
    assert manifest["complete"] is True
    # One after the other, they give the same.
    annotate(notes[0], pipeline, output=tmp_path / "2")
    annotate(notes[1], pipeline, output=tmp_path / "2")
    assert files(tmp_path / "2") == files(tmp_path / "out")


def test_complete_means_every_input_that_was_begun(pipeline, source, tmp_path, monkeypatch):
    out, other = tmp_path / "out", write_jsonl(tmp_path / "other.jsonl", 4)
    with monkeypatch.context() as patch:
        fill_disk(patch, "00000-000001.jsonl")
        with pytest.raises(AngelError, match="No space left"):
            annotate(source, pipeline, output=out, shard_size=10)
    command = ["annotate", str(other), "-o", str(out), "--pipeline", str(pipeline)]
    done = CliRunner().invoke(app, [*command, "--shard-size", "10"])
    assert done.exit_code == 1
    assert "run the same command again, with all inputs" in done.stderr
    manifest = annotate([source, other], pipeline, output=out, shard_size=10)
    assert (manifest["complete"], manifest["counts"]["documents"]) == (True, 29)


def test_what_is_missing_or_damaged_is_done_again(pipeline, source, out):
    before = files(out)
    damaged = [None, b"", b'{"input": "x"}']
    for name, content in zip(["_00000.json", "_00000-000001.json"] * 3, damaged * 2, strict=True):
        (out / name).unlink()
        (out / "00000-000002.jsonl").unlink()
        if content is not None:
            (out / name).write_bytes(content)
        assert annotate(source, pipeline, output=out, shard_size=10)["complete"] is True
        assert files(out) == before
    (out / RUN).write_bytes(b"{")
    with pytest.raises(AngelError, match=r"_run\.json is damaged"):
        annotate(source, pipeline, output=out, shard_size=10)


def test_verify_finds_a_changed_byte_and_what_is_missing(out, tmp_path):
    def verify(folder):
        done = CliRunner().invoke(app, ["annotate", "--verify", str(folder)])
        return done.exit_code, done.stdout + done.stderr

    code, said = verify(out)
    assert (code, said.startswith("3 shards are unchanged")) == (0, True)
    shard = out / "00000-000001.jsonl"
    shard.write_bytes(shard.read_bytes().replace(b"history", b"History", 1))
    code, said = verify(out)
    assert code == 1
    assert "00000-000001.jsonl has changed" in said
    shard.rename(out / "00000-000009.jsonl")
    code, said = verify(out)
    assert (code, said.count(", is missing, or is not in the manifest")) == (1, 2)
    assert "is not a finished output of `annotate`" in verify(tmp_path)[1]
    assert "annotate needs at least one input" in CliRunner().invoke(app, ["annotate"]).stderr


def test_a_finished_input_that_changed_is_refused(pipeline, source, out):
    before = files(out)
    source.write_text('{"text": "other"}\n')
    with pytest.raises(AngelError, match="has changed since"):
        annotate(source, pipeline, output=out, shard_size=10)
    del before[MANIFEST]
    assert files(out).items() >= before.items()


def append(source):
    with open(source, "a") as file:
        file.write('{"doc_id": "d25", "text": "migraine"}\n')


def shorten(source):
    source.write_text("".join(source.read_text().splitlines(keepends=True)[:15]))


def rewrite(source):
    text = source.read_text()
    state = source.stat()
    source.write_text(text.replace("history", "History"))
    os.utime(source, ns=(state.st_atime_ns, state.st_mtime_ns))


@pytest.mark.parametrize("change", [append, shorten, rewrite, Path.unlink])
def test_an_input_that_changes_while_it_is_read(pipeline, source, tmp_path, monkeypatch, change):
    out, settings = tmp_path / "out", {"shard_size": 10}
    changes, write = [change], OutputFolder.write_shard

    def write_shard(folder, *content):
        write(folder, *content)
        if changes:
            changes.pop()(source)

    monkeypatch.setattr(OutputFolder, "write_shard", write_shard)
    manifest = annotate(source, pipeline, output=out, **settings)
    assert (manifest["finished"], manifest["complete"]) == (False, False)
    assert f"{source} has changed while it was read" in manifest["inputs"][0]["error"]
    if source.exists():
        assert annotate(source, pipeline, output=out, **settings)["complete"] is True
        annotate(source, pipeline, output=tmp_path / "whole", **settings)
        assert files(out) == files(tmp_path / "whole")


def test_a_broken_input_can_be_fetched_anew(pipeline, tmp_path, source):
    out, packed = tmp_path / "out", tmp_path / "in.jsonl.gz"
    whole = gzip.compress(source.read_bytes())
    packed.write_bytes(whole[:-20])
    arguments = {"output": out, "shard_size": 5}
    manifest = annotate(packed, pipeline, **arguments)
    assert manifest["finished"] is False
    assert "is cut or damaged" in manifest["inputs"][0]["error"]
    before = files(out)
    annotate(packed, pipeline, **arguments)
    assert files(out) == before
    packed.write_bytes(whole)
    annotate(packed, pipeline, **arguments)
    annotate(packed, pipeline, output=tmp_path / "whole", shard_size=5)
    assert files(out) == files(tmp_path / "whole")


@POSIX
def test_one_process_at_a_time(tmp_path):
    with (
        open_output(tmp_path / "out", {}),
        pytest.raises(AngelError, match="Another process"),
        open_output(tmp_path / "out", {}),
    ):
        pass
    with open_output(tmp_path / "out", {}):
        pass


def test_an_object_store_gets_the_same_shards(pipeline, source, out):
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    store.pipe("/bucket/in/in.jsonl", b"{\n" + source.read_bytes())

    def stored():
        names = store.ls("/bucket/out", detail=False)
        return {name.rsplit("/", 1)[1]: store.cat(name) for name in names}

    address = {"output": "memory://bucket/out", "shard_size": 10}
    manifest = annotate("memory://bucket/in", pipeline, **address)
    assert (manifest["finished"], manifest["counts"]["documents"]) == (True, 25)
    [entry] = manifest["inputs"]
    assert entry["name"] == "memory://bucket/in/in.jsonl"
    assert entry["notes"][0].startswith("memory://bucket/in/in.jsonl, line 1: ")
    found = stored()
    assert [*found] == [*files(out)]
    assert found.items() >= {path.name: path.read_bytes() for path in shard_files(out)}.items()
    # A second run only adds what is missing.
    store.rm("/bucket/out/00000-000001.jsonl")
    assert annotate("memory://bucket/in", pipeline, **address) == manifest
    assert stored() == found
