"""How many machines a set of documents needs, as `benchmarks/annotate.py` computes it."""

import importlib.util
import json
from types import ModuleType

import pytest
from support.helpers import ROOT


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    pytest.importorskip("resource", reason="needs a Unix")
    spec = importlib.util.spec_from_file_location("annotate", ROOT / "benchmarks/annotate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MEASURED = {
    "documents": 10,
    "mentions": 200,
    "seconds_finding": 1.0,
    "seconds_2_annotating": 5.0,
    "worker_mib": 3072.0,
    "vocabulary_mib": 2048.0,
}


def test_sizing(benchmark) -> None:
    # 20 mentions at 2 × 5 s / 200 = 0.05 s, and 0.1 s to find them: 1.1 s a document
    lines = benchmark.sizing_table(MEASURED, 36_000, None, None)
    assert lines[0] == (
        "36,000 documents, 720,000 mentions (20.0 a document); 0.0500 s a mention, "
        "1.00 GiB a process, 2.00 GiB shared"
    )
    assert lines[4] == "| 1 | 11 | 0.5 | 3.0 |"
    assert lines[5] == "| 16 | 1 | 0.0 | 18.0 |"
    assert lines[-1] == "GPU hours: not measured"


def test_sizing_with_other_mentions_and_a_gpu(benchmark) -> None:
    lines = benchmark.sizing_table(MEASURED, 36_000, 2, 0.01)
    assert "72,000 mentions (2.0 a document)" in lines[0]
    assert lines[4].startswith("| 1 | 2 |")  # 0.2 s a document
    assert lines[-1] == "GPU hours: 0 (0.01 s a mention)"


def test_documents_in_a_journal(benchmark, tmp_path) -> None:
    journal = tmp_path / "_journal.jsonl"
    assert benchmark.documents_done(journal) == 0
    shards = [{"kind": "shard", "read": n} for n in (3, 4)]
    lines = [{"kind": "run"}, *shards, {"kind": "end", "shards": 2}]
    whole = "".join(json.dumps(line) + "\n" for line in lines)
    journal.write_text(whole + '{"kind": "shard", "re')
    assert benchmark.documents_done(journal) == 7
