"""A pipeline and documents to annotate."""

import json
from functools import cache

import pytest
import torch
from support.tiny_annotation import make_pipeline, write_jsonl

from spacy_angel.annotation import shards
from spacy_angel.pipelines.load import load_folder

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def pipeline(tmp_path_factory):
    return make_pipeline(tmp_path_factory.mktemp("annotation"))


@pytest.fixture
def source(tmp_path):
    return write_jsonl(tmp_path / "in.jsonl", 25)


def files(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def shard_files(folder):
    return sorted(folder.glob("[0-9]*-*.*"))


def times(folder):
    return {path.name: path.stat().st_mtime_ns for path in shard_files(folder)}


def rows(folder):
    lines = (line for path in shard_files(folder) for line in path.read_bytes().splitlines())
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module", autouse=True)
def opened_once():
    """Open a folder's pipeline once for all tests of a file, which takes most of a small run."""

    @cache
    def opened(folder, device):
        return load_folder(folder, {"runtime": {"device": device}} if device else {})

    def once(folder, settings):
        return opened(folder, settings.get("runtime", {}).get("device"))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "load_folder", once)
        yield
