"""The tokenizer's class is the one that AutoTokenizer takes."""

import json

import pytest
import transformers
from transformers import AutoTokenizer, BartTokenizerFast

from spacy_angel.linking.settings.loaders import SHIPPED_MODEL
from spacy_angel.model.tokenizer import tokenizer_class

TEXT = " the patient had [START] non inherited </s> Ménière's disease [END] ."


def test_the_shipped_tokenizer_is_the_one_of_autotokenizer() -> None:
    auto = AutoTokenizer.from_pretrained(SHIPPED_MODEL)
    own = tokenizer_class(SHIPPED_MODEL).from_pretrained(SHIPPED_MODEL)
    assert type(own) is type(auto)
    for split in (True, False):
        options = {"add_special_tokens": False, "split_special_tokens": split}
        assert own(TEXT, **options)["input_ids"] == auto(TEXT, **options)["input_ids"]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"tokenizer_class": "BartTokenizer"}, "BartTokenizerFast"),
        ({"tokenizer_class": "BartTokenizerFast"}, "BartTokenizerFast"),
        ({"tokenizer_class": "ByT5Tokenizer"}, "ByT5Tokenizer"),  # there is no fast one
        ({"tokenizer_class": "AutoModel"}, "AutoTokenizer"),
        ({"tokenizer_class": "BartTokenizer", "auto_map": {}}, "AutoTokenizer"),
        ({}, "AutoTokenizer"),
        (None, "AutoTokenizer"),
    ],
)
def test_the_settings_name_the_class(tmp_path, settings, expected) -> None:
    if settings is not None:
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    (tmp_path / "vocab.json").write_text("{}")
    assert tokenizer_class(tmp_path) is getattr(transformers, expected)


def test_a_vocabulary_and_merges_alone_are_those_of_bart(tmp_path) -> None:
    for name in ("vocab.json", "merges.txt"):
        (tmp_path / name).write_text("{}")
    assert tokenizer_class(tmp_path) is BartTokenizerFast
    (tmp_path / "config.json").write_text("{}")
    assert tokenizer_class(tmp_path) is AutoTokenizer


def test_a_folder_without_a_tokenizer_is_refused(tmp_path) -> None:
    for name in ("config.json", "model.safetensors", "special_tokens_map.json"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(FileNotFoundError, match="no file of a tokenizer"):
        tokenizer_class(tmp_path)
