"""Annotation on a local Ray cluster."""

import json

import pytest
from annotation.conftest import files
from support.tiny_annotation import write_jsonl

from spacy_angel.annotation.run import annotate


@pytest.fixture(scope="module")
def ray():
    ray = pytest.importorskip("ray", reason="needs Ray: pip install 'spacy-angel[ray]'")
    ray.init(num_cpus=4, include_dashboard=False, logging_level="warning")
    yield ray
    ray.shutdown()


@pytest.mark.slow
def test_ray_gives_the_same_as_one_process(ray, pipeline, tmp_path):
    sources = [write_jsonl(tmp_path / "a.jsonl", 25), tmp_path / "b.jsonl"]
    sources[1].write_text(json.dumps({"id": "1", "text": "x" * 1_000_001}))
    annotate(sources, pipeline, output=tmp_path / "one", shard_size=5)
    annotate(sources, pipeline, output=tmp_path / "ray", shard_size=5, workers=2, ray="local")
    assert files(tmp_path / "ray") == files(tmp_path / "one")
    # What one run began the other finishes.
    (tmp_path / "ray/00000-000002.jsonl").unlink()
    annotate(sources, pipeline, output=tmp_path / "ray", shard_size=5, workers=1, ray="local")
    assert files(tmp_path / "ray") == files(tmp_path / "one")
