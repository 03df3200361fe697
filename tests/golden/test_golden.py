"""Links, annotated rows and training losses stay as they are, unless a commit changes them openly.

See `compute.py`, which also writes the expected values anew.
"""

from math import ceil
from pathlib import Path
from typing import Any

import pytest
from golden.compute import (
    PIPELINES,
    compute_links,
    compute_losses,
    compute_rows,
    corpus_texts,
    own_texts,
    read_expected,
)

# The expected values have four digits, and three must be right.
TOLERANCE = 0.001
# Processors round differently, so that a candidate that is nearly out of the first five can be
# another one: of 301 texts two differed between an Intel Xeon and an AMD EPYC, none in a link.
MAX_CHANGED = 0.01


def difference(found: Any, expected: Any, where: str = "") -> str | None:
    """Describe the first difference between two JSON values; numbers may differ by `TOLERANCE`."""
    if isinstance(expected, float) and isinstance(found, int | float):
        return None if abs(found - expected) <= TOLERANCE else f"{where}: {found} != {expected}"
    if isinstance(expected, dict) and isinstance(found, dict) and found.keys() == expected.keys():
        parts = [(found[key], value, f"{where}.{key}") for key, value in expected.items()]
    elif isinstance(expected, list) and isinstance(found, list) and len(found) == len(expected):
        pairs = enumerate(zip(found, expected, strict=True))
        parts = [(a, b, f"{where}[{place}]") for place, (a, b) in pairs]
    else:
        return None if found == expected else f"{where}: {found} != {expected}"
    return next((found for part in parts if (found := difference(*part))), None)


def assert_same(
    found: list[dict[str, Any]], expected: list[dict[str, Any]], max_changed: float = 0.0
) -> None:
    assert len(found) == len(expected)
    differences = [difference(*pair) for pair in zip(found, expected, strict=True)]
    changed = {
        row.get("id") or row.get("stage") or row.get("doc_id"): text
        for row, text in zip(expected, differences, strict=True)
        if text
    }
    assert len(changed) <= ceil(max_changed * len(expected)), changed


def with_ties_alike(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort the candidates of annotated rows, and drop the ids of those that share the last place.

    Equally probable candidates have no order, and which of them are among the first five is left
    to the rounding of the processor.
    """
    for row in rows:
        for mention in row["mentions"]:
            mention["candidates"].sort(key=lambda found: found["concept_id"])
            lowest = min((found["probability"] for found in mention["candidates"]), default=0.0)
            tied = [found for found in mention["candidates"] if found["probability"] == lowest]
            if len(tied) > 1:
                untied = [found for found in mention["candidates"] if found not in tied]
                mention["candidates"] = untied + [{"probability": lowest} for _ in tied]
    return rows


def links_of(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["id"], [mention[:4] for mention in row["mentions"]]


@pytest.mark.parametrize("name", PIPELINES)
def test_links_of_shipped_pipelines(name: str) -> None:
    expected = {row["id"]: row for row in read_expected(f"{name}-texts")}
    expected |= {row["id"]: row for row in read_expected(f"{name}-corpora")}
    texts = [*own_texts(), *corpus_texts()]
    found = list(compute_links(name, texts))
    assert list(map(links_of, found)) == [links_of(expected[doc_id]) for doc_id, _ in texts]
    assert_same(found, [expected[doc_id] for doc_id, _ in texts], MAX_CHANGED)


def test_rows_of_an_annotated_folder(tmp_path: Path) -> None:
    expected = with_ties_alike(read_expected("rows"))
    assert_same(with_ties_alike(compute_rows(tmp_path)), expected, MAX_CHANGED)


def test_losses_of_each_training_stage(tmp_path: Path) -> None:
    losses = compute_losses(tmp_path)
    found = [{"stage": stage, "losses": values} for stage, values in losses.items()]
    assert_same(found, read_expected("losses"))
