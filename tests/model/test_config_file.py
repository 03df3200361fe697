"""A config read without transformers says what transformers says."""

import json
import pickle
import shutil

import pytest
from support.helpers import SHIPPED_MODEL
from transformers import AutoConfig, BartConfig, PretrainedConfig

from spacy_angel.errors import AngelError
from spacy_angel.model.config_file import ConfigFile, read_config

READ = (
    *("model_type", "tie_word_embeddings", "activation_function", "scale_embedding", "d_model"),
    *("encoder_layers", "decoder_layers", "encoder_attention_heads", "decoder_attention_heads"),
    *("max_position_embeddings", "decoder_start_token_id", "eos_token_id"),
)


@pytest.mark.parametrize("config", [None, BartConfig(), BartConfig(scale_embedding=True)])
def test_it_says_what_transformers_says(tmp_path, config):
    shutil.copy(SHIPPED_MODEL / "config.json", tmp_path)
    if config is not None:
        config.save_pretrained(tmp_path)
    own, theirs = read_config(tmp_path, only_search=True), AutoConfig.from_pretrained(tmp_path)
    assert isinstance(own, ConfigFile)
    assert [getattr(own, name) for name in READ] == [getattr(theirs, name) for name in READ]


@pytest.mark.parametrize(
    "changes",
    [
        {"eos_token_id": None},
        {"tie_word_embeddings": False},
        {"activation_function": "quick_gelu"},
        {"model_type": "mbart"},
        {"hidden_size": 384},
    ],
)
def test_another_config_is_left_to_transformers(tmp_path, changes):
    values = json.loads((SHIPPED_MODEL / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(values | changes))
    assert isinstance(read_config(tmp_path, only_search=True), PretrainedConfig)


def test_it_is_saved_as_it_was_and_goes_to_other_processes(tmp_path):
    own = pickle.loads(pickle.dumps(read_config(SHIPPED_MODEL, only_search=True)))
    own.save_pretrained(tmp_path)
    saved, shipped = (folder / "config.json" for folder in (tmp_path, SHIPPED_MODEL))
    assert saved.read_bytes() == shipped.read_bytes()


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"eos_token_id": -1}, "eos_token_id"),
        ({"decoder_start_token_id": [3]}, "decoder_start_token_id"),
        ({"activation_function": 3}, "activation_function"),
        ({"encoder_layers": "3"}, "encoder_layers"),
        ({"d_model": 10**400}, "d_model"),
    ],
)
def test_a_config_that_no_model_can_have(tmp_path, changes, named):
    good = {"model_type": "bart", "d_model": 32, "encoder_attention_heads": 4, "own": [1]}
    (tmp_path / "config.json").write_text(json.dumps(good | changes))
    with pytest.raises(AngelError, match=named) as error:
        read_config(tmp_path, only_search=True)
    assert str(tmp_path) in str(error.value)
    assert len(str(error.value)) < 500
