import pytest
import torch
from support.tiny_training import (
    CONCEPTS,
    EXAMPLES,
    GOLD,
    metrics,
    quick,
    tiny_backbone,
    weights_of,
)
from transformers.training_args import TrainingArguments

from spacy_angel.errors import AngelError
from spacy_angel.training.course.positive import train_positive
from spacy_angel.training.course.trainer import training_arguments
from spacy_angel.training.data.batches import encode
from spacy_angel.training.data.development import Development
from spacy_angel.training.settings.config_tables import DevelopmentSettings, PositiveSettings
from spacy_angel.vocabulary.kb import ConceptKB


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
    assert arguments(push_to_hub=True, hub_model_id="me/model").hub_model_id == "me/model"
    # Beside the checkpoints, which are removed at the end.
    assert arguments(report_to=["tensorboard"]).logging_dir == str(tmp_path / "runs")
    with pytest.raises(AngelError, match="TrainingArguments, which has no reprot_to"):
        arguments(reprot_to="tensorboard")
    with pytest.raises(AngelError, match=r"\[trainer\] is not valid: .*sometimes"):
        arguments(save_strategy="sometimes")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_float16_is_refused_on_a_cpu(tmp_path):
    with pytest.raises(AngelError, match=r"'float16' needs a GPU.*'bfloat16' or 'float32'"):
        training_arguments(TrainingArguments, quick(precision="float16"), tmp_path, False, {})


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
    accuracies = [(x["step"], x["eval_accuracy"]) for x in metrics(tmp_path, "eval_accuracy")]
    assert accuracies == [(2, 0.5), (4, 0.75), (5, 0.25)]
