"""project.yml: every step finds what it needs, and the whole way is gone on tiny data."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from support.helpers import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
from weasel.util import load_project_config

BENCHMARKS = ["ncbi", "bc5cdr", "aap", "cometa", "mm_st21pv"]
CASES = [(dataset, size) for dataset in BENCHMARKS for size in ("", "mini/")]
CASES += [("en_angel_mini", "mini/"), ("tiny", "tiny/")]


@pytest.fixture
def copy(tmp_path):
    """The project without anything that its commands made."""
    folder = tmp_path / "project"
    folder.mkdir()
    shutil.copy(ROOT / "project.yml", folder)
    ignore = shutil.ignore_patterns("__pycache__")
    for name in ("configs", "scripts", "assets/tiny"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignore)
    return folder


def read(folder, **overrides):
    named = {f"vars.{key}": value for key, value in overrides.items()}
    return load_project_config(folder, overrides=named)


@pytest.mark.parametrize("workflow", ["all", "train", "finetune", "pretraining"])
@pytest.mark.parametrize(("dataset", "size"), CASES)
def test_every_dependency_is_in_the_project_or_made_before(copy, dataset, size, workflow):
    config = read(copy, dataset=dataset, size=size)
    commands = {command["name"]: command for command in config["commands"]}
    made = []
    for name in config["workflows"][workflow]:
        command = commands[name]
        for path in command["deps"]:
            assert (copy / path).exists() or path in made, f"{name} needs {path}"
        assert command["outputs"], f"{name} would never be skipped"
        made += command["outputs"]
        for word in " ".join(command["script"]).split():
            if word.startswith(("scripts/", "configs/")):
                assert (copy / word).exists(), f"{name} calls {word}"
                assert word in command["deps"] or word == "scripts/folders.py", f"{name}: {word}"


def run(folder, *arguments, python=None):
    """Return the output of a Python command, which has to succeed without network."""
    environment = {**os.environ, "PIP_NO_INDEX": "1"}
    if python is not None:
        environment["PYTHONPATH"] = str(python)
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


LOADING = """
import json, spacy
nlp = spacy.load("en_angel_tiny")
doc = nlp("She took metformin for type 2 diabetes and had a heart attack.")
kb = nlp.get_pipe("angel_linker").kb
print(json.dumps([nlp.meta, nlp.pipe_names, len(kb), [e.kb_id_ for e in doc.ents]]))
"""


@pytest.mark.slow
def test_tiny_goes_the_whole_way_and_then_skips_it(copy, tmp_path):
    steps = read(copy)["workflows"]["all"]
    first = run(copy, "-m", "spacy", "project", "run", "tiny")
    assert "Skipping" not in first
    second = run(copy, "-m", "spacy", "project", "run", "tiny")
    for step in steps:
        if step == "start":
            continue
        assert f"Skipping '{step}': nothing changed" in second, step
    # The whole way, and what it starts from.
    assert second.count("Running command") == 2

    metrics = copy / "metrics/tiny/tiny/dev"
    for name in ("angel", "positive", "tfidf", "angel-train-names"):
        figures = json.loads((metrics / f"evaluations/tiny/{name}/metrics.json").read_text())
        assert figures["mentions"] == 23
        assert figures["coverage"] == 100
        assert figures["lenient"]["acc@1"] > 100 / 23
    assert (metrics / "comparisons/tiny/positive/report.md").exists()

    (wheel,) = (copy / "packages").glob("*.whl")
    site = tmp_path / "site"
    run(tmp_path, "-m", "pip", "install", "--no-deps", "--target", str(site), str(wheel))
    meta, pipes, concepts, links = json.loads(run(tmp_path, "-c", LOADING, python=site))
    assert any(line.startswith("spacy-angel>=") for line in meta["requirements"])
    assert pipes[-3:] == ["angel_abbreviations", "angel_consistency", "angel_linker"]
    assert concepts == 23
    assert all(link == "NIL" or link.startswith("MESH:") for link in links)
