"""Entry points, extras and what an installation holds."""

import configparser
import hashlib
import importlib
import json
import re
import subprocess
import sys
from importlib import metadata

import pytest
import spacy
from packaging.requirements import Requirement
from support.helpers import ROOT

import spacy_angel
from spacy_angel import about
from spacy_angel.about import SHIPPED_NAMES
from spacy_angel.errors import AngelError


@pytest.fixture(scope="module")
def setup_cfg():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", "utf8")
    return config


def _entries(text):
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def test_every_entry_point_resolves(setup_cfg):
    from spacy.util import registry

    groups = {name: _entries(text) for name, text in setup_cfg["options.entry_points"].items()}
    assert {"console_scripts", "spacy_factories", "spacy_scorers"} <= set(groups)
    for group, entries in groups.items():
        for entry in entries:
            name, target = map(str.strip, entry.split("="))
            module, attribute = target.split(":")
            found = getattr(importlib.import_module(module), attribute)
            assert callable(found), name
            if group.startswith("spacy_") and group != "spacy_factories":
                assert registry.get(group.removeprefix("spacy_"), name) is found


def test_every_package_is_in_the_wheel(setup_cfg):
    folders = sorted(path.parent for path in (ROOT / "spacy_angel").rglob("__init__.py"))
    folders = [folder for folder in folders if folder.name not in SHIPPED_NAMES]
    packages = [".".join(folder.relative_to(ROOT).parts) for folder in folders]
    listed = _entries(setup_cfg["options"]["packages"])
    assert listed == sorted([*packages, "spacy_angel.configs"])


def test_the_version_is_one(setup_cfg):
    assert setup_cfg["metadata"]["version"] == "attr: spacy_angel.about.__version__"
    assert metadata.version("spacy-angel") == spacy_angel.__version__
    assert f"version: {spacy_angel.__version__}" in (ROOT / "CITATION.cff").read_text("utf8")


@pytest.mark.parametrize("name", SHIPPED_NAMES)
def test_a_pipeline_package_says_what_its_meta_json_says(name):
    meta = json.loads((ROOT / "spacy_angel/data" / name / "meta.json").read_text("utf8"))
    installed = metadata.metadata(name)
    assert installed["Version"] == meta["version"] == spacy_angel.__version__
    assert installed["Summary"] == meta["description"]
    requirements = metadata.requires(name) or []
    assert {*map(Requirement, requirements)} == {*map(Requirement, meta["requirements"])}


def test_a_pipeline_that_is_not_installed(monkeypatch, tmp_path):
    monkeypatch.setattr(about, "DATA", tmp_path)
    monkeypatch.setattr(about, "find_spec", lambda name: None)
    with pytest.raises(AngelError, match=r"pip install \./pipelines/en_angel_bio"):
        spacy_angel.load("en_angel_bio")
    for setting in ("model", "vocabulary"):
        nlp = spacy.blank("en")
        linker = nlp.add_pipe("angel_linker", config={setting: None})
        with pytest.raises(AngelError, match=r"pip install \./pipelines/en_angel_mini"):
            linker.initialize()


def test_the_command_line_imports_nothing_heavy():
    code = (
        "import sys, spacy_angel.cli.app; "
        "print(*{'spacy', 'torch', 'transformers', 'numpy', 'scipy', 'sklearn'} & {*sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == ""


@pytest.mark.parametrize("name", SHIPPED_NAMES)
def test_the_model_card_has_the_checksums_of_the_weights(name):
    page = (ROOT / f"docs/model_card_{name.removeprefix('en_angel_')}.md").read_text("utf8")
    rows = re.findall(r"^\| `([^`]+)` \| `([0-9a-f]{64})` \|$", page, re.MULTILINE)
    folder = ROOT / "spacy_angel/data" / name
    own = {str(f.relative_to(folder)) for f in folder.rglob("*.safetensors")}
    assert {file for file, _ in rows} >= own
    for file, digest in rows:
        assert hashlib.sha256((folder / file).read_bytes()).hexdigest() == digest, file
