"""`nlp.config`, a saved config.cfg, what is given at load and what is set at run time agree."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import spacy
from spacy import Language
from support.tiny_linker import pipeline


def shown(nlp: Language, name: str = "angel_linker") -> dict[str, Any]:
    return dict(nlp.config["components"][name])


def saved(folder: Path) -> dict[str, Any]:
    return dict(spacy.util.load_config(folder / "config.cfg")["components"]["angel_linker"])


def test_a_setting_changed_at_run_time(make: Callable[..., Language], tmp_path: Path) -> None:
    nlp = make()
    assert shown(nlp)["decision"]["threshold"] is None
    linker = nlp.get_pipe("angel_linker")
    linker.settings.decision.threshold = 0.9
    assert shown(nlp)["decision"]["threshold"] == 0.9
    nlp.to_disk(tmp_path / "saved")
    assert saved(tmp_path / "saved")["decision"]["threshold"] == 0.9
    loaded = spacy.load(tmp_path / "saved").get_pipe("angel_linker")
    assert loaded.settings.decision.threshold == 0.9
    # every value is that of the component, whatever was given
    assert {k: shown(nlp)[k] for k in linker.settings.to_dict()} == linker.settings.to_dict()


def test_variables_of_a_config_stay(model: str, vocabulary: str) -> None:
    config = spacy.util.load_config_from_str(pipeline().config.to_str())
    config["paths"] = {"kb": vocabulary, "model": model, "share": 0.25}
    config["nlp"]["pipeline"] = ["angel_linker"]
    config["components"]["angel_linker"] = {
        "factory": "angel_linker",
        "vocabulary": "${paths.kb}",
        "model": "${paths.model}",
        "decision": {"threshold": "${paths.share}"},
        "candidates": {"types_by_label": {}},
    }
    nlp = spacy.util.load_model_from_config(
        spacy.util.load_config_from_str(config.to_str(interpolate=False), interpolate=False),
        auto_fill=True,
    )
    linker = nlp.get_pipe("angel_linker")
    assert linker.settings.decision.threshold == 0.25
    assert shown(nlp)["decision"]["threshold"] == "${paths.share}"
    linker.settings.decision.prefer = ["MESH"]
    assert shown(nlp)["decision"]["prefer"] == ["MESH"]
    assert shown(nlp)["decision"]["threshold"] == "${paths.share}"


def test_a_renamed_linker_and_a_copy_have_their_own(make: Callable[..., Language]) -> None:
    from copy import deepcopy

    nlp = make()
    nlp.rename_pipe("angel_linker", "mesh")
    nlp.get_pipe("mesh").settings.candidates.num_beams = 2
    copied = deepcopy(nlp)
    copied.get_pipe("mesh").settings.candidates.num_beams = 1
    beams = [shown(one, "mesh")["candidates"]["num_beams"] for one in (copied, nlp)]
    assert beams == [1, 2]
