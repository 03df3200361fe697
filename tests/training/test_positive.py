import pytest
import torch
from support.tiny_training import EXAMPLES, metrics, quick, tiny_backbone, weights_of

from spacy_angel.errors import AngelWarning
from spacy_angel.model.mention import Mention
from spacy_angel.training.course.positive import PositiveTrainer, train_positive
from spacy_angel.training.data.batches import Example, collate, encode
from spacy_angel.training.models.losses import label_logits, name_log_probs
from spacy_angel.training.settings.config_tables import PositiveSettings


def losses(output):
    return [(line["step"], line["loss"]) for line in metrics(output)]


def train(output, backbone=None, **values):
    backbone = backbone or tiny_backbone()
    rows = encode(EXAMPLES, backbone.prompts, backbone.max_target_tokens)
    settings = PositiveSettings(optimizer=quick(**values), label_smoothing=0.0)
    return train_positive(backbone, rows, settings, output)


def log_probs(backbone):
    rows = encode(EXAMPLES, backbone.prompts, backbone.max_target_tokens)
    batch = collate([rows[i] for i in range(len(rows))], 1)
    with torch.no_grad():
        logits = label_logits(backbone.model.eval(), batch)
    return name_log_probs(logits, batch["labels"]).sums


def test_examples_longer_than_the_limit_are_left_out_with_a_warning():
    examples = [*EXAMPLES, Example(Mention("x"), "heart failing " * 40)]
    with pytest.warns(AngelWarning, match="1 of 5 examples are longer"):
        assert len(encode(examples, tiny_backbone().prompts, 20)) == 4


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_learns_a_handful_of_mentions(tmp_path, precision):
    backbone = tiny_backbone()
    assert log_probs(backbone).max() < -5
    trained = train(tmp_path, backbone, precision=precision, learning_rate=1e-2)
    assert log_probs(backbone).min() > -0.1
    assert trained.accuracy is None
    saved = {path.name for path in trained.folder.iterdir()}
    assert saved >= {"model.safetensors", "config.json", "tokenizer.json", "angel.json"}


def test_first_loss_is_the_mean_over_all_labels(tmp_path):
    backbone = tiny_backbone()
    rows = encode(EXAMPLES, backbone.prompts, backbone.max_target_tokens)
    by_hand = -log_probs(backbone).sum() / len(rows.table["name"].combine_chunks().flatten())
    train(tmp_path, backbone, steps=1)
    assert losses(tmp_path)[0][1] == pytest.approx(by_hand.item(), abs=1e-4)


def test_a_batch_in_parts_gives_the_same_course(tmp_path):
    # In two parts the labels of the parts differ in number; each label still counts once.
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    train(whole, steps=3)
    train(parts, steps=3, accumulate=2)
    assert dict(losses(parts)) == pytest.approx(dict(losses(whole)), abs=2e-4)


class Killed(Exception):
    pass


def test_killed_and_resumed_it_takes_the_same_course(tmp_path, monkeypatch):
    # Batches of two, so that the order of an epoch matters; dropout, so that chance does.
    course = {"steps": 11, "batch_size": 2, "checkpoint_every": 3, "dropout": 0.2}
    straight, killed = tmp_path / "straight", tmp_path / "killed"
    train(straight, **course)

    compute_loss, calls = PositiveTrainer.compute_loss, []

    def dies(self, *args, **kwargs):
        calls.append(None)
        if len(calls) == 9:
            raise Killed
        return compute_loss(self, *args, **kwargs)

    monkeypatch.setattr(PositiveTrainer, "compute_loss", dies)
    with pytest.raises(Killed):
        train(killed, **course)
    assert losses(killed)[-1][0] == 8
    # A checkpoint that the kill left half written.
    (killed / "checkpoints/checkpoint-9").mkdir()
    train(killed, **course)
    assert losses(killed) == losses(straight)
    assert len(losses(killed)) == 11
    ours, theirs = weights_of(killed / "model"), weights_of(straight / "model")
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
