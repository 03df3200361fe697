"""Annotation of files: what comes out, interruptions, failures, every format there and back."""

import errno
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import spacy
import torch
from spacy.language import Language
from support.helpers import ROOT
from support.tiny_annotation import make_pipeline, write_jsonl
from typer.testing import CliRunner

import spacy_angel
from spacy_angel.annotation import run as run_module
from spacy_angel.annotation import shards as shards_module
from spacy_angel.annotation import workers
from spacy_angel.annotation.disk import writing
from spacy_angel.annotation.document_linker import DocumentLinker, LinkingSettings, open_linker
from spacy_angel.annotation.folder import RUN, OutputFolder
from spacy_angel.annotation.inputs import plan_inputs, read_input
from spacy_angel.annotation.records import Manifest
from spacy_angel.annotation.run import annotate
from spacy_angel.cli.app import app
from spacy_angel.component.probability import register_probability
from spacy_angel.corpora.documents import CorpusDocument, CorpusReport, GoldMention
from spacy_angel.errors import AngelError
from spacy_angel.pipelines.components import name_of
from spacy_angel.pipelines.open import open_pipeline
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept

torch.set_num_threads(1)

PUBTATOR = """\
1|t|Heart attack and aspirin
1|a|Then migraine.
1\t0\t12\tHeart attack\tDisease\tD000009
1\t17\t24\taspirin\tChemical\t-1
1\t0\t24\tHeart attack and aspirin\tBoth\t-1

2|t|A headache, not named
2|a|history of diabetes.

"""


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory) -> Path:
    return make_pipeline(tmp_path_factory.mktemp("annotation"))


@pytest.fixture(scope="module")
def document_linker(pipeline) -> DocumentLinker:
    return DocumentLinker(*open_pipeline(pipeline), LinkingSettings(candidates=True))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "in.jsonl", 25)


def shards(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("[0-9]*-*.*"))}


def rows(folder: Path) -> list[dict]:
    return [json.loads(line) for data in shards(folder).values() for line in data.splitlines()]


def test_the_shipped_pipeline_finds_and_links(tmp_path) -> None:
    source = tmp_path / "note.txt"
    source.write_text("After a myocardial infarction she was given aspirin.", "utf8")
    annotate(source, output=tmp_path / "out")
    (row,) = rows(tmp_path / "out")
    found = {mention["text"]: mention["concept_id"] for mention in row["mentions"]}
    assert found == {"myocardial infarction": "MESH:D009203", "aspirin": "MESH:D001241"}


# one document


def test_mentions_are_found_and_linked(document_linker) -> None:
    (result,) = document_linker([CorpusDocument("1", "the patient had heart attack. aspirin")])
    attack, aspirin = result.mentions
    assert (attack.start, attack.end, attack.text) == (16, 28, "heart attack")
    assert (attack.concept_id, attack.name) == ("MESH:D009203", "Myocardial Infarction")
    assert attack.score == round(attack.score, 4)
    best = attack.candidates[0]
    assert (best.concept_id, best.name, best.score) == (
        "MESH:D009203",
        "heart attack",
        attack.score,
    )
    assert aspirin.concept_id == "MESH:D001241"


def test_candidates_are_given_out_where_the_limits_leave_no_link(pipeline, document_linker) -> None:
    nlp, linker = open_pipeline(pipeline)
    linker.settings = linker.settings.changed(threshold=1.0)
    document = CorpusDocument("1", "the patient had heart attack.")
    (linked,) = document_linker([document])
    (nil,) = DocumentLinker(nlp, linker, LinkingSettings(candidates=True))([document])
    assert (nil.mentions[0].concept_id, nil.mentions[0].score) == ("", None)
    assert nil.mentions[0].candidates == linked.mentions[0].candidates != ()


def test_what_the_linker_leaves_out_is_not_given_out(pipeline) -> None:
    nlp, linker = open_pipeline(pipeline)
    linker.settings = linker.settings.changed(threshold=1.0, drop_unlinked_below=0.5)
    register_probability()

    @Language.component("doubtful")
    def doubtful(doc):
        for ent in doc.ents:
            ent._.mention_probability = 0.1 if ent.text == "aspirin" else 0.9
        return doc

    nlp.add_pipe("doubtful", before=name_of(nlp, linker))
    given = CorpusDocument("2", "aspirin", (GoldMention(0, 7, "aspirin"),))
    found, kept = DocumentLinker(nlp, linker)([CorpusDocument("1", "aspirin, migraine"), given])
    assert [m.text for m in found.mentions] == ["migraine"]
    # What is given stays, linked or not.
    assert [m.text for m in kept.mentions] == ["aspirin"]


def test_mentions_of_the_input_are_linked_overlapping_ones_too(document_linker) -> None:
    mentions = (
        GoldMention(0, 12, "Heart attack", "Disease", "MESH:D000009"),
        GoldMention(0, 24, "Heart attack and aspirin", "Both"),
        GoldMention(17, 24, "aspirin", "Drug", "", ("a", "b")),
    )
    document = CorpusDocument("1", "Heart attack and aspirin and migraine", mentions)
    (result,) = document_linker([document])
    assert [(m.start, m.end, m.label) for m in result.mentions] == [
        (0, 12, "Disease"),
        (0, 24, "Both"),
        (17, 24, "Drug"),
    ]
    # the pipeline's setting overwrites identifiers
    assert result.mentions[0].concept_id == "MESH:D009203"
    assert result.mentions[2].parts == ("a", "b")


@pytest.mark.parametrize(
    ("mentions", "expected"),
    [("auto", [["aspirin"], ["migraine"]]), ("input", [["aspirin"], []])],
)
def test_where_mentions_come_from(pipeline, mentions, expected) -> None:
    link = DocumentLinker(*open_pipeline(pipeline), LinkingSettings(mentions))
    given = CorpusDocument("1", "aspirin, migraine", (GoldMention(0, 7, "aspirin"),))
    results = link([given, CorpusDocument("2", "migraine")])
    assert [[m.text for m in result.mentions] for result in results] == expected


def test_identifiers_stay_where_the_pipeline_keeps_them(pipeline) -> None:
    nlp, linker = open_pipeline(pipeline)
    linker.settings = linker.settings.changed(overwrite=False)
    given = (GoldMention(0, 7, "aspirin", "", "MESH:D008687"), GoldMention(9, 17, "migraine"))
    (result,) = DocumentLinker(nlp, linker)([CorpusDocument("1", "aspirin, migraine", given)])
    assert [(m.concept_id, m.name) for m in result.mentions] == [
        ("MESH:D008687", "Metformin"),
        ("MESH:D008881", "Migraine Disorders"),
    ]
    assert result.mentions[0].score is None


def test_a_failing_document_costs_no_other(pipeline) -> None:
    nlp, linker = open_pipeline(pipeline)
    nlp.max_length = 40
    documents = [CorpusDocument(str(i), "migraine " * (9 if i == 3 else 1)) for i in range(7)]
    results = DocumentLinker(nlp, linker)(documents)
    assert [getattr(result, "reason", "")[:16] for result in results] == [
        *[""] * 3,
        "ValueError: [E08",
        *[""] * 3,
    ]
    with pytest.raises(AngelError, match="Document 3 failed"):
        DocumentLinker(nlp, linker)(documents, strict=True)


@pytest.mark.parametrize("batch_size", [64, 8, 1])
def test_whole_batches_that_fail_stop_the_run(pipeline, batch_size) -> None:
    nlp, linker = open_pipeline(pipeline)
    nlp.max_length = 8
    settings = LinkingSettings(batch_size=batch_size)
    bad = [CorpusDocument(str(i), "migraine again") for i in range(16)]
    with pytest.raises(AngelError, match="All of the last 16 documents failed"):
        DocumentLinker(nlp, linker, settings)(bad)
    link = DocumentLinker(nlp, linker, settings)
    good = [CorpusDocument("good", "migraine")]
    results = link(bad[:15]) + link(good) + link(bad[:15])
    assert [type(result).__name__ for result in results].count("Failure") == 30
    # shards smaller than that many are no way around
    with pytest.raises(AngelError, match="All of the last 16 documents failed"):
        link(bad[:1])


def test_the_cache_gives_the_same_and_searches_less(pipeline) -> None:
    documents = [CorpusDocument(str(i), "history of migraine. aspirin") for i in range(5)]
    nlp, linker = open_pipeline(pipeline)
    plain = DocumentLinker(nlp, linker)(documents)
    cached = DocumentLinker(nlp, linker, LinkingSettings(cache=True, batch_size=2))
    assert cached(documents) == plain
    assert (linker.search_cache.n_asked, linker.search_cache.n_searched) == (10, 2)
    cached(documents[:1])
    assert linker.search_cache.n_searched == 4  # forgotten between shards


def test_the_cache_keeps_subsets_apart(pipeline) -> None:
    nlp, linker = open_pipeline(pipeline)
    linker.kb.add(spacy_angel_concept())
    linker.settings = linker.settings.changed(types_by_label={"A": ("OTHER",), "B": ()})
    text, mention = "migraine", GoldMention(0, 8, "migraine", "A")
    documents = [
        CorpusDocument("1", text, (mention,)),
        CorpusDocument("2", text, (GoldMention(0, 8, "migraine", "B"),)),
    ]
    results = DocumentLinker(nlp, linker, LinkingSettings(cache=True, batch_size=1))(documents)
    assert [result.mentions[0].concept_id for result in results] == ["X:1", "MESH:D008881"]


def spacy_angel_concept():
    return Concept("X:1", "Something else", (), ("OTHER",))


# a run


def test_shards_and_manifest(pipeline, source, tmp_path) -> None:
    manifest = annotate(source, pipeline, output=tmp_path / "out", shard_size=10)
    files = shards(tmp_path / "out")
    assert list(files) == [f"00000-00000{i}.jsonl" for i in range(3)]
    assert [data.count(b"\n") for data in files.values()] == [10, 10, 5]
    assert [row["doc_id"] for row in rows(tmp_path / "out")] == [f"d{i}" for i in range(25)]
    assert manifest == json.loads((tmp_path / "out/_manifest.json").read_text("utf8"))
    assert manifest["complete"] is True
    counts = manifest["counts"]
    assert (counts["documents"], counts["failed"], counts["shards"]) == (25, 0, 3)
    assert counts["mentions"] == sum(len(row["mentions"]) for row in rows(tmp_path / "out"))
    (entry,) = manifest["inputs"]
    assert (entry["format"], entry["read_to_end"], entry["shards"]) == ("jsonl", True, 3)
    assert len(entry["sha256"]) == 64
    assert manifest["settings"]["shard_size"] == 10
    assert {"spacy-angel", "torch", "device"} <= set(manifest["versions"])


def test_a_finished_run_does_nothing_and_takes_new_inputs(pipeline, source, tmp_path) -> None:
    out = tmp_path / "out"
    first = annotate(source, pipeline, output=out, shard_size=10)
    before = {name: (out / name).stat().st_mtime_ns for name in shards(out)}
    assert annotate(source, pipeline, output=out, shard_size=10) == first
    more = write_jsonl(tmp_path / "more.jsonl", 4)
    manifest = annotate([source, more], pipeline, output=out, shard_size=10)
    assert manifest["counts"]["documents"] == 29
    assert {name: (out / name).stat().st_mtime_ns for name in before} == before


def test_a_copy_is_annotated_and_a_path_given_twice_only_once(
    pipeline, tmp_path, monkeypatch
) -> None:
    """Two patients' notes may hold the same words: each is in the output under its own name."""
    notes = [tmp_path / "ann.txt", tmp_path / "bob.txt"]
    for note in notes:
        note.write_text("history of migraine")
    monkeypatch.chdir(tmp_path)
    manifest = annotate([*notes, "ann.txt"], pipeline, output=tmp_path / "out")
    assert [row["doc_id"] for row in rows(tmp_path / "out")] == ["ann", "bob"]
    assert manifest["duplicates"] == [{"name": "ann.txt", "same_as": str(notes[0])}]
    assert manifest["complete"] is True
    # whether they come together or one after the other
    annotate(notes[0], pipeline, output=tmp_path / "2")
    annotate(notes[1], pipeline, output=tmp_path / "2")
    assert shards(tmp_path / "2") == shards(tmp_path / "out")


def test_an_input_that_was_moved_is_continued(pipeline, source, tmp_path, monkeypatch) -> None:
    whole, out = tmp_path / "whole", tmp_path / "out"
    annotate(source, pipeline, output=whole, shard_size=10)
    interrupt_after(monkeypatch, 1)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AngelError, match="No space left"):
        annotate("in.jsonl", pipeline, output=out, shard_size=10)
    monkeypatch.undo()
    manifest = annotate(source, pipeline, output=out, shard_size=10)
    assert shards(out) == shards(whole)
    assert manifest["complete"] is True
    assert manifest["duplicates"] == [{"name": str(source), "same_as": "in.jsonl"}]


def test_complete_means_every_input_that_was_begun(pipeline, source, tmp_path, monkeypatch) -> None:
    out, other = tmp_path / "out", write_jsonl(tmp_path / "other.jsonl", 4)
    interrupt_after(monkeypatch, 1)
    with pytest.raises(AngelError, match="No space left"):
        annotate(source, pipeline, output=out, shard_size=10)
    monkeypatch.undo()
    command = ["annotate", str(other), "-o", str(out), "--pipeline", str(pipeline)]
    done = CliRunner().invoke(app, [*command, "--shard-size", "10"])
    assert done.exit_code == 1
    assert "Something that was begun before is not done" in done.stderr
    assert json.loads((out / "_manifest.json").read_text("utf8"))["complete"] is False
    manifest = annotate([source, other], pipeline, output=out, shard_size=10)
    assert (manifest["complete"], manifest["counts"]["documents"]) == (True, 29)


def interrupt_after(monkeypatch, n: int) -> None:
    """Let the disk be full after n shards, in the middle of the next one."""
    write = shards_module.write_shard

    def failing(folder, data, record):
        if record.shard == n:
            (folder / f".{record.file}.0.new").write_bytes(data[:10])
            with writing(folder):
                raise OSError(28, "No space left on device")
        return write(folder, data, record)

    monkeypatch.setattr(shards_module, "write_shard", failing)


@pytest.mark.parametrize("after", [0, 1, 2])
def test_an_interrupted_run_ends_with_the_same_files(
    pipeline, source, tmp_path, monkeypatch, after
) -> None:
    whole, out = tmp_path / "whole", tmp_path / "out"
    annotate(source, pipeline, output=whole, shard_size=10)
    interrupt_after(monkeypatch, after)
    with pytest.raises(AngelError, match="No space left"):
        annotate(source, pipeline, output=out, shard_size=10)
    assert len(shards(out)) == after
    assert json.loads((out / "_manifest.json").read_text("utf8"))["complete"] is False
    monkeypatch.undo()
    annotate(source, pipeline, output=out, shard_size=10)
    assert shards(out) == shards(whole)
    assert (out / "_manifest.json").read_bytes() == (whole / "_manifest.json").read_bytes()
    assert not list(out.glob(".*"))


def interrupt_in_batch(monkeypatch, n: int) -> list[int]:
    """Let Ctrl-C come in the n-th batch that is linked, from 1. RETURNS (list[int]): gets the
    number of documents of each batch that was linked."""
    linked: list[int] = []
    batch_of = DocumentLinker._batch

    def interrupted(self, documents, strict):
        if len(linked) == n - 1:
            raise KeyboardInterrupt
        linked.append(len(documents))
        return batch_of(self, documents, strict)

    monkeypatch.setattr(DocumentLinker, "_batch", interrupted)
    return linked


def test_finished_batches_of_a_shard_are_kept(pipeline, source, tmp_path, monkeypatch) -> None:
    """However often it is interrupted, each batch is linked once, and the output is the same."""
    whole, out = tmp_path / "whole", tmp_path / "out"
    settings = {"shard_size": 10, "batch_size": 4}
    annotate(source, pipeline, output=whole, **settings)
    command = ["annotate", str(source), "-o", str(out), "--pipeline", str(pipeline)]
    command += ["--shard-size", "10", "--batch-size", "4"]
    linked = []
    for number, kept in ((3, "0 documents in whole shards and 8 of"), (3, "10 documents in whole")):
        with monkeypatch.context() as patch:
            linked.append(interrupt_in_batch(patch, number))
            stopped = CliRunner().invoke(app, command)
        assert stopped.exit_code == 130
        assert f"Interrupted. {kept}" in stopped.stderr
        assert "the same command" in stopped.stderr
        assert not [path for path in out.iterdir() if path.name.endswith(".new")]
    with monkeypatch.context() as patch:
        linked.append(interrupt_in_batch(patch, 99))
        assert CliRunner().invoke(app, command).exit_code == 0
    assert linked == [[4, 4], [2, 4], [4, 2, 4, 1]]
    assert shards(out) == shards(whole)
    assert sorted(path.name for path in out.iterdir()) == sorted(p.name for p in whole.iterdir())
    assert (out / "_manifest.json").read_bytes() == (whole / "_manifest.json").read_bytes()


def test_with_a_cache_a_shard_is_begun_anew(pipeline, source, tmp_path, monkeypatch) -> None:
    """What a batch finds in it depends on the batches before."""
    settings = {"shard_size": 10, "batch_size": 4, "cache": True}
    with monkeypatch.context() as patch:
        interrupt_in_batch(patch, 3)
        with pytest.raises(KeyboardInterrupt):
            annotate(source, pipeline, output=tmp_path / "out", **settings)
    with monkeypatch.context() as patch:
        linked = interrupt_in_batch(patch, 99)
        annotate(source, pipeline, output=tmp_path / "out", **settings)
    assert linked == [4, 4, 2, 4, 4, 2, 4, 1]


def test_a_record_cut_anywhere_is_continued(pipeline, source, tmp_path, monkeypatch) -> None:
    out = tmp_path / "out"
    annotate(source, pipeline, output=out, shard_size=10)
    files, record = shards(out), (out / RUN).read_bytes()
    opened = []
    begin = workers.ShardWorker.__init__
    monkeypatch.setattr(
        workers.ShardWorker, "__init__", lambda *args: (opened.append(1), begin(*args))[1]
    )
    for at in (0, 5, len(record) // 2, len(record) - 1):
        (out / RUN).write_bytes(record[:at])
        annotate(source, pipeline, output=out, shard_size=10)
        assert shards(out) == files
    os.remove(out / "00000-000001.jsonl")
    annotate(source, pipeline, output=out, shard_size=10)
    assert shards(out) == files
    assert len(opened) == 5


@pytest.mark.slow
def test_two_processes_give_the_same_as_one(pipeline, source, tmp_path) -> None:
    annotate(source, pipeline, output=tmp_path / "one", shard_size=5)
    annotate(source, pipeline, output=tmp_path / "two", shard_size=5, workers=2)
    assert shards(tmp_path / "one") == shards(tmp_path / "two")
    manifests = [(tmp_path / name / "_manifest.json").read_bytes() for name in ("one", "two")]
    assert manifests[0] == manifests[1]


def run_script(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    (folder / "script.py").write_text(code, "utf8")
    return subprocess.run(
        [sys.executable, "script.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_a_script_whose_workers_would_begin_runs_is_told(pipeline, source, tmp_path) -> None:
    arguments = f"{str(source)!r}, {str(pipeline)!r}, output='out', workers=2"
    done = run_script(tmp_path, f"import spacy_angel\nspacy_angel.annotate({arguments})")
    assert done.returncode != 0
    assert "guard the script with __main__" in done.stderr


# Runs its arguments; a shell may have begun the tests in the background, where signals are ignored.
HEARING = """
import os, signal, sys
for number in (signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.mark.skipif(os.name != "posix", reason="processes get signals")
@pytest.mark.slow
@pytest.mark.parametrize("how", ["SIGKILL", "SIGINT", "SIGHUP"])
def test_a_killed_run_leaves_no_process_and_goes_on(pipeline, tmp_path, how) -> None:
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
    end = time.monotonic() + 120
    while not shards(out) and time.monotonic() < end:
        assert process.poll() is None
        time.sleep(0.05)
    if how == "SIGINT":
        # as Ctrl-C reaches everything that the terminal runs
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.send_signal(getattr(signal, how))
    _, said = process.communicate()
    assert process.returncode == (-signal.SIGKILL if how == "SIGKILL" else 130)
    while time.monotonic() < end:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            break
        time.sleep(0.1)
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    if how != "SIGKILL":
        assert json.loads((out / "_manifest.json").read_text("utf8"))["complete"] is False
        assert not list(out.glob(".*"))
        assert "the same command, and it goes on from there" in said
    assert len(shards(out)) < 20
    annotate(source, pipeline, output=out, shard_size=20, workers=2)
    assert shards(out) == shards(whole)


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="reads Linux' memory maps")
def test_the_vocabulary_is_shared_by_all_processes(pipeline) -> None:
    """Mapped from its files, and no page copied by reading from it."""
    link = open_linker(str(pipeline), None, LinkingSettings())
    assert link([CorpusDocument("1", "the patient had heart attack. aspirin")])[0].mentions
    # A page that was just written counts as copied until it is on the disk.
    os.sync()
    folder = pipeline / "angel_linker/kb"
    entries = re.split(r"\n(?=[0-9a-f]+-[0-9a-f]+ )", Path("/proc/self/smaps").read_text())
    copied = {
        entry.partition("\n")[0].split(maxsplit=5)[-1].strip(): sum(
            int(kb) for kb in re.findall(r"Private_Dirty: +(\d+) kB", entry)
        )
        for entry in entries
        if f" {folder}/" in entry.partition("\n")[0]
    }
    wanted = {"name_data", "spelling_data", "id_hash", "token", "first_child", "leaf_begin"}
    assert wanted <= {Path(path).stem for path in copied}
    assert set(copied.values()) == {0}


def test_what_does_not_fit_is_refused(pipeline, source, tmp_path) -> None:
    out = tmp_path / "out"
    annotate(source, pipeline, output=out, shard_size=10)
    with pytest.raises(AngelError, match=r"other settings \(different: candidates, shard_size\)"):
        annotate(source, pipeline, output=out, candidates=True)
    source.write_text('{"text": "other"}\n')
    with pytest.raises(AngelError, match="has changed since"):
        annotate(source, pipeline, output=out, shard_size=10)
    with pytest.raises(AngelError, match="other files"):
        annotate(source, pipeline, output=tmp_path)
    with pytest.raises(AngelError, match="shard_size must be a whole number from 1, not 0"):
        annotate(source, pipeline, output=tmp_path / "x", shard_size=0)
    with pytest.raises(AngelError, match="There is no output format 'xls'"):
        annotate(source, pipeline, output=tmp_path / "x", output_format="xls")
    with pytest.raises(AngelError, match="mentions must be one of"):
        annotate(source, pipeline, output=tmp_path / "x", mentions="all")
    with pytest.raises(AngelError, match="need --ray"):
        annotate("s3://bucket/in", pipeline, output="s3://bucket/out")
    assert not (tmp_path / "x").exists()


def test_another_version_is_told(pipeline, source, tmp_path, monkeypatch) -> None:
    annotate(source, pipeline, output=tmp_path / "out")
    monkeypatch.setattr(run_module, "versions", lambda device: {"torch": "0"})
    with pytest.warns(UserWarning, match="is continued with"):
        annotate(source, pipeline, output=tmp_path / "out")


@pytest.mark.skipif(sys.platform == "win32", reason="no such locks there")
def test_one_process_at_a_time(pipeline, source, tmp_path) -> None:
    with OutputFolder(tmp_path / "out", {}, {}), pytest.raises(AngelError, match="Another process"):
        OutputFolder(tmp_path / "out", {}, {})
    OutputFolder(tmp_path / "out", {}, {}).close()


@pytest.mark.skipif(sys.platform == "win32", reason="no such locks there")
def test_a_disk_without_locks_is_no_hindrance(tmp_path, monkeypatch) -> None:
    import fcntl

    def refuse(*_) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with OutputFolder(tmp_path / "out", {}, {}):
        pass
    assert len((tmp_path / "out" / RUN).read_text().splitlines()) == 1


def test_a_broken_input_costs_what_is_broken(pipeline, source, tmp_path) -> None:
    broken = tmp_path / "broken.xml"
    article = "<PubmedArticle><MedlineCitation><PMID>{}</PMID><Article><ArticleTitle>migraine"
    article += "</ArticleTitle></Article></MedlineCitation></PubmedArticle>\n"
    text = "<PubmedArticleSet>\n" + "".join(article.format(i) for i in range(5))
    broken.write_text(text + "<Pubmed")
    out = tmp_path / "out"
    manifest = annotate([broken, source], pipeline, output=out)
    assert manifest["counts"]["documents"] == 30
    assert manifest["complete"] is False
    assert "line 7: the XML is broken or cut" in manifest["inputs"][0]["error"]
    assert manifest["inputs"][1]["error"] is None
    with pytest.raises(AngelError, match="broken or cut"):
        annotate([broken, source], pipeline, output=tmp_path / "strict", strict=True)


def test_faults_and_failures_are_recorded(pipeline, tmp_path) -> None:
    source = tmp_path / "in.jsonl"
    lines = ['{"id": 1, "text": "aspirin"}', "{", '{"id": "2|3", "text": "migraine"}']
    source.write_text("\n".join(lines), "utf8")
    manifest = annotate(source, pipeline, output=tmp_path / "out", output_format="pubtator")
    assert manifest["counts"]["documents"] == 1
    assert manifest["inputs"][0]["counts"]["documents_left_out"] == 1
    assert "in.jsonl, line 2" in manifest["inputs"][0]["notes"][0]
    (failure,) = manifest["failures"]
    assert failure["doc_id"] == "2|3"
    assert "PubTator" in failure["reason"]
    with pytest.raises(AngelError, match="line 2"):
        annotate(source, pipeline, output=tmp_path / "strict", strict=True)


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes there")
@pytest.mark.parametrize("format", ["jsonl", "parquet", "bioc_json", "docbin", "pubtator"])
def test_a_name_that_is_no_text_costs_one_document(pipeline, tmp_path, format) -> None:
    if format == "parquet":
        pytest.importorskip("pyarrow")
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text("aspirin")
    (folder / os.fsdecode(b"b\xff.txt")).write_text("migraine")
    out = tmp_path / "out"
    manifest = annotate(folder, pipeline, output=out, output_format=format)
    assert manifest["counts"]["documents"] == 1
    (failure,) = json.loads((out / "_manifest.json").read_text("utf8"))["failures"]
    assert (failure["doc_id"], failure["reason"][:18]) == ("b\udcff", "UnicodeEncodeError")
    with pytest.raises(AngelError, match="failed: UnicodeEncodeError"):
        annotate(folder, pipeline, output=tmp_path / "2", output_format=format, strict=True)


def test_a_loaded_pipeline_and_the_function_of_the_package(pipeline, source, tmp_path) -> None:
    nlp = spacy.load(pipeline)
    settings = {"output": tmp_path / "out", "shard_size": 10}
    first = spacy_angel.annotate(source, nlp, **settings)
    nlp("words that its vocab has not met")
    assert spacy_angel.annotate(source, nlp, **settings) == first
    annotate(source, pipeline, output=tmp_path / "folder", shard_size=10)
    assert shards(tmp_path / "out") == shards(tmp_path / "folder")


def test_the_command_line(pipeline, source, tmp_path) -> None:
    out = tmp_path / "out"
    command = ["annotate", str(source), "-o", str(out), "--pipeline", str(pipeline)]
    done = CliRunner().invoke(app, [*command, "--candidates", "--cache", "--shard-size", "10"])
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("1 inputs, 3 shards, 25 read, 25 documents")
    assert rows(out)[0]["mentions"][0]["candidates"]
    failed = CliRunner().invoke(app, [*command, "--shard-size", "11"])
    assert failed.exit_code == 1
    assert "Error: " in failed.stderr
    assert "has other settings" in failed.stderr


def test_documents_that_are_missing_are_told(pipeline, tmp_path) -> None:
    """A document that a format cannot hold, and one that is none."""
    source, out = tmp_path / "in.jsonl", tmp_path / "out"
    source.write_text('{"id": "1|2", "text": "aspirin"}\n{\n{"id": 3, "text": "migraine"}\n')
    command = ["annotate", str(source), "-o", str(out), "--pipeline", str(pipeline)]
    done = CliRunner().invoke(app, [*command, "--to", "pubtator"])
    assert done.exit_code == 3
    assert "1 failed, 1 faults, 1 documents left out, 0 mentions left out" in done.stdout
    assert "1 documents failed" in done.stderr
    assert "1 faults, see the manifest" in done.stderr
    manifest = Manifest.model_validate_json((out / "_manifest.json").read_bytes())
    assert (manifest.finished, manifest.complete) == (True, False)
    # it stays so although there is nothing left to do
    assert CliRunner().invoke(app, [*command, "--to", "pubtator"]).exit_code == 3


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_shards_are_handed_on_in_order_as_they_come(pipeline, source, tmp_path, workers) -> None:
    out, more = tmp_path / "out", write_jsonl(tmp_path / "more.jsonl", 7)
    heard: list[tuple[str, int]] = []

    def hear(path: Path) -> None:
        heard.append((path.name, len(shards(out))))

    options = {"output": out, "shard_size": 5, "workers": workers, "on_shard": hear}
    annotate([source, more], pipeline, **options)
    names = [f"00000-{i:06d}.jsonl" for i in range(5)] + [f"00001-{i:06d}.jsonl" for i in range(2)]
    assert [name for name, _ in heard] == names
    # Each as soon as it is there; of two processes one may do all others before the first is done.
    if workers == 1:
        assert [there for _, there in heard] == [1, 2, 3, 4, 5, 6, 7]
    # An output that is there already is handed on whole.
    heard.clear()
    annotate([source, more], pipeline, **options)
    assert [name for name, _ in heard] == names


def test_standard_input_and_output(pipeline, source, tmp_path) -> None:
    command = ["annotate", "-", "-o", "-", "--pipeline", str(pipeline), "--shard-size", "10"]
    text = source.read_text("utf8")
    done = CliRunner().invoke(app, command, input=text)
    assert done.exit_code == 0, done.stderr
    assert [json.loads(line)["doc_id"] for line in done.stdout.splitlines()] == [
        f"d{i}" for i in range(25)
    ]
    assert "25 documents" in done.stderr
    done = CliRunner().invoke(app, [*command, "--to", "tsv", "--format", "lines"], input="migraine")
    assert done.stdout.splitlines()[1].split("\t")[:4] == ["stdin:1", "0", "8", "migraine"]
    refused = CliRunner().invoke(app, [*command, "--to", "parquet"], input=text)
    assert (refused.exit_code, refused.stdout) == (1, "")
    # a folder goes on with the same text
    command[3] = str(tmp_path / "out")
    for _ in range(2):
        assert CliRunner().invoke(app, command, input=text).exit_code == 0
    assert len(rows(tmp_path / "out")) == 25
    other = CliRunner().invoke(app, command, input=text + text)
    assert "- has changed since" in other.stderr


def test_another_vocabulary_for_the_shipped_pipeline(pipeline, source, tmp_path) -> None:
    ConceptKB.build([Concept("MY:1", "Migraine"), Concept("MY:2", "Snark fever")], tmp_path / "kb")
    note = tmp_path / "note.txt"
    note.write_text("She had migraine.")
    manifest = annotate(note, output=tmp_path / "out", kb=tmp_path / "kb")
    assert [m["concept_id"] for row in rows(tmp_path / "out") for m in row["mentions"]] == ["MY:1"]
    assert annotate(note, output=tmp_path / "out", kb=tmp_path / "kb") == manifest
    with pytest.raises(AngelError, match="different: pipeline"):
        annotate(note, output=tmp_path / "out")
    with pytest.raises(AngelError, match="cannot be combined"):
        annotate(note, pipeline, output=tmp_path / "2", kb=tmp_path / "kb")


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_a_folder_of_tables_is_read_as_it_is(pipeline, source, tmp_path, format) -> None:
    pd = pytest.importorskip("pandas")
    out = tmp_path / "out"
    annotate(source, pipeline, output=out, output_format=format, shard_size=10)
    if format == "parquet":
        dataset = pytest.importorskip("pyarrow.dataset")
        assert pd.read_parquet(out)["doc_id"].tolist() == [f"d{i}" for i in range(25)]
    else:
        dataset = pytest.importorskip("pyarrow.dataset")
        assert sum(len(pd.read_csv(path)) for path in out.glob("*.csv")) == 50
    assert dataset.dataset(out, format=format).count_rows() == (25 if format == "parquet" else 50)


def test_other_readers_of_tables(pipeline, source, tmp_path) -> None:
    pytest.importorskip("pyarrow")
    annotate(source, pipeline, output=tmp_path / "out", output_format="parquet", shard_size=10)
    polars = pytest.importorskip("polars")
    frame = polars.scan_parquet(tmp_path / "out", hidden_file_prefix="_").collect()
    assert frame["doc_id"].to_list() == [f"d{i}" for i in range(25)]
    duckdb = pytest.importorskip("duckdb")
    query = f"select count(*) from '{tmp_path}/out/*.parquet'"
    assert duckdb.sql(query).fetchall() == [(25,)]


def test_the_command_line_tells_of_a_cut_input(pipeline, source, tmp_path) -> None:
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(gzip.compress(source.read_bytes())[:-20])
    command = ["annotate", str(source), str(cut), "-o", str(tmp_path / "out")]
    done = CliRunner().invoke(app, [*command, "--pipeline", str(pipeline)])
    assert done.exit_code == 1
    assert "Not read to its end" in done.stderr
    # the whole input is not lost by it
    assert len([row for row in rows(tmp_path / "out") if row["doc_id"]]) >= 25


# formats

SUFFIX = {
    "jsonl": "jsonl",
    "parquet": "parquet",
    "pubtator": "pubtator",
    "bioc_json": "bioc.json",
    "docbin": "spacy",
}


def offsets(path: Path) -> list[tuple]:
    (source,) = plan_inputs([path])
    documents = read_input(source, strict=True, report=CorpusReport(), options={})
    return [
        (d.doc_id, d.text, d.title_end, [(m.start, m.end, m.text, m.label) for m in d.mentions])
        for d in documents
    ]


@pytest.mark.parametrize("format", SUFFIX)
def test_every_output_format_is_an_input_format(pipeline, tmp_path, format) -> None:
    if format == "parquet":
        pytest.importorskip("pyarrow")
    source = tmp_path / "in.pubtator"
    source.write_text(PUBTATOR, "utf8")
    manifest = annotate(
        source, pipeline, output=tmp_path / "out", output_format=format, candidates=True
    )
    assert (manifest["counts"]["documents"], manifest["counts"]["mentions"]) == (2, 4)
    shard = tmp_path / f"out/00000-000000.{SUFFIX[format]}"
    first, second = offsets(shard)
    given, _ = offsets(source)
    assert first == given
    assert second[:3] == ("2", "A headache, not named history of diabetes.", 21)
    assert [mention[:3] for mention in second[3]] == [(33, 41, "diabetes")]
    again = annotate(
        shard, pipeline, output=tmp_path / "again", output_format=format, candidates=True
    )
    assert again["counts"]["linked"] == manifest["counts"]["linked"]
    same = (tmp_path / "again" / shard.name).read_bytes() == shard.read_bytes()
    # PubTator and DocBin files name no candidates: what is written again is equal in all
    assert same


def test_an_output_folder_stands_for_its_shards(pipeline, source, tmp_path) -> None:
    first = annotate(source, pipeline, output=tmp_path / "out", shard_size=10)
    again = annotate(tmp_path / "out", pipeline, output=tmp_path / "again", strict=True)
    assert [Path(entry["name"]).name for entry in again["inputs"]] == sorted(
        shards(tmp_path / "out")
    )
    assert [again["counts"][key] for key in ("read", "documents", "mentions")] == [
        first["counts"][key] for key in ("read", "documents", "mentions")
    ]


def test_docbin_holds_the_links(pipeline, tmp_path) -> None:
    from spacy.tokens import DocBin

    source = tmp_path / "in.pubtator"
    source.write_text(PUBTATOR, "utf8")
    annotate(source, pipeline, output=tmp_path / "out", output_format="docbin", candidates=True)
    nlp = spacy.load(pipeline)
    data = (tmp_path / "out/00000-000000.spacy").read_bytes()
    first, second = DocBin().from_bytes(data).get_docs(nlp.vocab)
    assert [ent.text for ent in first.ents] == ["Heart attack and aspirin"]
    assert [span.kb_id_ for span in first.spans["gold"]][:2] == ["MESH:D009203", "MESH:D001241"]
    (ent,) = second.ents
    assert ent.kb_id_ == ent._.kb_id == ent._.kb_ents[0][0] == "MESH:D003920"


def test_bioc_names_concept_and_score(pipeline, tmp_path) -> None:
    source = tmp_path / "in.txt"
    source.write_text("the patient had aspirin.", "utf8")
    annotate(source, pipeline, output=tmp_path / "out", output_format="bioc_json")
    data = json.loads((tmp_path / "out/00000-000000.bioc.json").read_text("utf8"))
    (annotation,) = data["documents"][0]["passages"][0]["annotations"]
    assert annotation["infons"]["identifier"] == "MESH:D001241"
    assert annotation["infons"]["name"] == "Aspirin"
    assert 0 < float(annotation["infons"]["share"]) <= 1
