"""`spacy-angel train`: configs by name, and what is missing."""

import shutil

import pytest
from support.helpers import ROOT
from typer.testing import CliRunner

from spacy_angel.cli import options
from spacy_angel.cli.app import app
from spacy_angel.errors import AngelError
from spacy_angel.training import stages
from spacy_angel.training.course.config import find_config, load_config
from spacy_angel.training.course.run_folder import Trained
from spacy_angel.training.models import backbones


def run(*arguments):
    return CliRunner().invoke(app, ["train", *map(str, arguments)])


def test_a_config_is_a_file_or_a_name(tmp_path):
    assert (
        find_config("mini/ncbi") == find_config("mini/ncbi.cfg") == ROOT / "configs/mini/ncbi.cfg"
    )
    shutil.copy(ROOT / "configs/ncbi.cfg", tmp_path / "mine.cfg")
    assert find_config(str(tmp_path / "mine.cfg")) == tmp_path / "mine.cfg"
    with pytest.raises(AngelError, match=r"no config 'mini/none'.*bc5cdr, .*tiny/tiny"):
        find_config("mini/none")


def test_a_command_hands_its_config_and_overrides_to_the_stage(tmp_path, monkeypatch):
    called = []
    monkeypatch.setattr(stages, "fine_tune", lambda *given: called.append(given) or "done")
    output = tmp_path / "out"
    done = run("positive", "ncbi", "--start", "m", "-o", output, "--positive.optimizer.steps", 7)
    assert (done.exit_code, done.stdout) == (0, "done\n"), done.output
    expected = load_config(ROOT / "configs/ncbi.cfg", {"positive.optimizer.steps": 7})
    assert called == [(expected, output, "m")]
    done = run("positive", "ncbi", "--from-backbone", "-o", output)
    assert called[1:] == [(load_config(ROOT / "configs/ncbi.cfg"), output, None)]


def test_the_model_of_a_stage_is_uploaded(tmp_path, monkeypatch):
    uploaded = []

    def push(folder, name):
        uploaded.append((folder, name))
        return f"https://hub/{name}"

    monkeypatch.setattr(stages, "fine_tune", lambda *_: Trained(tmp_path / "model", 0.5))
    monkeypatch.setattr(backbones, "push_to_hub", push)
    done = run("positive", "ncbi", "--start", "m", "-o", tmp_path, "--push-to-hub", "me/model")
    assert uploaded == [(tmp_path / "model", "me/model")]
    assert done.stdout.splitlines()[-1] == "Model: https://hub/me/model"


@pytest.mark.parametrize("given", [[], ["--from-backbone", "--start", "en_angel_mini"]])
def test_positive_only_training_asks_what_to_begin_with(given, tmp_path):
    refused = run("positive", "ncbi", "-o", tmp_path / "out", *given)
    assert refused.exit_code == 1
    assert "needs one of `--start MODEL`" in refused.stderr
    assert not (tmp_path / "out").exists()


def test_what_training_needs_beside_the_package(monkeypatch, tmp_path):
    monkeypatch.setattr(options, "find_spec", lambda name: None if name == "trl" else name)
    refused = run("pretrain", "ncbi", "-o", tmp_path / "out")
    assert refused.exit_code == 1
    assert "needs the package trl: pip install 'spacy-angel[train]'" in refused.stderr
