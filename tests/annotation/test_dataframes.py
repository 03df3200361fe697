"""Tables of documents, the function for Spark, and a local Ray cluster."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import torch
from support.helpers import ROOT
from support.tiny_annotation import make_pipeline, texts, write_jsonl

from spacy_angel.annotation.dataframes import SPARK_SCHEMA, TableLinker, frames_linker
from spacy_angel.annotation.document_linker import LinkingSettings
from spacy_angel.annotation.run import annotate
from spacy_angel.errors import AngelError

pa = pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'spacy-angel[parquet]'")
pq = pytest.importorskip("pyarrow.parquet")
torch.set_num_threads(1)


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory) -> Path:
    return make_pipeline(tmp_path_factory.mktemp("tables"))


def shards(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("[0-9]*-*.*"))}


def test_a_table_is_linked_row_by_row(pipeline) -> None:
    mention = {"start": 0, "end": 99, "label": ""}
    table = pa.Table.from_pylist(
        [
            {"doc_id": "1", "text": "history of migraine", "mentions": None, "other": 1},
            {"doc_id": "2", "text": None, "mentions": None, "other": 2},
            {"doc_id": "3", "text": "aspirin", "mentions": [mention], "other": 3},
        ]
    )
    linker = TableLinker(str(pipeline), "cpu", LinkingSettings(candidates=True))
    first, second, third = linker(table).to_pylist()
    (found,) = first["mentions"]
    assert (found["start"], found["end"], found["concept_id"]) == (11, 19, "MESH:D008881")
    assert found["candidates"][0]["share"] == found["share"]
    assert first["error"] is None
    assert second["mentions"] is None
    assert "the field text" in second["error"]
    assert "the mention" in third["error"]
    assert [m["text"] for m in third["mentions"]] == ["aspirin"]
    assert linker(table.slice(0, 0)).num_rows == 0
    strict = TableLinker(str(pipeline), strict=True)
    assert strict(table.slice(0, 1)).to_pylist()[0]["error"] is None
    with pytest.raises(AngelError, match="row 0 of a table: not a document: the field text"):
        strict(table.slice(1, 1))
    with pytest.raises(AngelError, match="the mention"):
        strict(table.slice(2, 1))


def test_frames_as_spark_hands_them_in(pipeline) -> None:
    pd = pytest.importorskip("pandas")
    frames = [pd.DataFrame({"doc_id": [f"d{i}"], "text": [t]}) for i, t in enumerate(texts(3))]
    link = frames_linker(str(pipeline))
    linked = list(link(iter(frames)))
    assert [frame["doc_id"][0] for frame in linked] == ["d0", "d1", "d2"]
    columns = ["doc_id", "title_end", "text", "mentions", "error"]
    assert list(linked[0].columns) == columns
    outer = re.sub("<.*>", "", SPARK_SCHEMA)
    assert [column.split()[0] for column in outer.split(", ")] == columns
    assert linked[0]["mentions"][0][0]["concept_id"]


@pytest.mark.slow
def test_the_example_for_spark_runs(tmp_path) -> None:
    pytest.importorskip("pyspark", reason="needs PySpark: pip install pyspark")
    text = (ROOT / "docs/how_to/annotate_machines.md").read_text("utf8")
    code = next(c for c in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "pyspark" in c)
    (tmp_path / "example.py").write_text(code)
    # Spark starts its Python processes by name.
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        [sys.executable, "example.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in done.stdout.splitlines()
        if line.startswith("|")
    ]
    assert rows[0][:4] == ["doc_id", "start", "end", "text"]
    assert ["1", "16", "28", "heart attack"] in [row[:4] for row in rows]


@pytest.fixture(scope="module")
def ray():
    ray = pytest.importorskip("ray", reason="needs Ray: pip install 'spacy-angel[ray]'")
    pytest.importorskip("ray.data")
    ray.init(num_cpus=4, include_dashboard=False, logging_level="warning")
    yield ray
    ray.shutdown()


@pytest.mark.slow
def test_ray_gives_the_same_as_one_process(ray, pipeline, tmp_path) -> None:
    sources = [write_jsonl(tmp_path / "a.jsonl", 25), write_jsonl(tmp_path / "b.jsonl", 7)]
    annotate(sources, pipeline, output=tmp_path / "one", shard_size=5)
    annotate(sources, pipeline, output=tmp_path / "ray", shard_size=5, workers=2, ray="local")
    assert shards(tmp_path / "ray") == shards(tmp_path / "one")
    manifests = [(tmp_path / name / "_manifest.json").read_bytes() for name in ("one", "ray")]
    assert manifests[0] == manifests[1]
    # what one began the other finishes
    os.remove(tmp_path / "ray/00000-000002.jsonl")
    annotate(sources, pipeline, output=tmp_path / "ray", shard_size=5, workers=1, ray="local")
    assert shards(tmp_path / "ray") == shards(tmp_path / "one")


@pytest.mark.slow
def test_ray_tells_our_errors(ray, pipeline, tmp_path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text('{"text": "x"}\n{\n')
    with pytest.raises(AngelError, match=r"^\S+a.jsonl, line 2: not a document"):
        annotate(source, pipeline, output=tmp_path / "out", ray="local", strict=True)
    manifest = annotate(source, pipeline, output=tmp_path / "out", ray="local")
    assert manifest["counts"]["documents"] == 1
    assert manifest["inputs"][0]["counts"]["faults"] == 1


@pytest.mark.slow
def test_ray_reads_and_writes_addresses(ray, pipeline, tmp_path) -> None:
    rows = [{"doc_id": f"d{i}", "text": text} for i, text in enumerate(texts(12))]
    (tmp_path / "in").mkdir()
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "in/a.parquet")
    source, output = f"local://{tmp_path}/in", f"local://{tmp_path}/out"
    counts = annotate(source, pipeline, output=output, output_format="parquet", ray="local")
    assert counts == {"finished": True, "complete": True, "counts": {"documents": 12}}
    linked = pq.read_table(tmp_path / "out").to_pylist()
    annotate(write_jsonl(tmp_path / "a.jsonl", 12), pipeline, output=tmp_path / "one")
    lines = (tmp_path / "one/00000-000000.jsonl").read_text("utf8").splitlines()
    expected = {row["doc_id"]: row["mentions"] for row in map(json.loads, lines)}
    assert {row["doc_id"]: row["mentions"] for row in linked} == expected


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="a process is killed with SIGKILL")
def test_a_killed_ray_worker_costs_nothing_but_time(ray, pipeline, tmp_path) -> None:
    psutil = pytest.importorskip("psutil")
    source = write_jsonl(tmp_path / "a.jsonl", 3000)
    annotate(source, pipeline, output=tmp_path / "one", shard_size=50)
    killed: list[int] = []

    def kill_one() -> None:
        end = time.monotonic() + 120
        while not killed and time.monotonic() < end:
            time.sleep(0.2)
            if len(shards(tmp_path / "ray")) < 3:
                continue
            for process in psutil.process_iter(["cmdline"]):
                if "ShardActor" in " ".join(process.info["cmdline"] or ()):
                    os.kill(process.pid, signal.SIGKILL)
                    killed.append(process.pid)
                    break

    thread = threading.Thread(target=kill_one)
    thread.start()
    annotate(source, pipeline, output=tmp_path / "ray", shard_size=50, workers=2, ray="local")
    thread.join()
    assert killed
    assert shards(tmp_path / "ray") == shards(tmp_path / "one")
