"""spaCy's command line and `analyze_pipes` understand the package."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import requests
import spacy
from spacy import Language
from spacy.cli.find_threshold import find_threshold
from spacy.tokens import DocBin, Span

from spacy_angel.about import SHIPPED_NAMES


@pytest.mark.parametrize("name", SHIPPED_NAMES)
def test_info(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "spacy", "info", name]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert f"Info about pipeline '{name}'" in done.stdout


def test_validate_lists_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from spacy.cli.validate import validate

    answer = requests.Response()
    answer.status_code, answer._content = 200, b'{"spacy": {"3.8": {}}}'
    monkeypatch.setattr(requests, "get", lambda url: answer)
    validate()
    printed = capsys.readouterr().out
    assert all(name in printed for name in SHIPPED_NAMES)


def test_find_threshold(make: Callable[..., Language], tmp_path: Path) -> None:
    nlp = make(threshold=0.0)
    nlp.to_disk(tmp_path / "pipeline")
    gold = nlp.make_doc("heart attack and zzz")
    gold.ents = [Span(gold, 0, 2, label="DISEASE", kb_id="MESH:D009203")]
    DocBin(docs=[gold]).to_disk(tmp_path / "dev.spacy")
    best, score, scores = find_threshold(
        str(tmp_path / "pipeline"),
        tmp_path / "dev.spacy",
        pipe_name="angel_linker",
        threshold_key="decision.threshold",
        scores_key="nel_micro_f",
        n_trials=3,
        silent=True,
    )
    assert (len(scores), scores[best]) == (3, score)


def test_a_linker_of_a_span_group_requires_groups(make: Callable[..., Language]) -> None:
    nlp = make(span_key="found")
    assert nlp.analyze_pipes()["problems"]["angel_linker"] == ["doc.spans"]
    nlp.add_pipe("span_ruler", first=True)
    assert nlp.analyze_pipes()["problems"]["angel_linker"] == []
    assert spacy.blank("en").get_factory_meta("angel_linker").requires == ["doc.ents"]
