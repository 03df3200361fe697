"""Texts in which nothing is marked: windows, what is masked and predicted, what is learned."""

import json
from dataclasses import replace
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from support.tiny_recogniser import TEXTS, rows_of, tiny_finder
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import BartConfig
from transformers.models.bart.modeling_bart import BartEncoder

from spacy_angel.errors import AngelError
from spacy_angel.recognition.finder import MentionFinder
from spacy_angel.recognition.network import NO_WORD
from spacy_angel.recognition.words import WordReader
from spacy_angel.training.models.losses import IGNORE
from spacy_angel.training.recogniser.config import ReadingSettings
from spacy_angel.training.recogniser.data import collate
from spacy_angel.training.recogniser.module import NO_CASE, RecogniserModule
from spacy_angel.training.recogniser.reading import (
    FullWindows,
    UnmarkedTexts,
    mask_words,
    read_unmarked,
)

MASK = 99


class Chance:
    """In the place of numpy's: draws these numbers, one array after the other."""

    def __init__(self, *drawn: list[list[float]]) -> None:
        self.drawn = list(drawn)

    def random(self, shape: tuple[int, int]) -> np.ndarray:
        made = np.ones(shape)
        rows = self.drawn.pop(0)
        made[:, : len(rows[0])] = rows
        return made

    def integers(self, high: int, size: tuple[int, int]) -> np.ndarray:
        return np.full(size, 77)


def test_whole_words_are_masked_and_predicted() -> None:
    # [CLS] mut ##ations of br ##ca ##1 . [SEP], once with and once without its capitals
    window = FullWindows(
        np.array([[1, 10, 11, 12, 13, 14, 15, 16, 2]] * 2),
        np.array([[0, 5, 5, 3, 9, 9, 9, 2, 0], [0, *[NO_CASE] * 7, 0]]),
        np.array([[NO_WORD, 0, 0, 1, 2, 2, 2, 3, NO_WORD]] * 2),
    )
    assert window.n_words.tolist() == [4, 4]
    # Three of four words: the lowest of the first draw. The second says what becomes of them.
    drawn = [[[0.3, 0.9, 0.1, 0.5], [0.3, 0.1, 0.9, 0.5]], [[0.85, 0, 0.79, 0.95]] * 2]
    chance: Any = Chance(*drawn)
    shown, targets = mask_words(window, 0.75, MASK, 100, chance)
    # BRCA1 masked and without its case; `mutations` another word; the stop as it is, but predicted.
    assert shown.pieces[0].tolist() == [1, 77, 77, 12, MASK, MASK, MASK, 16, 2]
    assert shown.cases[0].tolist() == [0, 5, 5, 3, 0, 0, 0, 2, 0]
    assert targets[0].tolist() == [IGNORE, 10, 11, IGNORE, 13, 14, 15, 16, IGNORE]
    assert np.array_equal(shown.words, window.words)
    # A text that has lost its capitals has none to hide.
    assert shown.pieces[1].tolist() == [1, 77, 77, MASK, 13, 14, 15, 16, 2]
    assert np.array_equal(shown.cases[1], window.cases[1])
    # One word at least.
    one: Any = Chance(*drawn)
    _, targets = mask_words(window, 0.01, MASK, 100, one)
    assert [np.flatnonzero(row != IGNORE).tolist() for row in targets] == [[4, 5, 6], [3]]


@pytest.fixture(scope="module")
def finder(tmp_path_factory: pytest.TempPathFactory) -> MentionFinder:
    return tiny_finder(tmp_path_factory.mktemp("tiny") / "start", steps=0, window=20, overlap=4)


def texts_of(finder: MentionFinder, folder: Path, **settings: Any) -> UnmarkedTexts:
    for name in ("cased", "lower"):
        lines = [json.dumps({"text": text}) + "\n" for text, _ in TEXTS * 3]
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf8")
    wanted = ReadingSettings(
        (str(folder / "cased.jsonl"),), (str(folder / "lower.jsonl"),), **settings
    )
    texts = read_unmarked(wanted, finder.config, WordReader(finder.definition))
    assert texts is not None
    return texts


def test_windows_are_full_and_the_same_for_the_same_step(
    finder: MentionFinder, tmp_path: Path
) -> None:
    texts = texts_of(finder, tmp_path, windows=6)
    reader = WordReader(finder.definition)
    pieces = [piece for words in reader([text for text, _ in TEXTS]) for piece in words.pieces]
    assert texts.pieces.tolist() == pieces * 6
    assert len(texts) == len(texts.pieces) // finder.config.room
    first, last = texts.row(0), texts.row(len(texts) - 1)
    assert len(first) == len(last) == finder.config.window
    assert first.pieces[1:-1] == pieces[: finder.config.room]
    assert first.words[:2] == [NO_WORD, 0]
    assert max(first.words) == first.n_words - 1
    assert NO_CASE not in first.cases
    assert set(last.cases[1:-1]) == {NO_CASE}
    batch, same, other = (texts.batch(5, step)["masked"] for step in (7, 7, 8))
    assert batch["input_ids"].shape == batch["targets"].shape == (6, 20)
    assert all(torch.equal(batch[name], same[name]) for name in batch)
    assert not torch.equal(batch["input_ids"], other["input_ids"])
    texts.to_disk(tmp_path / "kept")
    kept = UnmarkedTexts.from_disk(
        tmp_path / "kept", texts.settings, texts.form, WordReader(finder.definition)
    )
    assert torch.equal(kept.batch(5, 8)["masked"]["input_ids"], other["input_ids"])


def test_windows_that_show_case_are_taught(finder: MentionFinder, tmp_path: Path) -> None:
    texts = texts_of(finder, tmp_path, windows=0, taught=9)
    assert texts.batch(0, 0) == {}
    assert 0 < texts.n_cased < len(texts)
    rows = [texts.row(i) for i in range(texts.n_cased)]
    # What a teacher says of a word is its window's number and its own, here.
    said = [[[[i, w, 0]]] for i, row in enumerate(rows) for w in range(row.n_words)]
    taught = replace(texts, taught=np.array(said, np.float16).reshape(-1, 1, 3))
    batch = taught.batch(0, 0)["asked"]
    starts = [0, *(batch["words"].amax(dim=1) + 1).tolist()]
    for k, (begin, end) in enumerate(pairwise(starts)):
        numbers = batch["taught"][begin:end, 0, 0].unique().tolist()
        assert len(numbers) == 1
        row = rows[int(numbers[0])]
        assert batch["input_ids"][k].tolist() == row.pieces
        assert batch["taught"][begin:end, 0, 1].tolist() == list(range(row.n_words))


def test_masked_words_are_learned_beside_the_tags(finder: MentionFinder, tmp_path: Path) -> None:
    texts = texts_of(finder, tmp_path, windows=16)
    torch.manual_seed(0)
    encoder = BartEncoder(BartConfig(**finder.config.encoder))
    module = RecogniserModule(
        encoder, len(finder.labels), reading=replace(texts.settings, weight=1.0)
    )
    tagged = rows_of(finder.config, WordReader(finder.definition))
    pad_token_id = texts.form.encoder["pad_token_id"]
    examples = collate([tagged[i] for i in range(len(tagged))], pad_token_id, texts.form.window)
    tags_alone = module.eval()(**examples)["loss"]
    before = module(**examples, **texts.batch(0, 0))["loss"] - tags_alone
    # As good as any piece of the vocabulary.
    assert before.item() == pytest.approx(log(finder.config.encoder["vocab_size"]), rel=0.2)
    optimizer = torch.optim.AdamW(module.train().parameters(), lr=3e-3)
    for step in range(150):
        optimizer.zero_grad()
        module(**examples, **texts.batch(0, step))["loss"].backward()
        optimizer.step()
    module.eval()
    tags_alone = module(**examples)["loss"]
    after = module(**examples, **texts.batch(0, 1000))["loss"] - tags_alone
    assert after < before / 2
    assert tags_alone < 0.1
    # A recogniser without the layers that predicted the words.
    assert not any("words" in name for name in module.weights())


def test_texts_that_cannot_be_read_so(finder: MentionFinder, tmp_path: Path) -> None:
    assert read_unmarked(ReadingSettings(), finder.config, WordReader(finder.definition)) is None
    none = ReadingSettings((str(tmp_path / "none.jsonl"),), windows=0)
    assert read_unmarked(none, finder.config, WordReader(finder.definition)) is None
    (tmp_path / "short.jsonl").write_text('{"text": "Too short."}\n', encoding="utf8")
    short = ReadingSettings((str(tmp_path / "short.jsonl"),))
    with pytest.raises(AngelError, match=r"The texts of .*short\.jsonl.* do not fill 18 pieces"):
        read_unmarked(short, finder.config, WordReader(finder.definition))
    plain = Tokenizer(WordLevel({"a": 0, "<unk>": 1}, unk_token="<unk>"))
    plain.pre_tokenizer = Whitespace()
    with pytest.raises(AngelError, match=r"reading\.windows needs a mask token"):
        read_unmarked(short, finder.config, WordReader(plain.to_str()))
