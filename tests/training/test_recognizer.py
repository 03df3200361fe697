"""A recognizer's training: the loss by hand, a small run, an interrupted one that continues."""

import json
from dataclasses import replace
from math import log

import pytest
import torch
from support.models import make_tiny_model
from support.tiny_recogniser import LABELS, TEXTS
from support.tiny_training import metrics, quick

from spacy_angel.errors import AngelError
from spacy_angel.recognition.finder import MentionFinder
from spacy_angel.training.models.losses import IGNORE
from spacy_angel.training.recognizer import training as recognizer
from spacy_angel.training.recognizer.config import (
    RecognizerConfig,
    RecognizerCorpus,
    RecognizerData,
    RecognizerSettings,
)
from spacy_angel.training.recognizer.module import tag_loss
from spacy_angel.training.recognizer.training import score_table, train_recognizer


def test_ignored_words_have_no_loss():
    # Two words, two labels; probabilities 1/2, 1/4, 1/4 everywhere.
    logits = torch.tensor([0.5, 0.25, 0.25]).log().expand(2, 2, 3).clone().requires_grad_()
    tags = torch.tensor([[0, IGNORE], [1, IGNORE]])
    loss = tag_loss(logits, tags)
    assert loss.item() == pytest.approx((log(2) + log(4)) / 2)
    loss.backward()
    assert logits.grad[:, 1].abs().sum() == 0
    # Softmax minus one-hot, a half of each: of OUTSIDE, then of BEGIN.
    assert logits.grad[0, 0].tolist() == pytest.approx([-0.25, 0.125, 0.125])
    assert logits.grad[1, 0].tolist() == pytest.approx([0.25, -0.375, 0.125])
    assert tag_loss(logits, torch.full((2, 2), IGNORE)).item() == 0


@pytest.fixture
def recipe(tmp_path):
    """`TEXTS` in two corpora, of which one annotates diseases alone."""
    make_tiny_model(tmp_path / "start", [text for text, _ in TEXTS])
    names = ("Disease", "Gene", "Cell")
    for corpus, kept in (("all", {0, 1, 2}), ("diseases", {0})):
        lines = []
        for n, (text, marked) in enumerate(TEXTS * 4):
            mentions = [
                {"start": text.index(p), "end": text.index(p) + len(p), "label": names[label]}
                for p, label in marked
                if label in kept
            ]
            # Digit 0 of the last ones: they are what is chosen on.
            doc_id = f"{corpus} {n}"
            lines.append(json.dumps({"id": doc_id, "text": text, "mentions": mentions}))
        (tmp_path / f"{corpus}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf8")
    labels = dict(zip(names, LABELS, strict=True))
    return RecognizerConfig(
        RecognizerSettings(
            LABELS, str(tmp_path / "start"), window=40, overlap=8, train_embeddings=True
        ),
        {
            "all": RecognizerCorpus(str(tmp_path / "all.jsonl"), labels),
            "diseases": RecognizerCorpus(str(tmp_path / "diseases.jsonl"), {"Disease": "DISEASE"}),
        },
        quick(steps=80, batch_size=8, schedule="constant", checkpoint_every=40, log_every=10),
        RecognizerData(choose=(0, 1), test=(2,), epochs=4, swapped=0.0),
    )


def test_a_run_learns_is_not_repeated_and_continues(recipe, tmp_path, monkeypatch):
    scores = train_recognizer(recipe, tmp_path / "out")
    assert scores["choose"]["DISEASE"]["recall"] == 100
    finder = MentionFinder.from_disk(tmp_path / "out" / "model")
    text, marked = TEXTS[0]
    found = {(text[m.start : m.end], m.label) for m in finder.find([text])[0]}
    assert found == {(part, LABELS[label]) for part, label in marked}
    table = score_table(scores, LABELS)
    assert table.splitlines()[2].startswith("| DISEASE | choosing |")
    measured = metrics(tmp_path / "out", "eval_mean_f_score")
    assert [line["step"] for line in measured] == [40, 80]
    weights = tmp_path / "out" / "model" / "model.int8.safetensors"
    written = weights.stat().st_mtime_ns
    assert train_recognizer(recipe, tmp_path / "out") == scores
    assert weights.stat().st_mtime_ns == written
    other = replace(recipe, data=replace(recipe.data, epochs=3))
    with pytest.raises(AngelError, match=r"settings\.data\.epochs"):
        train_recognizer(other, tmp_path / "out")

    # Interrupted, it continues to the same model.
    measure, calls = recognizer.measure, []

    def interrupted(*args):
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return measure(*args)

    monkeypatch.setattr(recognizer, "measure", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train_recognizer(recipe, tmp_path / "killed")
    monkeypatch.setattr(recognizer, "measure", measure)
    assert (tmp_path / "killed" / "checkpoints" / "checkpoint-40").is_dir()
    assert train_recognizer(recipe, tmp_path / "killed") == scores
    again = tmp_path / "killed" / "model" / "model.int8.safetensors"
    assert again.read_bytes() == weights.read_bytes()


def test_the_start_is_checked(recipe, tmp_path):
    settings = replace(recipe.recogniser, source=str(tmp_path))
    with pytest.raises(AngelError, match="angel_recogniser"):
        train_recognizer(replace(recipe, recogniser=settings), tmp_path / "out")
    (tmp_path / "start" / "tokenizer.json").unlink()
    with pytest.raises(AngelError, match=r"starts from a BART or BERT with a tokenizer\.json"):
        train_recognizer(recipe, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_run_continues_from_another_and_adds_labels(recipe, tmp_path):
    train_recognizer(recipe, tmp_path / "first")
    first = MentionFinder.from_disk(tmp_path / "first" / "model")
    source, labels = str(tmp_path / "first" / "model"), ("RASH", *reversed(LABELS))
    again = replace(
        recipe,
        recogniser=replace(recipe.recogniser, labels=labels, source=source),
        # An update that is too small to change anything.
        optimizer=replace(recipe.optimizer, steps=1, learning_rate=1e-9, checkpoint_every=1),
    )
    scores = train_recognizer(again, tmp_path / "second")
    assert scores["choose"]["DISEASE"]["recall"] == 100
    second = MentionFinder.from_disk(tmp_path / "second" / "model")
    texts = [text for text, _ in TEXTS]
    known = [[m[:3] for m in found if m.label != "RASH"] for found in second.find(texts)]
    assert list(map(set, known)) == [{m[:3] for m in found} for found in first.find(texts)]
