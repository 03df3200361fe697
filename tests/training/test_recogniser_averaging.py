"""The mean of recognisers, with numbers written out."""

from pathlib import Path

import pytest
import torch
from support.tiny_recogniser import TEXTS, tiny_finder

from spacy_angel.errors import AngelError
from spacy_angel.recognition.finder import MentionFinder
from spacy_angel.training.recogniser.averaging import average_recognisers, is_recogniser

NORM = "model.encoder.layernorm_embedding.weight"


def filled(folder: Path, value: float, window: int = 40) -> Path:
    """A recogniser all of whose weights are one number."""
    finder = tiny_finder(folder / "start", steps=0, window=window)
    weights = {name: torch.full_like(t, value) for name, t in finder.weights().items()}
    finder.with_weights(weights).to_disk(folder / "model")
    return folder / "model"


@pytest.mark.parametrize(("shares", "expected"), [(None, 2.0), ([1, 3], 2.5), ([0.3, 0.1], 1.5)])
def test_mean(tmp_path: Path, shares: list[float] | None, expected: float) -> None:
    folders = [filled(tmp_path / "a", 1.0), filled(tmp_path / "b", 3.0)]
    average_recognisers(folders, tmp_path / "mean", shares)
    assert is_recogniser(tmp_path / "mean")
    weights = MentionFinder.from_disk(tmp_path / "mean").weights()
    assert weights.keys() == MentionFinder.from_disk(folders[0]).weights().keys()
    assert weights[NORM].unique().tolist() == [expected]
    # Matrices are stored in eight bits, row by row.
    assert all(torch.allclose(w, torch.tensor(expected), rtol=1e-2) for w in weights.values())


def test_the_mean_of_one_finds_what_it_found(tmp_path: Path) -> None:
    finder = tiny_finder(tmp_path / "start")
    finder.to_disk(tmp_path / "one")
    average_recognisers([tmp_path / "one"] * 3, tmp_path / "mean")
    texts = [text for text, _ in TEXTS]
    found = MentionFinder.from_disk(tmp_path / "mean").find(texts)
    assert [[m[:3] for m in own] for own in found] == [
        [m[:3] for m in own] for own in finder.find(texts)
    ]
    assert any(found)


def test_what_has_no_mean(tmp_path: Path) -> None:
    a, b = filled(tmp_path / "a", 1.0), filled(tmp_path / "b", 1.0, window=50)
    with pytest.raises(AngelError, match=r"b/model has other labels, windows.* cannot be averaged"):
        average_recognisers([a, b], tmp_path / "mean")
    with pytest.raises(AngelError, match=r"Expected one finite share above 0 for"):
        average_recognisers([a], tmp_path / "mean", [1, 2])
    assert not (tmp_path / "mean").exists()
