"""Both stages on a corpus of one's own, with the table before and after."""

from pathlib import Path

import pytest
import spacy
import torch
from support.helpers import ROOT
from support.tiny_training import CONCEPTS, tiny_backbone, write_corpus
from typer.testing import CliRunner

from spacy_angel.cli.app import app
from spacy_angel.errors import AngelError
from spacy_angel.training.course.both_stages import (
    StageResult,
    TrainingRun,
    regression_set,
    run_stages,
)
from spacy_angel.training.course.config import load_config
from spacy_angel.training.settings.config_tables import DevelopmentSettings
from spacy_angel.vocabulary.kb import ConceptKB

SENTENCES = [
    ("A man with renal pain came.", "renal pain", "T:1"),
    ("She died of a cardiac arrest.", "cardiac arrest", "T:2"),
    ("His weak heart gave out.", "weak heart", "T:3"),
    ("With a bad headache in bed.", "bad headache", "T:4"),
]


@pytest.fixture
def corpus(tmp_path):
    torch.set_num_threads(1)
    ConceptKB.build(CONCEPTS, tmp_path / "kb")
    tiny_backbone().save(tmp_path / "start")
    return write_corpus(tmp_path / "corpus.txt", SENTENCES, "Disease")


QUICK = {
    "positive.optimizer.steps": 60,
    "positive.optimizer.learning_rate": 3e-3,
    "positive.optimizer.precision": "float32",
    "positive.optimizer.batch_size": 4,
    "positive.optimizer.dropout": 0.0,
    "positive.examples.substitutes": 0.0,
    "negative.optimizer.precision": "float32",
}


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [{"rule": "all"}, {"top_k": 1}])
def test_both_stages_leave_the_best_model_alone(corpus, tmp_path, pairs):
    settings = QUICK | {f"negative.pairs.{name}": value for name, value in pairs.items()}
    config = load_config(ROOT / "configs/own.cfg", settings | {"negative.optimizer.steps": 2})
    arguments = {"train": [corpus], "dev": [corpus], "kb": tmp_path / "kb"}
    start = str(tmp_path / "start")
    run = run_stages(config, tmp_path / "out", **arguments, start=start)
    # One prediction gives no pair of a right and a wrong name, hence no second stage.
    stages = ["before", "positive-only", "negative-aware"]
    assert [s.stage for s in run.results] == stages[: 2 if "top_k" in pairs else 3]
    before, positive, *_ = run.results
    # Every second document is held out.
    assert before.development[0] < 2
    assert positive.development == (2, 2, 2)
    assert run.best is positive
    assert [path.parent.name for path in (tmp_path / "out").glob("*/model")] == ["positive"]
    assert not list((tmp_path / "out").rglob("checkpoints"))
    again = run_stages(config, tmp_path / "out", **arguments, start=start)
    assert again == run
    prepared = tmp_path / "out/corpus/train.json"
    changed = prepared.stat().st_mtime_ns
    other = load_config(ROOT / "configs/own.cfg", settings | {"positive.label_smoothing": 0.5})
    with pytest.raises(AngelError, match=r"settings\.positive\.label_smoothing"):
        run_stages(other, tmp_path / "out", **arguments, start=start)
    assert prepared.stat().st_mtime_ns == changed


def test_the_table_marks_the_model_that_is_best():
    before = StageResult("before", "start", (3, 8, 10), (40, 60, 100))
    after = StageResult("positive-only", "out", (7, 9, 10), (38, 61, 100))
    # On a tie the earlier model is kept.
    last = StageResult("negative-aware", "last", (7, 10, 10), (39, 61, 100))
    run = TrainingRun([before, after, last], Path("kb"), Path("dev"), Path("held"))
    assert run.best is after
    assert run.table().splitlines()[:5] == [
        "| model | development acc@1 (n = 10) | among the beams | regression acc@1 (n = 100) |",
        "| --- | --: | --: | --: |",
        "| before | 30.0 | 80.0 | 40.0 |",
        "| positive-only (best) | 70.0 | 90.0 | 38.0 |",
        "| negative-aware | 70.0 | 100.0 | 39.0 |",
    ]


def test_the_regression_set_has_synonyms_that_the_vocabulary_lacks():
    guard = regression_set(DevelopmentSettings())
    assert len(guard.mentions) == 300
    assert guard.kb.n_names <= len(guard.kb)
    shown = {guard.kb.name(i) for i in range(guard.kb.n_names)}
    assert shown.isdisjoint(labelled.mention.text.lower() for labelled in guard.mentions)


@pytest.mark.slow
def test_the_command_ends_in_a_pipeline_that_links(corpus, tmp_path):
    settings = [f"--set={name}={value}" for name, value in QUICK.items()]
    files = ["--train", corpus, "--dev", corpus, "--kb", tmp_path / "kb", "-o", tmp_path / "out"]
    arguments = ["train", *files, "--start", tmp_path / "start", *settings]
    done = CliRunner().invoke(app, [*map(str, arguments)])
    assert done.exit_code == 0, done.output
    assert "| positive-only (best) | 100.0 | 100.0 |" in done.stdout
    lines = (tmp_path / "out/table.md").read_text().splitlines()
    _, _, shipped, calibrated, trained, *_ = lines
    assert shipped.startswith("| en_angel_mini as it ships | ")
    assert shipped.endswith("| +0.0 (+0.0 to +0.0) |")
    assert calibrated.startswith("| en_angel_mini, calibrated | ")
    assert trained.startswith("| positive-only model, calibrated (in the pipeline) | 100.0 | +")
    assert all(line in done.stdout for line in lines)
    assert not (tmp_path / "out/pipelines").exists()
    nlp = spacy.load(tmp_path / "out/pipeline")
    assert nlp.pipe_names[-1] == "angel_linker"
    assert len(nlp.get_pipe("angel_linker").kb) == len(CONCEPTS)
