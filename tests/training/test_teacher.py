"""A large recogniser, kept as transformers has it, and a small one that learns from it."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from support.models import make_tiny_model
from support.tiny_recogniser import LABELS, TEXTS
from support.tiny_training import quick
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import MPNetConfig, MPNetModel, PreTrainedTokenizerFast

from spacy_angel.errors import AngelError
from spacy_angel.recognition.network import NO_WORD, Row
from spacy_angel.recognition.words import WordReader
from spacy_angel.training.models.losses import IGNORE
from spacy_angel.training.recogniser import teacher as teacher_module
from spacy_angel.training.recogniser.config import (
    ReadingSettings,
    RecogniserConfig,
    RecogniserCorpus,
    RecogniserData,
    RecogniserSettings,
)
from spacy_angel.training.recogniser.data import as_batch
from spacy_angel.training.recogniser.module import RecogniserModule, tag_loss
from spacy_angel.training.recogniser.teacher import Teachers, open_teacher
from spacy_angel.training.recogniser.training import prepare_recogniser, train_recogniser

NAMES = ("Disease", "Gene", "Cell")


def write_texts(path: Path, *, marked: bool) -> str:
    lines = []
    for n, (text, parts) in enumerate(TEXTS * 3):
        mentions = [
            {"start": text.index(p), "end": text.index(p) + len(p), "label": NAMES[label]}
            for p, label in parts
            if marked
        ]
        lines.append(json.dumps({"id": f"text {n}", "text": text, "mentions": mentions}))
    path.write_text("\n".join(lines) + "\n", encoding="utf8")
    return str(path)


@pytest.fixture
def recipe(tmp_path: Path) -> RecogniserConfig:
    """A teacher's: an MPNet, which no pipeline computes."""
    make_tiny_model(tmp_path / "bart", [text for text, _ in TEXTS])
    folder = tmp_path / "mpnet"
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(tmp_path / "bart" / "tokenizer.json"),
        cls_token="<s>",
        sep_token="</s>",
        pad_token="<pad>",
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    MPNetModel(
        MPNetConfig(
            vocab_size=len(tokenizer),
            hidden_size=48,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=96,
            max_position_embeddings=66,
            initializer_range=0.1,
        ),
        add_pooling_layer=False,
    ).save_pretrained(folder)
    corpus = write_texts(tmp_path / "marked.jsonl", marked=True)
    return RecogniserConfig(
        RecogniserSettings(LABELS, str(folder), window=40, overlap=8, train_embeddings=True),
        {"all": RecogniserCorpus(corpus, dict(zip(NAMES, LABELS, strict=True)))},
        quick(batch_size=12, schedule="constant", checkpoint_every=60, log_every=30),
        RecogniserData(choose=(), last_look=(), passes=1, swapped=0.0, restyled=0.0),
    )


def found_in(finder, text: str) -> set[tuple[str, str]]:
    return {(text[m.start : m.end], m.label) for m in finder.find([text])[0]}


def test_a_small_one_learns_from_unmarked_texts_what_a_teacher_knows(
    recipe: RecogniserConfig, tmp_path: Path
) -> None:
    torch.set_num_threads(1)
    reading = ReadingSettings((str(tmp_path / "marked.jsonl"),), windows=4)
    train_recogniser(replace(recipe, reading=reading), tmp_path / "teacher")
    folder = tmp_path / "teacher" / "model"
    assert (folder / "encoder" / "config.json").is_file()
    # Not the layers that predicted masked words.
    assert set(load_file(folder / "tags.safetensors")) == {
        *("cases.weight", "head.weight", "head.bias")
    }
    finder = open_teacher(folder)
    text, marked = TEXTS[0]
    expected = {(part, LABELS[label]) for part, label in marked}
    assert found_in(finder, text) == expected

    unmarked = write_texts(tmp_path / "unmarked.jsonl", marked=False)
    settings = replace(
        recipe.recogniser, start=str(tmp_path / "bart"), teachers=(str(folder),), window=40
    )
    small = replace(recipe, recogniser=settings, corpora={"none": RecogniserCorpus(unmarked, {})})
    train_recogniser(small, tmp_path / "small")
    assert found_in(open_teacher(tmp_path / "small" / "model"), text) == expected
    assert not (tmp_path / "small" / "model" / "encoder").exists()

    # From windows that are only read beside a corpus in which nothing is marked.
    (tmp_path / "one.jsonl").write_text('{"id": "a", "text": "Nothing."}\n', encoding="utf8")
    beside = replace(
        small,
        corpora={"none": RecogniserCorpus(str(tmp_path / "one.jsonl"), {})},
        optimizer=replace(recipe.optimizer, steps=120, batch_size=1, checkpoint_every=120),
        reading=ReadingSettings((unmarked,), windows=0, taught=4),
    )
    assert prepare_recogniser(beside, tmp_path / "beside").unmarked is not None
    train_recogniser(beside, tmp_path / "beside")
    assert found_in(open_teacher(tmp_path / "beside" / "model"), text) == expected


def test_to_a_teacher_the_length_of_its_encoders_vectors_says_nothing(
    recipe: RecogniserConfig,
) -> None:
    """Those of an encoder for sentences are so short that the tags' layer would hardly learn."""
    encoder = MPNetModel.from_pretrained(recipe.recogniser.start, add_pooling_layer=False)
    row = Row([0, 5, 6, 7, 2], [0] * 5, [NO_WORD, 0, 1, 2, NO_WORD], 3)
    batch = as_batch([row], pad_token_id=1)
    torch.manual_seed(0)
    teacher = RecogniserModule(encoder, 2, is_teacher=True).eval()
    before = teacher.logits(3, **batch)
    assert before.std() > 0.1
    last = encoder.encoder.layer[-1].output.LayerNorm
    with torch.no_grad():
        last.weight.mul_(0.1)
        last.bias.mul_(0.1)
    torch.testing.assert_close(teacher.logits(3, **batch), before, atol=1e-2, rtol=0)


class Finder:
    """In the place of a recogniser: says the same of every word.

    definition (str): of its tokenizer. labels (tuple[str, ...]): its own.
    probabilities (list[list[float]]): of the tags of each label.
    """

    config = SimpleNamespace(
        encoder={"bos_token_id": 90, "eos_token_id": 91, "pad_token_id": 92},
    )

    def __init__(self, definition, labels, probabilities):
        self.definition, self.labels = definition, labels
        self.probabilities = probabilities
        self.asked = []

    def score(self, rows):
        self.asked += [row.pieces for row in rows]
        return [np.log(np.tile(self.probabilities, (row.n_words, 1, 1))) for row in rows]


def words_as(*words: str) -> str:
    """RETURNS (str): a tokenizer's file whose pieces are these words, numbered in this order."""
    vocabulary = {word: number for number, word in enumerate([*words, "<unk>", "[MASK]"])}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = Whitespace()
    return tokenizer.to_str()


def test_teachers_are_asked_once_in_pieces_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(teacher_module, "_ROWS_A_FILE", 2)
    reader = WordReader(words_as("a", "b", "c"))
    first = Finder(
        words_as("c", "b", "a"),
        ("GENE", "DISEASE"),
        [[0.5, 0.25, 0.25], [0.125, 0.5, 0.375]],
    )
    second = Finder(reader.definition, ("DISEASE",), [[0.375, 0.25, 0.375]])
    other = Finder(words_as("d", "e", "f"), ("DISEASE",), [[1, 0, 0]])
    finders = {"first": first, "second": second, "other": other}
    opened = []

    def open_one(folder, dtype):
        opened.append(dtype)
        return finders[folder.parents[1].name]

    monkeypatch.setattr(teacher_module, "open_teacher", open_one)
    # <s> a b </s>, with the mask for b in the last one
    rows = [Row([7, 0, piece, 8], [0] * 4, [NO_WORD, 0, 1, NO_WORD], 2) for piece in (1, 2, 4)]

    def asked(folders, labels, name):
        return Teachers(folders, reader, labels).teach(3, rows.__getitem__, tmp_path / name)

    said = asked(["first"], ("DISEASE",), "said")
    assert said.tolist() == [[[0.125, 0.5, 0.375]]] * 6
    assert first.asked == [[90, 2, 1, 91], [90, 2, 0, 91], [90, 2, 4, 91]]
    # Two rows a file; what is there is not asked again.
    (kept,) = (tmp_path / "said").iterdir()
    (kept / "2.safetensors").unlink()
    assert np.array_equal(asked(["first"], ("DISEASE",), "said"), said)
    assert first.asked[3:] == [[90, 2, 4, 91]]
    both = asked(["first", "second"], ("RASH", "DISEASE", "GENE"), "both")
    assert both[0].tolist() == [[0, 0, 0], [0.25, 0.375, 0.375], [0.5, 0.25, 0.25]]
    twice = asked(["first", "second", "first", "second", "first", "first"], ("DISEASE",), "twice")
    assert twice[0].tolist() == pytest.approx(
        np.array([[(0.25 + 0.375) / 3, (1 + 0.25) / 3, (0.75 + 0.375) / 3]]), abs=1e-3
    )
    with pytest.raises(AngelError, match=r"0.safetensors is of other windows"):
        Teachers(["first"], reader, ("DISEASE",)).teach(1, rows.__getitem__, tmp_path / "said")
    with pytest.raises(AngelError, match=r"The teacher .*second.* RASH"):
        asked(["first", "second"], ("RASH", "GENE"), "none")
    with pytest.raises(AngelError, match=r"The teacher .*other.* lacks 3 of 5"):
        asked(["other"], ("DISEASE",), "none")
    assert {*opened} == {"auto"}


def test_annotation_and_teacher_count_alike() -> None:
    # One word, three labels: annotated, annotated and taught, taught only; and one of neither.
    logits = torch.zeros(1, 4, 3)
    tags = torch.tensor([[1, 1, IGNORE, IGNORE]])
    taught = torch.tensor([[[0.0, 0, 0], [0.5, 0.5, 0], [0.2, 0.3, 0.5], [0, 0, 0]]])
    log_third = torch.tensor(1 / 3).log().item()
    assert tag_loss(logits, tags, taught).item() == pytest.approx(-log_third)
    sure = torch.tensor([0.25, 0.5, 0.25]).log().expand(1, 4, 3)
    expected = [
        -np.log(0.5),
        -(0.25 * np.log(0.25) + 0.75 * np.log(0.5)),
        -(0.7 * np.log(0.25) + 0.3 * np.log(0.5)),
    ]
    assert tag_loss(sure, tags, taught).item() == pytest.approx(np.mean(expected))
