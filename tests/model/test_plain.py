"""Config and tokenizer read without transformers say what transformers says."""

import json
import pickle
import shutil
from pathlib import Path

import pytest
import transformers
from hypothesis import given
from hypothesis import strategies as st
from transformers import (
    AutoConfig,
    AutoTokenizer,
    BartConfig,
)

from spacy_angel.linking.settings.loaders import SHIPPED_MODEL
from spacy_angel.model.checkpoint import open_checkpoint
from spacy_angel.model.mention import Mention
from spacy_angel.model.plain import PlainConfig, PlainTokenizer, plain_config, plain_tokenizer
from spacy_angel.model.prompts import PromptEncoder, PromptFormat

NAMES = ["heart attack", "migraine"]
READ = (
    *("model_type", "tie_word_embeddings", "activation_function", "scale_embedding", "d_model"),
    *("encoder_layers", "decoder_layers", "encoder_attention_heads", "decoder_attention_heads"),
    *("max_position_embeddings", "decoder_start_token_id", "eos_token_id"),
)
PIECES = st.sampled_from([" [START] ", "[SEP]", "Ménière", "非", "non-inherited ", "\u200d", "\n"])
TEXTS = st.lists(PIECES | st.text(max_size=8), max_size=6).map("".join)


@pytest.fixture(scope="module")
def full():
    return AutoTokenizer.from_pretrained(SHIPPED_MODEL)


@pytest.fixture(scope="module")
def own() -> PlainTokenizer:
    tokenizer = plain_tokenizer(SHIPPED_MODEL)
    assert tokenizer is not None
    return tokenizer


@pytest.fixture
def folder(tmp_path) -> Path:
    """RETURNS (Path): the shipped model's settings and tokenizer, to be changed."""
    for file in SHIPPED_MODEL.glob("*.json"):
        shutil.copy(file, tmp_path)
    return tmp_path


def change(file: Path, **values) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | values))


def test_the_shipped_model_is_opened_without_transformers():
    checkpoint = open_checkpoint(SHIPPED_MODEL, only_search=True)
    assert isinstance(checkpoint.config, PlainConfig)
    assert isinstance(checkpoint.tokenizer, PlainTokenizer)


@pytest.mark.parametrize("config", [None, BartConfig(), BartConfig(scale_embedding=True)])
def test_a_config_says_what_transformers_says(folder, config):
    if config is not None:
        config.save_pretrained(folder)
    own, theirs = plain_config(folder), AutoConfig.from_pretrained(folder)
    assert own is not None
    assert [getattr(own, name) for name in READ] == [getattr(theirs, name) for name in READ]
    assert not hasattr(own, "encoder")


@pytest.mark.parametrize(
    "values",
    [
        {"eos_token_id": None},
        {"encoder_layers": "3"},
        {"vocab_size": True},
        {"tie_word_embeddings": False},
        {"activation_function": "quick_gelu"},
        {"model_type": "mbart"},
        {"hidden_size": 384},
        {"auto_map": {"AutoConfig": "own.Config"}},
    ],
)
def test_another_config_is_left_to_transformers(folder, values):
    change(folder / "config.json", **values)
    assert plain_config(folder) is None


def test_a_config_is_saved_as_it_was_and_goes_to_other_processes(folder, tmp_path_factory):
    own = pickle.loads(pickle.dumps(plain_config(folder)))
    to = tmp_path_factory.mktemp("saved")
    own.save_pretrained(to)
    assert (to / "config.json").read_bytes() == (SHIPPED_MODEL / "config.json").read_bytes()


@given(TEXTS, st.booleans(), st.booleans())
def test_a_tokenizer_gives_the_ids_that_transformers_gives(own, full, text, add, split):
    options = {"add_special_tokens": add, "split_special_tokens": split}
    assert own(text, **options) == {"input_ids": full(text, **options)["input_ids"]}
    two = [text, "a"]
    assert own(two, **options)["input_ids"] == full(two, **options)["input_ids"]


def test_prompts_and_the_fingerprint_of_tries_do_not_depend_on_who_read_the_tokenizer(own, full):
    format = PromptFormat(" [START]", " [END]", " {mention} is [SEP]")
    mention = Mention("Ménière's [SEP] disease", "She had", "for years .")
    ours, theirs = (PromptEncoder(tokenizer, format, 101, 102) for tokenizer in (own, full))
    assert ours.source_ids([mention]) == theirs.source_ids([mention])
    assert ours.prefix_ids([mention]) == theirs.prefix_ids([mention])
    assert ours.encode_names(NAMES) == theirs.encode_names(NAMES)
    assert ours.fingerprint == theirs.fingerprint


@pytest.mark.skipif(
    not transformers.__version__.startswith("4."), reason="transformers 5 writes other files"
)
def test_a_tokenizer_is_saved_as_transformers_saves_it(own, full, tmp_path):
    for tokenizer, name in ((own, "own"), (full, "full")):
        (tmp_path / name).mkdir()
        tokenizer.save_pretrained(tmp_path / name, legacy_format=False)
    names = sorted(file.name for file in (tmp_path / "full").iterdir())
    assert names == sorted(file.name for file in (tmp_path / "own").iterdir())
    for name in names:
        ours, theirs = ((tmp_path / side / name).read_text() for side in ("own", "full"))
        assert json.loads(ours) == json.loads(theirs)


@pytest.mark.parametrize(
    ("file", "values"),
    [
        ("tokenizer_config.json", {"do_lower_case": False}),
        ("tokenizer_config.json", {"tokenizer_class": "BartTokenizer"}),
        ("tokenizer_config.json", {"added_tokens_decoder": {}}),
        ("tokenizer_config.json", {"additional_special_tokens": ["[NEW]"]}),
        ("tokenizer_config.json", {"auto_map": {}}),
        ("tokenizer.json", {"normalizer": None}),
        ("tokenizer.json", {"added_tokens": []}),
    ],
)
def test_a_tokenizer_that_transformers_would_change_is_left_to_it(folder, file, values):
    assert isinstance(plain_tokenizer(folder), PlainTokenizer)
    change(folder / file, **values)
    assert plain_tokenizer(folder) is None


@pytest.mark.parametrize(
    "name", ["tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"]
)
def test_a_tokenizer_that_lacks_a_file_is_left_to_transformers(folder, name):
    (folder / name).unlink()
    assert plain_tokenizer(folder) is None
