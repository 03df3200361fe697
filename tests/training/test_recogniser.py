"""A recogniser's training: the loss by hand, a small course, a killed one that goes on."""

import json
import shutil
from dataclasses import replace
from math import log
from pathlib import Path

import pytest
import torch
from support.models import make_tiny_model
from support.tiny_recogniser import LABELS, TEXTS
from support.tiny_training import quick

from spacy_angel.about import DATA
from spacy_angel.errors import AngelError
from spacy_angel.recognition.finder import MentionFinder
from spacy_angel.training.models.losses import IGNORE
from spacy_angel.training.recogniser.config import (
    ReadingSettings,
    RecogniserConfig,
    RecogniserCorpus,
    RecogniserData,
    RecogniserSettings,
)
from spacy_angel.training.recogniser.module import tag_loss
from spacy_angel.training.recogniser.source import folder_of
from spacy_angel.training.recogniser.training import (
    prepare_recogniser,
    score_table,
    train_recogniser,
)


def test_open_words_take_no_loss() -> None:
    # Two words, two labels; probabilities 1/2, 1/4, 1/4 everywhere.
    logits = torch.tensor([0.5, 0.25, 0.25]).log().expand(2, 2, 3).clone().requires_grad_()
    tags = torch.tensor([[0, IGNORE], [1, IGNORE]])
    loss = tag_loss(logits, tags)
    assert loss.item() == pytest.approx((log(2) + log(4)) / 2)
    loss.backward()
    assert logits.grad is not None
    assert logits.grad[:, 1].abs().sum() == 0
    # Softmax minus one-hot, a half of each: of OUTSIDE, then of BEGIN.
    assert logits.grad[0, 0].tolist() == pytest.approx([-0.25, 0.125, 0.125])
    assert logits.grad[1, 0].tolist() == pytest.approx([0.25, -0.375, 0.125])
    assert tag_loss(logits, torch.full((2, 2), IGNORE)).item() == 0


@pytest.fixture
def recipe(tmp_path: Path) -> RecogniserConfig:
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
    return RecogniserConfig(
        RecogniserSettings(
            LABELS, str(tmp_path / "start"), window=40, overlap=8, train_embeddings=True
        ),
        {
            "all": RecogniserCorpus(str(tmp_path / "all.jsonl"), labels),
            "diseases": RecogniserCorpus(str(tmp_path / "diseases.jsonl"), {"Disease": "DISEASE"}),
        },
        quick(steps=80, batch_size=8, schedule="constant", checkpoint_every=40, log_every=10),
        RecogniserData(choose=(0, 1), last_look=(2,), passes=4, swapped=0.0, restyled=0.0),
        ReadingSettings((str(tmp_path / "all.jsonl"),), windows=2),
    )


def test_a_course_learns_is_not_run_twice_and_goes_on_when_killed(
    recipe: RecogniserConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = train_recogniser(recipe, tmp_path / "out")
    assert scores["choose"]["DISEASE"]["right"] == scores["choose"]["DISEASE"]["gold"] > 0
    finder = MentionFinder.from_disk(tmp_path / "out" / "model")
    text, marked = TEXTS[0]
    found = {(text[m.start : m.end], m.label) for m in finder.find([text])[0]}
    assert found == {(part, LABELS[label]) for part, label in marked}
    table = score_table(scores, LABELS)
    assert table.splitlines()[2].startswith("| DISEASE | choosing |")
    metrics = (tmp_path / "out" / "metrics.jsonl").read_text(encoding="utf8").splitlines()
    measured = [line for line in map(json.loads, metrics) if "eval_mean_f_score" in line]
    assert [line["step"] for line in measured] == [40, 80]
    model = (tmp_path / "out" / "model" / "model.int8.safetensors").stat().st_mtime_ns
    assert train_recogniser(recipe, tmp_path / "out") == scores
    assert (tmp_path / "out" / "model" / "model.int8.safetensors").stat().st_mtime_ns == model
    other = replace(recipe, data=replace(recipe.data, passes=3))
    with pytest.raises(AngelError, match=r"settings\.data\.passes"):
        train_recogniser(other, tmp_path / "out")

    # Killed, it goes on to the same.
    from spacy_angel.training.recogniser import training as recogniser

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    calls = []

    def killed_at_the_second(*args: object) -> dict:
        calls.append(args)
        if len(calls) == 2:
            killed()
        return measure(*args)

    measure = recogniser.measure
    monkeypatch.setattr(recogniser, "measure", killed_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        train_recogniser(recipe, tmp_path / "killed")
    monkeypatch.setattr(recogniser, "measure", measure)
    assert (tmp_path / "killed" / "checkpoints" / "checkpoint-40").is_dir()
    assert train_recogniser(recipe, tmp_path / "killed") == scores
    files = [tmp_path / name / "model" / "model.int8.safetensors" for name in ("out", "killed")]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_what_is_prepared_is_not_read_again(
    recipe: RecogniserConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from spacy_angel.training.recogniser import training as recogniser

    shutil.copy(tmp_path / "all.jsonl", tmp_path / "texts.jsonl")
    short = replace(
        recipe,
        optimizer=replace(recipe.optimizer, steps=4, checkpoint_every=4),
        reading=ReadingSettings((str(tmp_path / "texts.jsonl"),), windows=2),
    )
    prepared = prepare_recogniser(short, tmp_path / "here")
    assert len(prepared.rows) > 0
    assert prepared.unmarked is not None
    for name in ("make_rows", "read_unmarked"):
        monkeypatch.setattr(recogniser, name, None)
    # On another machine, where the texts that were read are not.
    (tmp_path / "here").rename(tmp_path / "there")
    texts = Path(short.reading.texts[0])
    texts.rename(tmp_path / "kept.jsonl")
    scores = train_recogniser(short, tmp_path / "there")
    monkeypatch.undo()
    (tmp_path / "kept.jsonl").rename(texts)
    assert scores == train_recogniser(short, tmp_path / "anew")
    files = [tmp_path / name / "model" / "model.int8.safetensors" for name in ("there", "anew")]
    assert files[0].read_bytes() == files[1].read_bytes()
    # Not from a corpus that has changed since.
    with (tmp_path / "all.jsonl").open("a", encoding="utf8") as file:
        file.write("\n")
    with pytest.raises(AngelError, match=r"read\.corpora"):
        prepare_recogniser(short, tmp_path / "there")


def test_layers_that_are_compiled_see_one_shape(
    recipe: RecogniserConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shapes: set[tuple[int, ...]] = set()
    compiled = []

    def spied(layer: torch.nn.Module, **settings: bool) -> None:
        compiled.append(settings)
        layer.register_forward_pre_hook(lambda _, read: shapes.add(tuple(read[0].shape[:2])))

    monkeypatch.setattr(torch.nn.Module, "compile", spied)
    settings = replace(recipe.recogniser, compiled=True)
    # Rows that leave an incomplete batch at the end of a pass, and three passes of them.
    optimizer = replace(recipe.optimizer, steps=0, epochs=3.0, batch_size=7, checkpoint_every=20)
    train_recogniser(replace(recipe, recogniser=settings, optimizer=optimizer), tmp_path / "out")
    assert compiled == [{"dynamic": False}] * len(compiled) != []
    # Seven windows and two with masked words, of 40 pieces.
    assert shapes == {(9, 40)}


def test_it_begins_with_a_bart(recipe: RecogniserConfig, tmp_path: Path) -> None:
    (tmp_path / "start" / "tokenizer.json").unlink()
    with pytest.raises(AngelError, match=r"A recognizer starts from a BART with .*tokenizer\.json"):
        train_recogniser(recipe, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_course_goes_on_from_another_and_adds_labels(
    recipe: RecogniserConfig, tmp_path: Path
) -> None:
    train_recogniser(recipe, tmp_path / "first")
    first = MentionFinder.from_disk(tmp_path / "first" / "model")
    source = str(tmp_path / "first" / "model")
    labels = ("RASH", *reversed(LABELS))
    again = replace(
        recipe,
        recogniser=replace(recipe.recogniser, labels=labels, source=source),
        # So few and small updates change nothing.
        optimizer=replace(
            recipe.optimizer, steps=1, learning_rate=1e-9, checkpoint_every=1, log_every=1
        ),
    )
    scores = train_recogniser(again, tmp_path / "second")
    assert scores["choose"]["DISEASE"]["right"] == scores["choose"]["DISEASE"]["gold"] > 0
    second = MentionFinder.from_disk(tmp_path / "second" / "model")
    texts = [text for text, _ in TEXTS]
    known = [[m[:3] for m in found if m.label != "RASH"] for found in second.find(texts)]
    assert list(map(set, known)) == [{m[:3] for m in found} for found in first.find(texts)]


def test_a_recogniser_is_named_by_its_folder_a_pipeline_or_one_that_ships() -> None:
    pipeline = DATA / "en_angel_bio"
    inner = pipeline / "angel_recogniser" / "model"
    for name in ("en_angel_bio", str(pipeline), str(inner)):
        assert folder_of(name) == inner


def test_what_it_goes_on_from_takes_the_place_of_a_start(
    recipe: RecogniserConfig, tmp_path: Path
) -> None:
    short = replace(recipe.optimizer, steps=1, checkpoint_every=1, log_every=1)
    settings = replace(recipe.recogniser, start=str(tmp_path / "none"), source="en_angel_bio")
    config = replace(recipe, recogniser=settings, optimizer=short)
    train_recogniser(config, tmp_path / "out")
    shipped = MentionFinder.from_disk(DATA / "en_angel_bio" / "angel_recogniser" / "model")
    assert MentionFinder.from_disk(tmp_path / "out" / "model").config.encoder == (
        shipped.config.encoder
    )
    shallow = replace(settings, layers=3)
    train_recogniser(replace(config, recogniser=shallow), tmp_path / "shallow")
    weights = MentionFinder.from_disk(tmp_path / "shallow" / "model").weights()
    # So small a course changes little: they are layers 0, 2 and 5 of the six.
    for layer, of_source in enumerate((0, 2, 5)):
        names = (f"model.encoder.layers.{n}.fc1.weight" for n in (layer, of_source))
        ours, theirs = weights[next(names)], shipped.weights()[next(names)]
        assert torch.nn.functional.cosine_similarity(ours, theirs).min() > 0.99
    assert not any(".layers.3." in name for name in weights)
    deep = replace(settings, layers=7)
    with pytest.raises(
        AngelError, match=r"The config .* is not valid: .*layers: 7, and the source has 6"
    ):
        train_recogniser(replace(config, recogniser=deep), tmp_path / "deep")
    settings = replace(recipe.recogniser, source=str(tmp_path))
    with pytest.raises(AngelError, match="angel_recogniser"):
        train_recogniser(replace(recipe, recogniser=settings), tmp_path / "other")
