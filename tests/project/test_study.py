"""Tables and figures of several trainings: every row fits the configs, and tiny ones are made."""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import srsly
from support.helpers import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import study
from recipes import base_of, read_recipe
from weasel.util import load_project_config

from spacy_angel.errors import AngelError
from spacy_angel.training.course.config import load_config

STUDIES = srsly.read_yaml(ROOT / study.STUDIES)
BENCHMARKS = ["ncbi", "bc5cdr", "aap", "cometa", "mm_st21pv"]


@cache
def plain_config(name: str) -> object:
    return load_config(ROOT / f"configs/{name}.cfg")


@pytest.mark.parametrize("size", ["", "mini/"])
@pytest.mark.parametrize("name", STUDIES)
def test_every_row_fits_the_configs(name: str, size: str) -> None:
    found = study.read_study(name, ROOT / study.STUDIES)
    assert len({row.name for row in found.rows}) == len(found.rows) >= 1
    assert found.figure is None or len(found.rows) == 2
    for row in found.rows:
        assert row.start in ("backbone", "positive", "negative")
        assert row.until in ("start", "positive", "negative")
        for dataset in BENCHMARKS:
            plain = plain_config(f"{size}{dataset}")
            changed = load_config(ROOT / f"configs/{size}{dataset}.cfg", dict(row.overrides))
            # the config's own, or that of other sizes
            as_it_is = {"DPO", "DPO with likelihood", "ANGEL", "Errors alone", "3", "1"}
            assert (changed == plain) <= (not row.overrides or row.name in as_it_is)


def test_the_project_has_a_command_for_each() -> None:
    config = load_project_config(ROOT)
    commands = {command["name"]: command for command in config["commands"]}
    for name in STUDIES:
        command = commands[name]
        assert command["script"][0].startswith(f"python scripts/study.py {name} --datasets '' ")
        assert command["no_skip"]
    assert config["workflows"]["data"] == ["fetch", "kb", "corpus", "abbreviations"]


def test_an_unknown_study() -> None:
    with pytest.raises(AngelError, match=r"no study 'table-9'.*table-d"):
        study.read_study("table-9", ROOT / study.STUDIES)


def test_folds_of_askapatient() -> None:
    assert (base_of("aap-fold-3"), base_of("aap"), base_of("mm_st21pv")) == (
        "aap",
        "aap",
        "mm_st21pv",
    )
    path = ROOT / "configs/datasets.yml"
    recipe = read_recipe("aap-fold-3", path)
    assert [part.file for part in recipe.parts("train", "dev", "test")] == [
        f"AskAPatient.fold-3.{part}.txt" for part in ("train", "validation", "test")
    ]
    assert recipe.vocabulary[0] == read_recipe("aap", path).vocabulary[0]
    with pytest.raises(AngelError, match="no dataset 'ncbi-fold-1'"):
        read_recipe("ncbi-fold-1", path)
    assert len(study.read_study("aap-folds", ROOT / study.STUDIES).datasets) == 10


@pytest.mark.slow
def test_tiny_tables_and_figures(tmp_path: Path) -> None:
    """Two of the trainings are shared by all; nothing is trained twice."""
    ignore = shutil.ignore_patterns("__pycache__")
    for name in ("configs", "scripts", "assets/tiny"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignore)
    shutil.copy(ROOT / "project.yml", tmp_path)
    one_core = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    output = tmp_path / "metrics/tiny/studies/dev"
    for name in ("table-d", "figure-3", "figure-4"):
        command = ["-m", "spacy", "project", "run", name, "."]
        variables = ["--vars.size", "tiny/", "--vars.benchmarks", "tiny"]
        done = subprocess.run(
            [sys.executable, *command, *variables],
            cwd=tmp_path,
            env={**os.environ, **one_core},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert (output / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    lines = (output / "table-d.md").read_text().splitlines()
    names = [line.split(" | ")[0].strip("| ") for line in lines if line.startswith("| ")]
    rows = ["GenBioEL", "Pairwise", "CPO", "SimPO", "DPO", "DPO with likelihood"]
    assert names == ["lenient accuracy, %", "---", *rows, "", "---", *rows[1:]]
    head = "| similarity | mentions | GenBioEL | ANGEL |"
    assert head in (output / "figure-4.md").read_text()
    assert "| similarity | pairs | GenBioEL | ANGEL |" in (output / "figure-3.md").read_text()
    folders = [p.name.split("-")[0] for p in (tmp_path / "training/tiny/studies/tiny").iterdir()]
    assert sorted(folders) == ["negative"] * 6 + ["positive"] * 2 + ["start"] * 2
