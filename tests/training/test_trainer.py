import json
import os
import subprocess
import sys

import pytest
import torch
from support.helpers import ROOT
from support.tiny_training import CONCEPTS, EXAMPLES, GOLD, quick, tiny_backbone, weights_of
from transformers.training_args import TrainingArguments

from spacy_angel.errors import AngelError
from spacy_angel.training.course.positive import train_positive
from spacy_angel.training.course.run_folder import lock_run_folder
from spacy_angel.training.course.trainer import training_arguments
from spacy_angel.training.data.batches import encode
from spacy_angel.training.data.development import Development
from spacy_angel.training.settings.config_tables import DevelopmentSettings, PositiveSettings
from spacy_angel.vocabulary.kb import ConceptKB


def test_a_folder_of_another_run_is_refused(tmp_path):
    lock_run_folder(tmp_path, {"settings": {"seed": 1, "loss": {"beta": 0.1}}, "rows": 3})
    lock_run_folder(tmp_path, {"settings": {"seed": 1, "loss": {"beta": 0.1}}, "rows": 3})
    with pytest.raises(AngelError, match=r"settings: rows, settings\.loss\.beta\."):
        lock_run_folder(tmp_path, {"settings": {"seed": 1, "loss": {"beta": 0.2}}, "rows": 4})


def test_batch_is_divided_over_processes_and_parts(tmp_path, monkeypatch):
    settings = quick(batch_size=12, accumulate=3)
    arguments = training_arguments(TrainingArguments, settings, tmp_path, False, {})
    assert arguments.per_device_train_batch_size == 4
    monkeypatch.setenv("WORLD_SIZE", "5")
    with pytest.raises(AngelError, match=r"batch_size 12 .* 5 processes times 3 parts"):
        training_arguments(TrainingArguments, settings, tmp_path, False, {})


def test_options_are_those_of_transformers(tmp_path):
    def arguments(**options):
        return training_arguments(TrainingArguments, quick(), tmp_path, False, options)

    assert arguments(gradient_checkpointing=True, seed=7).gradient_checkpointing
    with pytest.raises(AngelError, match="TrainingArguments, which has no reprot_to"):
        arguments(reprot_to="tensorboard")


def test_only_the_best_checkpoint_by_development_accuracy_stays(tmp_path, monkeypatch, capsys):
    backbone = tiny_backbone()
    kb = ConceptKB.build(CONCEPTS)
    development = Development(GOLD, kb, DevelopmentSettings())
    measured, best = iter([(2, 4, 4), (3, 4, 4), (1, 4, 4)]), []

    def hits(backbone, **_):
        found = next(measured)
        if found[0] == 3:
            best.append({k: w.clone() for k, w in backbone.model.state_dict().items()})
        return found

    monkeypatch.setattr(development, "hits", hits)
    rows = encode(EXAMPLES, backbone.prompts, 64)
    settings = PositiveSettings(optimizer=quick(steps=5, checkpoint_every=2, keep_checkpoints=3))
    trained = train_positive(backbone, rows, settings, tmp_path, development)
    assert trained.accuracy == 0.75
    # The last checkpoint is worse, and nothing but the best model stays.
    assert all(torch.equal(w, best[0][name]) for name, w in weights_of(trained.folder).items())
    left = ["metrics.jsonl", "model", "result.json", "run.json"]
    assert sorted(path.name for path in tmp_path.iterdir()) == left
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == f"Training on 4 examples: {tmp_path}"
    assert [line.split(":")[0] for line in printed[1:]] == [
        *("step 1, epoch 1.0", "step 2, epoch 2.0", "step 3, epoch 3.0"),
        *("step 4, epoch 4.0", "step 5, epoch 5.0"),
    ]
    assert printed[2].endswith("accuracy 0.500, accuracy top k 1.000")
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [(x["step"], x["eval_accuracy"]) for x in lines if "eval_accuracy" in x] == [
        (2, 0.5),
        (4, 0.75),
        (5, 0.25),
    ]


RUN = """
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
import torch
from support.tiny_training import CONCEPTS, EXAMPLES, GOLD, PAIRS, quick, tiny_backbone
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.training.data.batches import PAIR, encode
from spacy_angel.training.settings.config_tables import (
    DevelopmentSettings,
    NegativeSettings,
    PositiveSettings,
)
from spacy_angel.training.data.development import Development
from spacy_angel.training.course.negative import reference_log_probs, train_negative
from spacy_angel.training.course.positive import train_positive

output = Path(sys.argv[2])
backbone = tiny_backbone()
development = Development(GOLD, ConceptKB.build(CONCEPTS), DevelopmentSettings())
rows = encode(EXAMPLES * 2, backbone.prompts, 64)
settings = PositiveSettings(optimizer=quick(steps=6, checkpoint_every=3))
train_positive(backbone, rows, settings, output / "positive", development)
rows = encode(PAIRS, backbone.prompts, 64, PAIR)
rows.values = reference_log_probs(backbone, rows)
negative = NegativeSettings(optimizer=quick(steps=4, learning_rate=1e-3, batch_size=2))
train_negative(backbone, rows, negative, output / "negative")
"""


@pytest.mark.slow
def test_two_processes_train_what_one_does(tmp_path):
    script = tmp_path / "run.py"
    script.write_text(RUN)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": ""}
    one = [sys.executable, str(script), str(ROOT / "tests")]
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    two = [*launcher, "--nproc_per_node=2", *one[1:]]
    for command, output in ((one, "one"), (two, "two")):
        subprocess.run([*command, str(tmp_path / output)], check=True, env=environment)
    for stage in ("positive", "negative"):
        ours, theirs = (weights_of(tmp_path / run / stage / "model") for run in ("two", "one"))
        # A bias of keys changes no attention: its gradient is rounding, which Adam blows up.
        for name in (name for name in theirs if not name.endswith("k_proj.bias")):
            assert torch.allclose(ours[name], theirs[name], atol=1e-5), name
        results = [tmp_path / run / stage / "result.json" for run in ("one", "two")]
        assert results[0].read_text() == results[1].read_text()
