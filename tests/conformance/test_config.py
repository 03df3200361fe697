"""Settings in a config, at load and at run time agree, and wrong ones are refused at once."""

from copy import deepcopy

import pytest
import spacy
import torch
from spacy.cli.find_threshold import find_threshold
from spacy.tokens import DocBin, Span
from support.tiny_linker import pipeline

from spacy_angel.errors import AngelError


def shown(nlp, name="angel_linker"):
    return dict(nlp.config["components"][name])


def test_a_setting_changed_at_run_time(make, tmp_path):
    nlp = make()
    assert shown(nlp)["decision"]["threshold"] is None
    linker = nlp.get_pipe("angel_linker")
    linker.settings.decision.threshold = 0.9
    nlp.to_disk(tmp_path / "saved")
    saved = spacy.util.load_config(tmp_path / "saved/config.cfg")["components"]["angel_linker"]
    for settings in (shown(nlp), saved):
        assert settings["decision"]["threshold"] == 0.9
    loaded = spacy.load(tmp_path / "saved").get_pipe("angel_linker")
    assert loaded.settings.decision.threshold == 0.9
    assert {k: shown(nlp)[k] for k in linker.settings.to_dict()} == linker.settings.to_dict()


def test_variables_of_a_config_stay(model, vocabulary):
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
    linker.settings.decision.prefer = ["MESH"]
    assert shown(nlp)["decision"]["prefer"] == ["MESH"]
    assert shown(nlp)["decision"]["threshold"] == "${paths.share}"


def test_a_renamed_linker_and_a_copy_have_their_own(make):
    nlp = make()
    nlp.rename_pipe("angel_linker", "mesh")
    nlp.get_pipe("mesh").settings.candidates.num_beams = 2
    copied = deepcopy(nlp)
    copied.get_pipe("mesh").settings.candidates.num_beams = 1
    beams = [shown(one, "mesh")["candidates"]["num_beams"] for one in (copied, nlp)]
    assert beams == [1, 2]
    assert nlp("aspirin").ents[0].kb_id_ == "MESH:D001241"


def test_its_config_makes_it_again(make):
    nlp = make(num_beams=3)
    text = nlp.config.to_str()
    again = spacy.util.load_model_from_config(
        spacy.util.load_config_from_str(text), auto_fill=False, validate=True
    )
    assert again.config.to_str() == text
    again.initialize()
    assert again.get_pipe("angel_linker").settings == nlp.get_pipe("angel_linker").settings


def test_spacys_find_threshold_sets_the_threshold(make, tmp_path):
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


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"model": "/nope"}, "/nope is neither a folder"),
        ({"vocabulary": "nowhere/kb"}, "vocabulary nowhere/kb does not exist"),
        ({"decision": {"curation": "/nope.tsv"}}, "nope.tsv"),
        ({"runtime": {"device": "cuda:7"}}, "Cannot run on the device 'cuda:7'"),
        ({"runtime": {"device": "mps"}}, "Cannot run on the device 'mps'"),
        ({"runtime": {"device": "gpu"}}, "Cannot run on the device 'gpu'"),
        ({"candidates": {"types_by_label": {"DISEASE": ["T999"]}}}, r"has the types \['T999'\]"),
        ({"decision": {"threshold": "high"}}, "threshold must be"),
        ({"decision": {"treshold": 0.5}}, "Did you mean `threshold`"),
        ({"model": 3}, "model"),
        ({"vocabulary": 3}, "vocabulary"),
        ({"linker_name": "mesh"}, "linker_name"),
    ],
)
def test_add_pipe_refuses_wrong_values(config, message):
    if config.get("runtime") == {"device": "mps"} and torch.backends.mps.is_available():
        pytest.skip("this machine has it")
    with pytest.raises((AngelError, ValueError), match=message):
        spacy.blank("en").add_pipe("angel_linker", config=config)
