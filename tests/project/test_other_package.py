"""What CONTRIBUTING.md says an installed package can bring by entry points, done by one."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.helpers import ROOT

FORMATS = """
import json, sys
from spacy_angel.corpora.registry import infer_format, read_corpus
from spacy_angel.vocabulary.sources.formats.registry import read_vocabulary
notes, codes = sys.argv[1:]
(document,) = read_corpus(notes, upper="yes", prefix="HP")
(concept,) = read_vocabulary(codes)
(mention,) = document.mentions
print(json.dumps([infer_format(notes), mention.text, mention.concept_ids, concept.names]))
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """RETURNS (Callable[..., str]): runs Python where the package is installed; its output."""
    folder = tmp_path_factory.mktemp("other")
    source, installed = folder / "source", folder / "installed"
    source.mkdir()
    for file in (ROOT / "tests/fixtures/other_package").iterdir():
        if file.is_file():
            (source / file.name).write_bytes(file.read_bytes())
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    install += ["--no-build-isolation", "--target", str(installed), str(source)]
    subprocess.run(install, check=True)
    path = os.pathsep.join([str(installed), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}

    def run(*arguments: object) -> str:
        command = [sys.executable, *map(str, arguments)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.mark.slow
def test_a_corpus_and_a_vocabulary_format(run: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("#ward 7: fever | 0001945\n")
    (tmp_path / "codes").write_text("#codes HP:0001945 = Fever = Pyrexia\n")
    assert json.loads(run("-c", FORMATS, tmp_path / "notes", tmp_path / "codes")) == [
        "ward",
        "FEVER",
        "HP:0001945",
        ["Fever", "Pyrexia"],
    ]
