"""How many machines a set of documents needs, as `benchmarks/annotate.py` computes it."""

import json
from types import ModuleType

import pytest
from support.scripts import load_script
from support.tiny_annotation import write_jsonl


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    pytest.importorskip("resource", reason="needs a Unix")
    return load_script("benchmarks/annotate.py")


@pytest.fixture(scope="module")
def fault_test() -> ModuleType:
    return load_script("benchmarks/annotate_faults.py")


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


def test_documents_of_an_output(benchmark, tmp_path) -> None:
    assert benchmark.documents_done(tmp_path) == 0
    for number, read in enumerate((3, 4)):
        record = json.dumps({"seal": "", "record": {"read": read}})
        (tmp_path / f"_00000-00000{number}.json").write_text(record)
    (tmp_path / "_00000.json").write_text("{}")
    assert benchmark.documents_done(tmp_path) == 7


def test_documents_are_counted_against_the_input(fault_test, tmp_path) -> None:
    source = write_jsonl(tmp_path / "in.jsonl", 3)
    shard = tmp_path / "00000-000000.jsonl"
    shard.write_text(source.read_text())
    assert fault_test.miscounted([source], tmp_path) == (3, [])
    first, second, _ = source.read_text().splitlines(keepends=True)
    shard.write_text(first + second + second)
    assert fault_test.miscounted([source], tmp_path) == (
        3,
        ["d1: given 1 times, found 2", "d2: given 1 times, found 0"],
    )


def test_differences_of_two_outputs(fault_test, tmp_path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    for folder in (a, b):
        folder.mkdir()
        (folder / "_manifest.json").write_text("{}")
        (folder / "00000-000000.jsonl").write_text("x")
    assert fault_test.differences(a, b) == []
    (b / "00000-000000.jsonl").write_text("y")
    (b / "00000-000001.jsonl").write_text("x")
    assert fault_test.differences(a, b) == [
        f"{b}: 00000-000000.jsonl differs",
        f"{b}: 00000-000001.jsonl is in one output only",
    ]
    (a / "_manifest.json").unlink()
    (b / "_manifest.json").unlink()
    assert fault_test.differences(a, b)[-1] == f"{b}: no manifest"
