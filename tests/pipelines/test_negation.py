"""Negation in lines of clinical notes."""

import builtins

import pytest
import spacy
from typer.testing import CliRunner

from spacy_angel.cli.app import app
from spacy_angel.corpora.biomedical_tokens import add_biomedical_tokens
from spacy_angel.errors import AngelError

NAMES = ("stroke", "cough", "fever", "asthma", "gout", "chest pain")


@pytest.fixture(scope="module")
def nlp():
    pipeline = spacy.blank("en")
    add_biomedical_tokens(pipeline)
    pipeline.add_pipe("sentencizer")
    ruler = pipeline.add_pipe("entity_ruler", config={"phrase_matcher_attr": "LOWER"})
    ruler.add_patterns([{"label": "DISEASE", "pattern": name} for name in NAMES])
    pipeline.add_pipe("angel_negation")
    return pipeline


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("Gout and asthma.", set()),
        ("Denies cough, fever or chest pain.", {"cough", "fever", "chest pain"}),
        ("w/o cough, but fever today", {"cough"}),
        ("no cough, has fever", {"cough"}),
        ("no cough\nfever", {"cough"}),
        ("Not only cough.", set()),
        ("No cough. Fever.", {"cough"}),
        ("Stroke was ruled out.", {"Stroke"}),
        ("No family history of gout.", {"gout"}),
    ],
)
def test_negated_mentions(nlp, text, negated):
    assert {ent.text for ent in nlp(text).ents if ent._.negated} == negated


def test_mentions_in_a_span_group():
    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    ruler = pipeline.add_pipe("span_ruler", config={"spans_key": "sc"})
    ruler.add_patterns([{"label": "DISEASE", "pattern": "cough"}])
    pipeline.add_pipe("angel_negation", config={"span_key": "sc"})
    doc = pipeline("Denies cough.")
    [cough] = doc.spans["sc"]
    assert cough._.negated


def test_missing_package_is_named(monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **keywords):
        if name.startswith("negspacy"):
            raise ImportError(name)
        return real(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(AngelError, match=r"^Flagging negated mentions needs .*\[negation\]"):
        spacy.blank("en").add_pipe("angel_negation")


def test_link_prints_what_is_negated():
    text = "Denies chest pain. She has hypertension."
    done = CliRunner().invoke(app, ["link", text, "--negation"])
    assert done.exit_code == 0
    lines = {line.split("  ")[0]: line.rstrip() for line in done.output.splitlines()}
    assert lines["chest pain"].endswith("negated")
    assert lines["hypertension"][-1].isdigit()
    assert "negated" not in CliRunner().invoke(app, ["link", text]).output
