"""What ships runs with any vocabulary, whatever its types are called, in every command."""

import re

import pytest
import torch
from support.helpers import ROOT
from typer.testing import CliRunner

from spacy_angel.about import SHIPPED_NAMES
from spacy_angel.cli.app import app
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.sources.installed import load_vocabulary

torch.set_num_threads(1)

FIXTURES = ROOT / "tests/fixtures/vocabularies"
TEXT = "She had diabetes mellitus, and took aspirin."


@pytest.fixture(scope="module", params=["umls", pytest.param("ontology", marks=pytest.mark.slow)])
def kb(request, tmp_path_factory):
    """The namespaces of an ontology; the semantic types of the UMLS."""
    if request.param == "ontology":
        return FIXTURES / "ontology.obo"
    folder = tmp_path_factory.mktemp("kb")
    run("kb", "build", FIXTURES / "umls", "-o", folder / "kb")
    return folder / "kb"


def run(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def annotated(source, output, *arguments):
    run("annotate", source, "-o", output, *arguments)
    return "".join(shard.read_text("utf8") for shard in output.glob("*.jsonl"))


def test_every_command_takes_any_vocabulary(kb, tmp_path):
    vocabulary: ConceptKB = load_vocabulary(kb)
    wanted = vocabulary.find("diabetes mellitus")[0].concept_id
    corpus = tmp_path / "dev.pubtator"
    corpus.write_text(f"1|t|{TEXT}\n1|a|\n1\t8\t25\tdiabetes mellitus\tDISEASE\t{wanted}\n\n")
    text = tmp_path / "text.txt"
    text.write_text(TEXT)

    assert wanted in run("link", TEXT, "--kb", kb)
    assert wanted in annotated(text, tmp_path / "linked", "--kb", kb)
    for name, predicted in ((SHIPPED_NAMES[0], []), (SHIPPED_NAMES[1], ["--predicted"])):
        out = tmp_path / name
        told = run("evaluate", name, corpus, "--kb", kb, "-o", out, *predicted)
        assert re.search(r"^\| kb_id \| 1 \| 100\.0 ", told, re.M)
    # Linked by a pipeline to its own vocabulary, and then to the new one
    run("annotate", text, "--pipeline", SHIPPED_NAMES[1], "-o", tmp_path / "set")
    arguments = ("--mentions", "input", "--pipeline", SHIPPED_NAMES[1], "--kb", kb)
    assert wanted in annotated(tmp_path / "set", tmp_path / "again", *arguments)
    # A pipeline of the shipped parts with it, calibrated
    parts = ("--ner", SHIPPED_NAMES[0], "--model", SHIPPED_NAMES[0], "--kb", kb)
    run("assemble", *parts, "--calibrate", corpus, "-o", tmp_path / "own")
    run("calibrate", tmp_path / "own", corpus)
    assert wanted in run("link", "--pipeline", tmp_path / "own", TEXT)
