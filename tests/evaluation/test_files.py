"""Damaged files of an evaluation are named."""

import json

import pytest

from spacy_angel.errors import AngelError
from spacy_angel.evaluation.files import read_metrics, read_predictions

DAMAGED = [b"", b"[]", b"{}", b"\xff", b"[" * 100_000, b'{"run": 1}', b"9" * 5000]
RECORD = {
    **{"doc_id": "1", "start": 7, "mention": "gout", "label": "Disease", "annotated": "D1"},
    **{"gold": [{"id": "MESH:D1", "known": True}], "kb_ids": ["MESH:D1"]},
    **{"lenient_rank": 1, "strict_rank": None},
}


@pytest.mark.parametrize("content", DAMAGED)
def test_damaged_files(tmp_path, content):
    (tmp_path / "metrics.json").write_bytes(content)
    with pytest.raises(AngelError, match=r"metrics\.json does not contain an evaluation"):
        read_metrics(tmp_path)
    line = json.dumps(RECORD).encode() + b"\n"
    (tmp_path / "predictions.jsonl").write_bytes(line + content + b"\n")
    predictions = read_predictions(tmp_path)
    assert next(predictions)["mention"] == "gout"
    with pytest.raises(AngelError, match=r"predictions\.jsonl, line 2"):
        next(predictions)
