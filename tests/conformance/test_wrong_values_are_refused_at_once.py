"""What cannot be had is refused with one line at `add_pipe` or `load`, not at the first text."""

from collections.abc import Callable
from typing import Any

import pytest
import spacy
import torch
from spacy import Language

import spacy_angel
from spacy_angel.errors import AngelError


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"model": "/nope"}, "There is no model in /nope"),
        ({"vocabulary": "nowhere/kb"}, "vocabulary nowhere/kb does not exist"),
        ({"decision": {"curation": "/nope.tsv"}}, "nope.tsv"),
        ({"runtime": {"device": "cuda:7"}}, "Cannot run on the device 'cuda:7'"),
        ({"runtime": {"device": "mps"}}, "Cannot run on the device 'mps'"),
        ({"runtime": {"device": "gpu"}}, "Cannot run on the device 'gpu'"),
        ({"candidates": {"types_by_label": {"DISEASE": ["T999"]}}}, "'DISEASE' the types"),
        ({"decision": {"threshold": "high"}}, "threshold must be"),
        ({"decision": {"treshold": 0.5}}, "Did you mean `threshold`"),
        ({"model": 3}, "model"),
        ({"vocabulary": 3}, "vocabulary"),
    ],
)
def test_at_add_pipe(config: dict[str, Any], message: str) -> None:
    if config.get("runtime") == {"device": "mps"} and torch.backends.mps.is_available():
        pytest.skip("this machine has it")
    with pytest.raises((AngelError, ValueError), match=message):
        spacy.blank("en").add_pipe("angel_linker", config=config)


def test_misspelled_settings() -> None:
    with pytest.raises(ValueError, match="linker_name"):
        spacy.blank("en").add_pipe("angel_linker", config={"linker_name": "mesh"})
    with pytest.raises(AngelError, match="Did you mean `threshold`"):
        spacy_angel.load(decision={"treshold": 0.5})


def test_at_run_time(make: Callable[..., Language]) -> None:
    linker = make().get_pipe("angel_linker")
    with pytest.raises(AttributeError, match=r"'treshold'.*Did you mean `threshold`"):
        linker.settings.decision.treshold = 0.9
    with pytest.raises(AngelError, match="kb: expected a ConceptKB, got 'path'"):
        linker.kb = "path"
    with pytest.raises(AngelError, match="threshold must be"):
        linker.settings.decision.threshold = 3
