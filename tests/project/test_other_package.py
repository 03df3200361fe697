"""Formats of an installed package are found by its entry points."""

import json
import os
import shutil
import subprocess
import sys

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


@pytest.mark.slow
def test_a_corpus_and_a_vocabulary_format(tmp_path):
    source, installed = tmp_path / "source", tmp_path / "installed"
    shutil.copytree(ROOT / "tests/fixtures/other_package", source)
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    install += ["--no-build-isolation", "--target", str(installed), str(source)]
    subprocess.run(install, check=True)
    (tmp_path / "notes").write_text("#ward 7: fever | 0001945\n")
    (tmp_path / "codes").write_text("#codes HP:0001945 = Fever = Pyrexia\n")
    done = subprocess.run(
        [sys.executable, "-c", FORMATS, tmp_path / "notes", tmp_path / "codes"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(installed), str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [
        "ward",
        "FEVER",
        "HP:0001945",
        ["Fever", "Pyrexia"],
    ]
