"""The model as a whole: any encoder-decoder, every type of weights, to disk and bytes and back."""

import json
import pickle
import shutil
from copy import deepcopy

import pytest
import torch
from support.models import (
    DISEASES,
    FORMAT,
    log_prob_by_transformers,
    make_tiny_model,
    make_tokenizer,
    save,
)
from transformers import (
    AutoModelForSeq2SeqLM,
    BertConfig,
    EncoderDecoderConfig,
    EncoderDecoderModel,
    T5Config,
    T5ForConditionalGeneration,
)

from spacy_angel.errors import AngelError
from spacy_angel.model.mention import Mention
from spacy_angel.model.weights import SCALE_SUFFIX, read_weights
from spacy_angel.search.generator import Generator
from spacy_angel.search.search import SearchSettings
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept

KB = ConceptKB.build(Concept(c, names[0], names[1:]) for c, names in DISEASES.items())
NAMES = [KB.name(i) for i in range(KB.n_names)]
MENTIONS = [
    Mention("heart atack", "the patient had a", "last year and then some more words"),
    Mention("sugar", "", ""),
    Mention("sick head aches", "history of", "."),
]
PAIRS = [
    (MENTIONS[0], "myocardial infarction"),
    (MENTIONS[1], "diabetes"),
    (MENTIONS[2], "migraine"),
    (MENTIONS[0], "mld"),
]


def bart(path):
    return make_tiny_model(path, NAMES)


def t5(path):
    tokenizer = make_tokenizer(path, NAMES)
    torch.manual_seed(1)
    config = T5Config(
        vocab_size=len(tokenizer) + 7,  # embeddings are often padded beyond the tokenizer
        d_model=32,
        d_kv=8,
        d_ff=48,
        num_layers=2,
        num_heads=4,
        decoder_start_token_id=tokenizer.pad_token_id,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    save(path, T5ForConditionalGeneration(config).eval(), tokenizer)
    return path


def pair(path):
    """A BERT encoder and a BERT decoder."""
    tokenizer = make_tokenizer(path, NAMES)
    torch.manual_seed(2)
    shape = {
        "vocab_size": len(tokenizer),
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 48,
        "max_position_embeddings": 128,
        "initializer_range": 0.2,
    }
    config = EncoderDecoderConfig.from_encoder_decoder_configs(
        BertConfig(**shape), BertConfig(**shape)
    )
    config.decoder_start_token_id = tokenizer.bos_token_id
    config.eos_token_id = tokenizer.eos_token_id
    config.pad_token_id = tokenizer.pad_token_id
    save(path, EncoderDecoderModel(config).eval(), tokenizer)
    return path


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("models")
    return {make.__name__: make(root / make.__name__) for make in (bart, t5, pair)}


def plain(results):
    return [[(KB.name(h.name), h.log_prob) for h in result] for result in results]


def log_probs(generator, mentions, names, batch_size=32):
    rows = generator.score_names(mentions, [[name] for name in names], batch_size=batch_size)
    return [value for [value] in rows]


def find(generator, **settings):
    space = KB.search_space(generator.prompts)
    return generator.search(MENTIONS, space, SearchSettings(**settings))


# Every family of models


@pytest.mark.parametrize("family", ["bart", "t5", "pair"])
def test_log_probs_are_those_of_transformers(folders, family):
    generator = Generator.from_pretrained(folders[family])
    found = log_probs(generator, *zip(*PAIRS, strict=True), batch_size=3)
    model = AutoModelForSeq2SeqLM.from_pretrained(folders[family]).eval()
    expected = [log_prob_by_transformers(model, generator.prompts, *pair) for pair in PAIRS]
    assert found == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("family", ["bart", "t5", "pair"])
def test_threads_and_batches_change_nothing(folders, family):
    generator = Generator.from_pretrained(folders[family])
    space = KB.search_space(generator.prompts)
    # Of the second mention nothing is scored.
    wanted = [NAMES[:3], [], NAMES[1:]]
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        results = generator.search(MENTIONS, space, batch_size=2)
        scores = generator.score_names(MENTIONS, wanted, batch_size=2)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    for row, others in zip(plain(results), plain(find(generator)), strict=True):
        assert dict(row) == pytest.approx(dict(others), abs=1e-4)
    expected = generator.score_names(MENTIONS, wanted)
    for own, values, alone in zip(wanted, scores, expected, strict=True):
        assert len(values) == len(own)
        assert values == pytest.approx(alone, abs=1e-4)


# To disk, to bytes, and back


@pytest.mark.parametrize(
    ("family", "dtype"),
    [
        ("bart", "float32"),
        ("bart", "bfloat16"),
        ("bart", "float16"),
        ("bart", "int8"),
        ("t5", "float32"),
        ("pair", "float32"),
    ],
)
def test_they_come_back_as_they_were(folders, tmp_path, family, dtype):
    generator = Generator.from_pretrained(folders[family], dtype=dtype)
    generator.to_disk(tmp_path / "saved")
    expected = plain(find(generator))
    for again in (
        Generator.from_pretrained(tmp_path / "saved", dtype=dtype, local_files_only=True),
        Generator.from_bytes(generator.to_bytes(), dtype=dtype),
        pickle.loads(pickle.dumps(generator)),
        deepcopy(generator),
    ):
        assert plain(find(again)) == expected
        assert again.prompts.format == FORMAT
        assert again.prompts.fingerprint == generator.prompts.fingerprint


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8"])
def test_int8_stays_int8_whatever_it_runs_in(folders, tmp_path, dtype):
    Generator.from_pretrained(folders["bart"]).to_disk(tmp_path / "a", storage="int8")
    running = Generator.from_pretrained(tmp_path / "a", dtype=dtype)
    pickle.loads(pickle.dumps(running)).to_disk(tmp_path / "b")
    first, second = read_weights(tmp_path / "a"), read_weights(tmp_path / "b")
    assert first.keys() == second.keys()
    for name, tensor in first.items():
        if tensor.dtype == torch.int8 or name.endswith(SCALE_SUFFIX):
            assert torch.equal(tensor, second[name]), name


def test_storage_types_that_do_not_fit(folders, tmp_path):
    generator = Generator.from_pretrained(folders["bart"])
    with pytest.raises(AngelError, match="There is no dtype 'int4'"):
        generator.to_disk(tmp_path, storage="int4")  # type: ignore[arg-type]
    with pytest.raises(AngelError, match="need a BART model"):
        Generator.from_pretrained(folders["t5"]).to_disk(tmp_path, storage="int8")


# What does not fit


def test_hub_names_without_a_connection():
    with pytest.raises(AngelError, match=r"(?s)Cannot download .*/ANGEL_none .*hub: .*[^.]\.$"):
        Generator.from_pretrained("dmis-lab/ANGEL_none")
    with pytest.raises(AngelError, match=r"Cannot download the model dmis-lab/ANGEL_none"):
        Generator.from_pretrained("dmis-lab/ANGEL_none", local_files_only=True)


@pytest.mark.parametrize("name", ["nowhere", "/nowhere/at/all", "a/b/c", ""])
def test_neither_folder_nor_hub_name(name):
    with pytest.raises(AngelError, match="neither a folder, nor an installed pipeline, nor"):
        Generator.from_pretrained(name)


def damaged(folder, target, change):
    shutil.copytree(folder, target)
    change(target)
    return target


def set_config(**values):
    def change(folder):
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, **values}))

    return change


def write(name, text):
    return lambda folder: (folder / name).write_text(text)


def remove(*names):
    return lambda folder: [(folder / name).unlink(missing_ok=True) for name in names]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (remove("config.json"), "Cannot load the model in"),
        (write("config.json", "{"), "Cannot load the model in"),
        (remove("model.safetensors"), "No weights in"),
        (write("model.safetensors", "no weights"), "Cannot read the weights"),
        (
            remove("vocab.json", "merges.txt", "tokenizer.json", "tokenizer_config.json"),
            "Cannot load the tokenizer",
        ),
        (write("angel.json", "{"), "Cannot read the prompt settings"),
        (write("angel.json", "[]"), "Cannot read the prompt settings"),
        (write("angel.json", '{"colour": 1}'), r"Cannot read the prompt settings .*colour"),
        (write("angel.json", '{"punctuation": "none"}'), "'keep', 'blank' or 'normal'"),
        (write("angel.json", '{"max_source_tokens": []}'), "should be a valid integer"),
        (set_config(decoder_start_token_id=None), "needs eos_token_id"),
    ],
)
def test_damaged_folders(folders, tmp_path, change, message):
    folder = damaged(folders["bart"], tmp_path / "model", change)
    with pytest.raises(AngelError, match=message):
        Generator.from_pretrained(folder)


@pytest.mark.parametrize(
    ("family", "dtype", "device", "problem"),
    [
        ("bart", "float8", "cpu", r"There is no dtype 'float8'.*float32, bfloat16"),
        ("t5", "int8", "cpu", r"int8 needs a BART model.*t5"),
        ("bart", "int8", "meta", "int8 runs on the CPU only, not on meta"),
    ],
)
def test_types_that_do_not_fit(folders, family, dtype, device, problem):
    with pytest.raises(AngelError, match=problem):
        Generator.from_pretrained(folders[family], dtype=dtype, device=device)


@pytest.mark.parametrize("family", ["bart", "pair"])
def test_names_longer_than_the_positions_are_cut(folders, family):
    # 128 positions: the start token, a prefix of at most 32, 95 of the name; its end is not read.
    generator = Generator.from_pretrained(folders[family])
    long = [f"{'heart ' * 94}{end}" for end in ("attack", "failure", "failure twice")]
    ids = generator.prompts.encode_names(long)
    assert [len(row) for row in ids] == [96, 96, 96]
    assert ids[1] == ids[2] != ids[0]
    kb = ConceptKB.build(Concept(f"X:{i}", name) for i, name in enumerate(long))
    mention = Mention("sugar " * 100)
    assert len(generator.prompts.prefix_ids([mention])[0]) == 33
    [result] = generator.search([mention], kb.search_space(generator.prompts))
    assert sorted(h.name for h in result) == [0, 1, 2]
