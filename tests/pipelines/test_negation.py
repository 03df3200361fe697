"""Negation, history and family, as lines of notes have them."""

import builtins

import pytest
import spacy
from typer.testing import CliRunner

from spacy_angel.cli.app import app
from spacy_angel.corpora.biomedical_tokens import add_biomedical_tokens
from spacy_angel.errors import AngelError
from spacy_angel.pipelines.negation import FLAGS, add_context, flags_of

NAMES = ("stroke", "cough", "fever", "asthma", "gout", "chest pain", "breast cancer", "COPD")


@pytest.fixture(scope="module")
def nlp():
    pipeline = spacy.blank("en")
    add_biomedical_tokens(pipeline)
    pipeline.add_pipe("sentencizer")
    ruler = pipeline.add_pipe("entity_ruler", config={"phrase_matcher_attr": "LOWER"})
    ruler.add_patterns([{"label": "DISEASE", "pattern": name} for name in NAMES])
    add_context(pipeline)
    return pipeline


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Gout and asthma.", {"Gout": (), "asthma": ()}),
        ("Denies cough, fever or chest pain.", dict.fromkeys(NAMES[1:3], ("negated",))),
        ("w/o cough, but fever today", {"cough": ("negated",), "fever": ()}),
        ("no cough\nfever", {"cough": ("negated",), "fever": ()}),
        ("Not only cough.", {"cough": ()}),
        ("No cough. Fever.", {"cough": ("negated",), "Fever": ()}),
        ("h/o COPD, p/w cough", {"COPD": ("historical",), "cough": ()}),
        ("PMH: gout, asthma", dict.fromkeys(("gout", "asthma"), ("historical",))),
        ("History of present illness: cough", {"cough": ()}),
        ("Had a stroke 3 years ago.", {"stroke": ("historical",)}),
        ("His brother had a stroke.", {"stroke": ("family",)}),
        ("Mother had breast cancer, but she has asthma", {"breast cancer": ("family",)}),
        ("Mother had breast cancer, but she has asthma", {"asthma": ()}),
        ("No family history of gout.", {"gout": ("negated", "family")}),
        ("No h/o stroke", {"stroke": ("negated",)}),
    ],
)
def test_flags(nlp, text, expected):
    found = {ent.text: flags_of(ent) for ent in nlp(text).ents}
    assert {name: found[name] for name in expected} == expected


def test_mentions_in_a_span_group():
    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    ruler = pipeline.add_pipe("span_ruler", config={"spans_key": "sc"})
    ruler.add_patterns([{"label": "DISEASE", "pattern": "cough"}])
    add_context(pipeline, span_key="sc")
    doc = pipeline("Denies cough.")
    [cough] = doc.spans["sc"]
    assert flags_of(cough) == ("negated",)
    assert pipeline.pipe_names[-3:] == list(FLAGS)


def test_missing_package_is_named(monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **keywords):
        if name.startswith("negspacy"):
            raise ImportError(name)
        return real(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(AngelError, match=r"spacy-angel\[negation\]"):
        add_context(spacy.blank("en"))


def test_link_prints_what_is_negated():
    text = "Denies chest pain. His brother had asthma. She has hypertension."
    done = CliRunner().invoke(app, ["link", text, "--negation"])
    assert done.exit_code == 0
    lines = {line.split("  ")[0]: line.rstrip() for line in done.output.splitlines()}
    assert lines["chest pain"].endswith("negated")
    assert lines["asthma"].endswith("family")
    assert lines["hypertension"][-1].isdigit()
    assert "negated" not in CliRunner().invoke(app, ["link", text]).output
