import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from support.tiny_training import TINY, tiny_backbone

from spacy_angel.errors import AngelError
from spacy_angel.training.models.averaging import average_models
from spacy_angel.training.models.backbones import load_backbone
from spacy_angel.training.models.fresh import fresh_bart


@pytest.fixture
def models(tmp_path):
    """Two models, every weight of the one 1 and of the other 3."""
    for name, value in (("a", 1.0), ("b", 3.0)):
        backbone = tiny_backbone()
        with torch.no_grad():
            for weight in backbone.model.parameters():
                weight.fill_(value)
        backbone.save(tmp_path / name)
    return [tmp_path / "a", tmp_path / "b"]


def values(folder):
    return {v for w in load_backbone(folder).model.parameters() for v in w.unique().tolist()}


@pytest.mark.parametrize(
    ("shares", "expected"), [(None, 2.0), ([1, 3], 2.5), ([30.0, 10.0], 1.5), ([0.1, 0.1], 2.0)]
)
def test_mean(models, tmp_path, shares, expected):
    average_models(models, tmp_path / "mean", shares)
    assert values(tmp_path / "mean") == {expected}


def test_mean_in_the_place_of_a_model_keeps_prompts_and_tokenizer(models):
    first = load_backbone(models[0])
    average_models(models, models[0])
    mean = load_backbone(models[0])
    assert values(models[0]) == {2.0}
    assert mean.format == first.format
    assert mean.tokenizer.get_vocab() == first.tokenizer.get_vocab()


def test_every_weight_has_its_own_mean(tmp_path):
    backbones = []
    for seed in (1, 2):
        backbone = tiny_backbone()
        torch.manual_seed(seed)
        with torch.no_grad():
            for weight in backbone.model.parameters():
                weight.normal_()
            backbone.model.final_logits_bias.normal_()
        backbone.save(tmp_path / str(seed))
        backbones.append(backbone.model.state_dict())
    average_models([tmp_path / "1", tmp_path / "2"], tmp_path / "mean", [3, 1])
    found = load_backbone(tmp_path / "mean").model
    first, second = backbones
    for name, weight in found.state_dict().items():
        assert torch.allclose(weight, 0.75 * first[name] + 0.25 * second[name], atol=1e-6), name
    assert found.lm_head.weight is found.model.shared.weight


def test_one_that_writes_endings_and_the_one_that_it_began_with(models, tmp_path):
    more = tiny_backbone()
    replace(more, format=replace(more.format, suffixes=True)).save(tmp_path / "more")
    average_models([tmp_path / "more", models[0]], tmp_path / "mean")
    assert load_backbone(tmp_path / "mean").format.suffixes


def test_what_is_no_model_stays_as_it_is(models, tmp_path):
    # The folder that holds the models, as `-o training` would be.
    with pytest.raises(AngelError, match="other than a model folder"):
        average_models(models, tmp_path)
    assert all((folder / "config.json").exists() for folder in models)


@pytest.mark.parametrize("shares", [[1.0], [1.0, 0.0], [1.0, -1.0], [1.0, float("inf")]])
def test_shares_that_make_no_mean(models, tmp_path, shares):
    with pytest.raises(AngelError, match="2 models"):
        average_models(models, tmp_path / "mean", shares)


def test_no_models(tmp_path):
    with pytest.raises(AngelError, match="one finite share"):
        average_models([], tmp_path / "mean")


def test_models_that_differ(models, tmp_path):
    wider = replace(TINY, width=64)
    others = {
        "another tokenizer": fresh_bart(wider, ["quite", "other", "names"]),
        "other prompts": replace(
            tiny_backbone(), format=replace(tiny_backbone().format, max_source_tokens=32)
        ),
    }
    same_tokenizer = fresh_bart(wider, ["heart attack"])
    same_tokenizer.tokenizer = tiny_backbone().tokenizer
    others["another layout .*d_model"] = replace(same_tokenizer, format=tiny_backbone().format)
    more_heads = tiny_backbone()
    more_heads.model.config.encoder_attention_heads = 4
    others["another layout .encoder_attention_heads."] = more_heads
    for problem, other in others.items():
        other.save(tmp_path / "other")
        with pytest.raises(AngelError, match=problem):
            average_models([models[0], tmp_path / "other"], tmp_path / "mean")
        assert not (tmp_path / "mean").exists()


@pytest.mark.slow
def test_script(models, tmp_path):
    command = [sys.executable, "-m", "spacy_angel", "train", "average", *models]
    options = ["--output", tmp_path / "mean", "--share", "1", "--share", "3"]
    subprocess.run([*command, *options], check=True, cwd=tmp_path)
    assert values(tmp_path / "mean") == {2.5}
    refused = subprocess.run(
        [*command, "-o", tmp_path / "none", "--share", "1"], capture_output=True, text=True
    )
    assert refused.returncode == 1
    assert "] A mean needs" in refused.stderr
    assert not (tmp_path / "none").exists()
    (tmp_path / "empty").mkdir()
    refused = subprocess.run(
        [*command, tmp_path / "empty", "-o", tmp_path / "none"], capture_output=True, text=True
    )
    assert refused.returncode == 1
    assert "empty is no model folder" in refused.stderr
