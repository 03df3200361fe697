"""project.yml: every step finds what it needs, and the whole way is gone on tiny data."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.helpers import ROOT
from support.tiny_training import tiny_backbone

sys.path.insert(0, str(ROOT / "scripts"))
import folders
from fetch import read_assets
from recipes import needs, read_recipe
from weasel.util import load_project_config

from spacy_angel.corpora.preprocessing import PUBLISHED
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.sources.formats.registry import FORMATS as vocabulary_formats

BENCHMARKS = ["ncbi", "bc5cdr", "aap", "cometa", "mm_st21pv"]
CASES = [(dataset, size) for dataset in BENCHMARKS for size in ("", "mini/")]
CASES += [("en_angel_mini", "mini/"), ("tiny", "tiny/")]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The project without anything that its commands made."""
    folder = tmp_path / "project"
    folder.mkdir()
    shutil.copy(ROOT / "project.yml", folder)
    ignore = shutil.ignore_patterns("__pycache__")
    for name in ("configs", "scripts", "assets/tiny"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignore)
    return folder


def read(folder: Path, **overrides: str) -> dict[str, Any]:
    named = {f"vars.{key}": value for key, value in overrides.items()}
    return load_project_config(folder, overrides=named)


@pytest.mark.parametrize("workflow", ["all", "train", "finetune", "pretraining"])
@pytest.mark.parametrize(("dataset", "size"), CASES)
def test_every_dependency_is_in_the_project_or_made_before(
    copy: Path, dataset: str, size: str, workflow: str
):
    config = read(copy, dataset=dataset, size=size)
    commands = {command["name"]: command for command in config["commands"]}
    made: list[str] = []
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


def test_settings_of_the_training_reach_the_scripts(copy: Path):
    from shlex import split

    from weasel.util import parse_config_overrides

    from spacy_angel.training.course.config import load_config

    override = "positive.optimizer.steps=7 --negative.rounds=2"
    config = read(copy, dataset="en_angel_mini", backbone="some/a model", override=override)
    commands = {command["name"]: command for command in config["commands"]}
    for name in ("pretrain", "start", "train-positive", "train-negative"):
        words = split(commands[name]["script"][-1])
        overrides = parse_config_overrides(words[words.index("--data.kb") :], env_var=None)
        file = next(word for word in words if word.endswith(".cfg"))
        settings = load_config(copy / file, overrides)
        assert settings.data.kb == "corpus/en_angel_mini/kb"
        train = () if name == "pretrain" else ("corpus/en_angel_mini/train.json",)
        assert settings.data.train == train
        assert settings.data.dev == ("corpus/en_angel_mini/dev.json",)
        assert settings.backbone.name == "some/a model"
        assert (settings.positive.optimizer.steps, settings.negative.rounds) == (7, 2)


def test_pretraining_is_shared_where_it_is_wanted(copy: Path):
    shared = [
        read(copy, dataset=name, size="", pretraining="mm_st21pv") for name in ("ncbi", "aap")
    ]
    commands = [{c["name"]: c for c in config["commands"]} for config in shared]
    assert commands[0]["pretrain"] == commands[1]["pretrain"]
    assert commands[0]["pretrain"]["outputs"] == ["training/pretrained/mm_st21pv/negative/model"]
    assert "corpus/mm_st21pv/kb/meta.json" in commands[0]["pretrain"]["deps"]
    [script] = commands[1]["start"]["script"]
    assert "--start 'training/pretrained/mm_st21pv/negative/model'" in script
    handed_on = read(copy, handed_on="--vars.pretraining mm_st21pv")
    nested = {c["name"]: c["script"][0] for c in handed_on["commands"]}["benchmark-ncbi"]
    assert nested.endswith(" --vars.pretraining mm_st21pv")


@pytest.mark.parametrize("start", ["dmis-lab/ANGEL_pretrained", "backbone", "own/model"])
def test_fine_tuning_starts_from_what_is_there(copy: Path, start: str):
    config = read(copy, start=start)
    assert "pretrain" not in config["workflows"]["finetune"]
    commands = {c["name"]: c for c in config["commands"]}
    assert f"--start '{start}' --output training/mini/ncbi/start" in commands["start"]["script"][0]
    assert commands["start"]["no_skip"]
    for name in ("train-positive", "train-negative"):
        assert "training/mini/ncbi/start" in commands[name]["deps"]
        assert "pretrain" not in " ".join(commands[name]["script"])


def test_commands_and_workflows(copy: Path):
    config = read(copy)
    workflows = config["workflows"]
    assert workflows["benchmarks"] == [f"benchmark-{name}" for name in BENCHMARKS]
    nested = {c["name"]: c["script"] for c in config["commands"]}
    for name in BENCHMARKS:
        (line,) = nested[f"benchmark-{name}"]
        assert f"run all . --vars.dataset {name} " in line
    for steps in workflows.values():
        assert {*steps} <= nested.keys()


def test_scripts_of_what_ships_are_there():
    folder = ROOT / "scripts/shipped"
    config = load_project_config(folder)
    scripts = {command["name"]: " ".join(command["script"]) for command in config["commands"]}
    assert [*scripts] == config["workflows"]["all"]
    for word in " ".join(scripts.values()).split():
        if word.endswith((".py", ".cfg")):
            assert (folder / word).exists() or (ROOT / word).exists(), word


def test_benchmarks_hand_the_variables_on(copy: Path):
    from shlex import split

    from weasel.util import parse_config_overrides

    given = {"size": "", "mirror": "../my data", "override": "a.b=1 --c.d=2", "split": "test"}
    config = read(copy, **given)
    script = {c["name"]: c["script"] for c in config["commands"]}["benchmark-ncbi"][0]
    words = split(script)
    found = parse_config_overrides(words[words.index(".") + 1 :], env_var=None)
    assert {key: found[f"vars.{key}"] for key in given} == given


def test_every_file_of_a_recipe_has_an_asset():
    assets = read_assets(ROOT / "project.yml")
    for name in [*BENCHMARKS, "en_angel_mini", "tiny"]:
        recipe = read_recipe(name, ROOT / "configs/datasets.yml")
        files = [file for part in recipe.parts("train", "dev", "test") for file in part.needs]
        files += [file for choice in recipe.vocabulary for file in needs(choice)]
        assert len(files) > 1
        assert set(files) <= assets.keys(), name
        for part in recipe.parts("train", "dev", "test"):
            assert part.preprocessing in PUBLISHED
        formats = {step.format for choice in recipe.vocabulary for step in choice}
        known = {format.partition(".")[0] for format in vocabulary_formats}
        assert formats <= {None, "askapatient", *known}
    for asset in assets.values():
        assert asset.description, f"{asset.dest} has no description"
        assert asset.url.startswith("https://") or not asset.url


def test_a_stage_goes_on_with_its_inputs_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    data, stage = tmp_path / "data", Path("training/positive")
    (data / "sub").mkdir(parents=True)
    (data / "sub/a.txt").write_text("a")
    folders.renew(stage, [data], "steps=1")
    (stage / "checkpoint").write_text("half way")
    folders.renew(stage, [data], "steps=1")
    assert (stage / "checkpoint").exists()
    folders.renew(stage, [data], "steps=2")
    assert [path.name for path in stage.iterdir()] == [folders.INPUTS]
    (stage / "checkpoint").write_text("half way")
    (data / "sub/a.txt").write_text("b")
    folders.renew(stage, [data], "steps=2")
    assert not (stage / "checkpoint").exists()


def test_a_run_of_someone_else_is_not_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "training").mkdir()
    (tmp_path / "training/model").write_text("days of work")
    with pytest.raises(AngelError, match="training holds a run of another origin"):
        folders.renew(Path("training"), [Path("training/model")])
    assert (tmp_path / "training/model").read_text() == "days of work"


def test_a_run_whose_note_is_damaged_is_not_removed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stage = tmp_path / "stage"
    stage.mkdir()
    (stage / "weights").touch()
    (stage / folders.INPUTS).write_text('{"settings": ')
    with pytest.raises(AngelError, match="holds a run of another origin"):
        folders.renew(stage, [])
    assert (stage / "weights").exists()


@pytest.mark.parametrize("folder", [".", "..", "../other", "/", "a/../.."])
def test_nothing_outside_the_project_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
):
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "other").mkdir()
    (project / "corpus").mkdir()
    monkeypatch.chdir(project)
    for change in (
        lambda: folders.remove([Path("corpus"), Path(folder)]),
        lambda: folders.renew(Path(folder), []),
    ):
        with pytest.raises(AngelError, match="outside of the project"):
            change()
    assert (tmp_path / "other").exists()
    assert (project / "corpus").exists()
    folders.remove([Path("corpus"), Path("none")])
    assert not (project / "corpus").exists()


def run(folder: Path, *arguments: str, python: Path | None = None) -> str:
    """Output of a Python command on one core, without network; it has to succeed."""
    one_core = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    environment = {**os.environ, **one_core, "HF_HUB_OFFLINE": "1", "PIP_NO_INDEX": "1"}
    if python is not None:
        environment["PYTHONPATH"] = str(python)
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


PHRASES = ("bit drowsy\tDrowsy", "no  appetite!\tLoss of appetite", "can't sleep\tInsomnia")


@pytest.mark.parametrize(
    ("dataset", "preset", "mention", "read_as"),
    [
        # an abbreviation, written out by the released steps
        ("tiny", "genbioel_ncbi", "af", "atrial fibrillation"),
        # phrases without their punctuation, whatever the form
        ("aap", "genbioel_aap", "can t sleep", ""),
    ],
)
def test_the_released_form_is_trained_on(
    copy: Path,
    monkeypatch: pytest.MonkeyPatch,
    dataset: str,
    preset: str,
    mention: str,
    read_as: str,
):
    import dataset as steps

    from spacy_angel.model.checkpoint import open_checkpoint
    from spacy_angel.training import stages
    from spacy_angel.training.course.config import load_config

    monkeypatch.chdir(copy)
    (copy / "assets/aap").mkdir()
    for part in ("train", "validation", "test"):
        lines = [
            f"1000{n}\t{term}\t{phrase}"
            for n, (phrase, term) in enumerate(line.split("\t") for line in PHRASES)
        ]
        text = "".join(f"{line}\n" for line in lines)
        (copy / f"assets/aap/AskAPatient.fold-0.{part}.txt").write_text(text)
    folder = Path("corpus") / dataset
    steps.kb(dataset, folder / "kb")
    steps.corpus(dataset, folder)
    steps.abbreviations(dataset, folder, "scispacy", "released")
    documents = read_corpus(folder / "train.json")
    mentions = [m for document in documents for m in document.mentions]
    assert read_as in {m.read_as for m in mentions if m.text == mention}

    tiny_backbone().save(Path("bart"))
    optimizer = {"steps": 2, "checkpoint_every": 2}
    few = {
        f"{stage}.optimizer.{k}": v
        for stage in ("positive", "negative")
        for k, v in optimizer.items()
    }
    data = {"data.kb": f"{folder}/kb", "data.train": [f"{folder}/train.json"]}
    backbone = {"backbone.kind": "pretrained", "backbone.name": "bart", "backbone.preset": preset}
    dev = {"data.dev": [f"{folder}/dev.json"], "negative.rounds": 1}
    pairs = {"negative.pairs.rule": "all", "negative.pairs.without_right": "positive"}
    config = load_config(Path("configs/tiny/tiny.cfg"), {**data, **dev, **backbone, **pairs, **few})
    stages.starting_model(config, "bart").save(Path("start"))
    positive = stages.fine_tune(config, Path("positive"), Path("start")).folder
    negative = stages.train_preferences(config, positive, Path("negative")).folder
    for model in ("start", positive, negative):
        assert open_checkpoint(model).format.preset == preset


LOADING = """
import json, spacy
nlp = spacy.load("en_angel_tiny")
doc = nlp("She took metformin for type 2 diabetes and had a heart attack.")
kb = nlp.get_pipe("angel_linker").kb
print(json.dumps([nlp.meta, nlp.pipe_names, len(kb), [e.kb_id_ for e in doc.ents]]))
"""


@pytest.mark.slow
def test_tiny_goes_the_whole_way_and_then_skips_it(copy: Path, tmp_path: Path):
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
    assert pipes[-3:] == ["abbreviation_detector", "angel_consistency", "angel_linker"]
    assert concepts == 23
    assert all(link == "NIL" or link.startswith("MESH:") for link in links)
