"""A tokenizer read without transformers gives what transformers gives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.helpers import SHIPPED_MODEL
from support.models import make_tiny_model
from transformers import AutoTokenizer, BartTokenizerFast

from spacy_angel.errors import AngelError
from spacy_angel.model.prompts import PromptEncoder, PromptFormat
from spacy_angel.model.tokenizer import PlainTokenizer, read_tokenizer

PIECES = st.sampled_from([" [START] ", "[SEP]", "</s>", "Ménière", "非", "non-inherited ", "\n"])
TEXTS = st.lists(PIECES | st.text(max_size=8), max_size=6).map("".join)


@pytest.fixture(scope="module", params=["shipped", "bart"])
def both(request, tmp_path_factory):
    folder = SHIPPED_MODEL
    if request.param == "bart":
        folder = make_tiny_model(tmp_path_factory.mktemp("bart") / "model", ["heart attack"])
    own = read_tokenizer(folder, as_saved=True)
    assert isinstance(own, PlainTokenizer)
    return own, AutoTokenizer.from_pretrained(folder)


@given(text=TEXTS, add=st.booleans(), split=st.booleans())
def test_the_ids_are_those_of_transformers(both, text, add, split):
    own, theirs = both
    options = {"add_special_tokens": add, "split_special_tokens": split}
    ids = own([text, "a"], **options)["input_ids"]
    assert ids == theirs([text, "a"], **options)["input_ids"]
    assert own.decode(ids[0]) == theirs.decode(ids[0])


def test_the_fingerprint_of_tries_does_not_depend_on_who_read_the_tokenizer(both):
    ours, theirs = (PromptEncoder(tokenizer, PromptFormat(), 2, 2) for tokenizer in both)
    assert ours.fingerprint == theirs.fingerprint


def test_a_vocabulary_and_merges_alone_are_those_of_bart(tmp_path):
    folder = make_tiny_model(tmp_path / "model", ["heart attack"])
    for file in folder.iterdir():
        if file.name not in ("vocab.json", "merges.txt"):
            file.unlink()
    assert isinstance(read_tokenizer(folder, as_saved=True), BartTokenizerFast)


def test_a_folder_without_a_tokenizer_is_refused(tmp_path):
    (tmp_path / "special_tokens_map.json").write_text("{}")
    with pytest.raises(AngelError, match="no file of a tokenizer"):
        read_tokenizer(tmp_path, as_saved=True)
