"""The sentences of benchmarks/false_kinds.py and what is counted in them."""

import importlib.util
import json
from types import ModuleType

import pytest
from support.helpers import ROOT

SENTENCES = sorted((ROOT / "benchmarks/sentences").glob("*.jsonl"))


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    path = ROOT / "benchmarks/false_kinds.py"
    spec = importlib.util.spec_from_file_location("false_kinds", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", SENTENCES, ids=lambda path: path.stem)
def test_the_gold_stands_where_it_says(benchmark: ModuleType, path) -> None:
    rows = [json.loads(line) for line in path.read_text("utf8").splitlines()]
    assert len({row["id"] for row in rows}) == len(rows) > 0
    for row in rows:
        assert row["style"] in ("clinical", "news", "kitchen", "lay")
        for mention in row["mentions"]:
            assert row["text"][mention["start"] : mention["end"]] == mention["text"] != ""
            assert {mention["label"], *mention.get("also", ())} <= set(benchmark.LABELS)
    assert len(benchmark.read(path)) == len(rows)
