"""A checkpoint folder: one rule for the search and for training."""

import json

import pytest
import torch
from support.helpers import SHIPPED_MODEL
from support.models import FORMAT, make_model, make_tiny_model
from transformers import BertConfig

from spacy_angel.errors import AngelError
from spacy_angel.model import bart
from spacy_angel.model.checkpoint import (
    checkpoint_folder,
    open_checkpoint,
    save_settings,
)
from spacy_angel.model.weights import read_weights, write_weights

CPU = torch.device("cpu")
NAMES = ["heart attack", "migraine", "sugar disease"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_tiny_model(tmp_path_factory.mktemp("checkpoint") / "model", NAMES)


def test_an_encoder_alone_is_refused(tmp_path):
    BertConfig().save_pretrained(tmp_path)
    with pytest.raises(AngelError, match="not a model of type 'bert'"):
        open_checkpoint(tmp_path)


def test_a_checkpoint_is_read_to_be_searched_with_and_to_be_trained(folder):
    checkpoint = open_checkpoint(folder)
    assert (checkpoint.folder, checkpoint.format) == (folder, FORMAT)
    assert isinstance(checkpoint.model(CPU, torch.float32), bart.BartModel)
    module = checkpoint.module(attn_implementation="eager")
    expected = make_model(module.config.vocab_size).state_dict()
    assert all(torch.equal(w, expected[name]) for name, w in module.state_dict().items())


def test_int8_weights_are_trained_on_as_the_numbers_that_they_stand_for(folder, tmp_path):
    stored = open_checkpoint(folder).model(CPU, torch.float32).state_dict(torch.int8)
    write_weights(tmp_path, stored)
    checkpoint = open_checkpoint(folder)
    checkpoint.config.save_pretrained(tmp_path)
    save_settings(tmp_path, checkpoint.tokenizer, checkpoint.format)
    module = open_checkpoint(tmp_path).module()
    assert module.lm_head.weight is module.model.shared.weight
    assert {weight.dtype for weight in module.parameters()} == {torch.float32}
    found = module.state_dict()
    name = "model.encoder.layers.1.fc2.weight"
    expected = stored[name].float() * stored[f"{name}.scale"][:, None]
    assert torch.equal(found[name], expected)
    assert torch.equal(found["model.decoder.embed_tokens.weight"], found["model.shared.weight"])
    norm = "model.encoder.layers.0.final_layer_norm.bias"
    assert torch.equal(found[norm], stored[norm])


def test_training_does_not_begin_with_layers_that_are_missing(folder, tmp_path):
    checkpoint = open_checkpoint(folder)
    weights = read_weights(folder)
    del weights["model.encoder.layers.1.fc2.weight"]
    write_weights(tmp_path, weights)
    checkpoint.config.save_pretrained(tmp_path)
    save_settings(tmp_path, checkpoint.tokenizer, checkpoint.format)
    with pytest.raises(AngelError, match=r"lack model\.encoder\.layers\.1\.fc2\.weight"):
        open_checkpoint(tmp_path).module()


def test_the_shipped_name_and_a_saved_pipeline_mean_the_models_in_them(folder, tmp_path):
    assert checkpoint_folder("en_angel_mini") == SHIPPED_MODEL
    inside = tmp_path / "angel_linker/model"
    inside.mkdir(parents=True)
    (inside / "config.json").write_text(json.dumps({}))
    assert checkpoint_folder(tmp_path) == inside
    assert checkpoint_folder(folder) == folder
