"""Annotation on a local Ray cluster."""

import json
import os
import signal
import threading
import time
from pathlib import Path

import pytest
import torch
from support.tiny_annotation import make_pipeline, write_jsonl

from spacy_angel.annotation.run import annotate

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory) -> Path:
    return make_pipeline(tmp_path_factory.mktemp("ray"))


@pytest.fixture(scope="module")
def ray():
    ray = pytest.importorskip("ray", reason="needs Ray: pip install 'spacy-angel[ray]'")
    ray.init(num_cpus=4, include_dashboard=False, logging_level="warning")
    yield ray
    ray.shutdown()


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.slow
def test_ray_gives_the_same_as_one_process(ray, pipeline, tmp_path) -> None:
    sources = [write_jsonl(tmp_path / "a.jsonl", 25), write_jsonl(tmp_path / "b.jsonl", 7)]
    annotate(sources, pipeline, output=tmp_path / "one", shard_size=5)
    annotate(sources, pipeline, output=tmp_path / "ray", shard_size=5, workers=2, ray="local")
    assert files(tmp_path / "ray") == files(tmp_path / "one")
    # what one began the other finishes
    os.remove(tmp_path / "ray/00000-000002.jsonl")
    annotate(sources, pipeline, output=tmp_path / "ray", shard_size=5, workers=1, ray="local")
    assert files(tmp_path / "ray") == files(tmp_path / "one")


@pytest.mark.slow
def test_ray_raises_our_errors(ray, pipeline, tmp_path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text(json.dumps({"id": "1", "text": "x" * 1_000_001}))
    manifest = annotate(source, pipeline, output=tmp_path / "out", ray="local")
    assert manifest["counts"]["failed"] == 1


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
            if len(list((tmp_path / "ray").glob("[0-9]*"))) < 3:
                continue
            for process in psutil.process_iter(["cmdline"]):
                if "ShardAnnotator" in " ".join(process.info["cmdline"] or ()):
                    os.kill(process.pid, signal.SIGKILL)
                    killed.append(process.pid)
                    break

    thread = threading.Thread(target=kill_one)
    thread.start()
    annotate(source, pipeline, output=tmp_path / "ray", shard_size=50, workers=2, ray="local")
    thread.join()
    assert killed
    assert files(tmp_path / "ray") == files(tmp_path / "one")
