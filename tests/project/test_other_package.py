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
TRAINING = """
import json, sys
from pathlib import Path
from spacy_angel.model.mention import Mention
from spacy_angel.search.generator import Generator
from spacy_angel.training.models.backbone_kinds import make_backbone
from spacy_angel.training.data.batches import PreferencePair, encode_pairs
from spacy_angel.training.course.config import load_config
from spacy_angel.training.course.negative import train_negative
config, output = map(Path, sys.argv[1:])
config = load_config(config, {"backbone.kind": "ward", "negative.engine": "plain"})
mention = Mention("renal pain", "a case of", "at night")
pair = PreferencePair(mention, "renal colic", "heart attack")
backbone = make_backbone(config.backbone, [pair.chosen, pair.rejected])
backbone.save(output / "before")
rows = encode_pairs([pair], backbone.prompts, backbone.max_target_tokens)
trained = train_negative(backbone, rows, config.negative, output / "after")
lines = (output / "after/metrics.jsonl").read_text().splitlines()
losses = [line["loss"] for line in map(json.loads, lines) if "loss" in line]
before, after = map(Generator.from_pretrained, (output / "before", trained.folder))
after.to_disk(output / "saved")
saved = Generator.from_pretrained(output / "saved")
print(json.dumps({
    "families": [type(generator.model).__name__ for generator in (before, after, saved)],
    "log_probs": [
        generator.log_probs_of([mention], [[pair.chosen, pair.rejected]])[0]
        for generator in (before, after, saved)
    ],
    "losses": losses,
}))
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
    told = run("-m", "spacy_angel", "info")
    assert "Corpus formats: ward," in told
    assert "Vocabulary formats: ward_codes.v1," in told


@pytest.mark.slow
def test_a_loss_a_backbone_and_a_model_family(run: Callable[..., str], tmp_path: Path) -> None:
    tiny = (ROOT / "configs/tiny/tiny.cfg").read_text()
    config = tmp_path / "ward.cfg"
    own = '[negative.loss]\nkind = "ward_hinge"\nbeta = 0.01\n'
    config.write_text(tiny.replace('[negative.loss]\nkind = "dpo"\n', own))
    told = run("-c", TRAINING, config, tmp_path)
    found = json.loads(told.splitlines()[-1])
    assert found["families"] == ["WardModel"] * 3
    (chosen, rejected), after, saved = found["log_probs"]
    assert found["losses"][0] == pytest.approx(1 - 0.01 * (chosen - rejected), abs=1e-4)
    assert after[0] - after[1] > chosen - rejected
    assert saved == after
