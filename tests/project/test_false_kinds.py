"""The sentences of benchmarks/false_kinds.py and what is counted in them."""

import json
from types import ModuleType

import pytest
from support.helpers import ROOT
from support.scripts import load_script

SENTENCES = sorted((ROOT / "benchmarks/sentences").glob("*.jsonl"))


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    return load_script("benchmarks/false_kinds.py")


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


def test_false_entities_and_recall(benchmark: ModuleType, tmp_path) -> None:
    text = "Pt has HTN, itch, a cyst."
    mentions = [
        {"start": 7, "end": 10, "label": "DISEASE", "text": "HTN"},
        {"start": 12, "end": 16, "label": "PHENOTYPE", "text": "itch", "also": ["DISEASE"]},
        {"start": 20, "end": 24, "label": "DISEASE", "text": "cyst", "optional": True},
    ]
    rows = [
        {"id": "1", "style": "clinical", "text": text, "mentions": mentions},
        {"id": "2", "style": "news", "text": "Stock fell.", "mentions": []},
    ]
    path = tmp_path / "some.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf8")
    entity = benchmark.Entity
    found = [
        [
            entity(0, 2, "SPECIES", "NCBITaxon:9606"),
            entity(7, 10, "GENE"),
            entity(11, 16, "DISEASE"),
            # Optional whatever the label; of a label that is none of the six it does not count.
            entity(20, 24, "CHEMICAL"),
            entity(3, 6, "VARIANT"),
        ],
        [entity(0, 5, "CHEMICAL")],
    ]
    counts = benchmark.count(benchmark.read(path), lambda texts: found)
    one = counts["all"]
    assert list(counts) == ["clinical", "news", "all"]
    assert (one.sentences, one.found, one.false, one.people) == (2, 5, 3, 1)
    assert one.words == {"Pt SPECIES": 1, "HTN GENE": 1, "Stock CHEMICAL": 1}
    assert (one.gold, one.hit) == ({"DISEASE": 1, "PHENOTYPE": 1}, {"DISEASE": 0, "PHENOTYPE": 1})
    assert (counts["news"].found, counts["news"].false) == (1, 1)
