"""Negation in lines of clinical notes."""

import sys

import pytest
import spacy
from typer.testing import CliRunner

from spacy_angel.cli.app import app
from spacy_angel.corpora.biomedical_tokens import add_biomedical_tokens
from spacy_angel.errors import AngelError
from spacy_angel.pipelines.negation import context_note

NAMES = ("stroke", "cough", "fever", "asthma", "gout", "chest pain")
NO = dict.fromkeys(("fever", "cough", "asthma"), "negated")
MAYBE = dict.fromkeys(("gout", "fever", "cough"), "uncertain")


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
    ("text", "expected"),
    [
        ("Gout and asthma. Not only cough. Not able to walk due to stroke.", {}),
        ("Denies cough, fever or asthma.", dict.fromkeys(("cough", "fever", "asthma"), "negated")),
        ("w/o cough, but fever today", {"cough": "negated"}),
        ("no cough, has fever", {"cough": "negated"}),
        ("no cough\nfever", {"cough": "negated"}),
        ("No cough. Fever. No gout; stroke.", {"cough": "negated", "gout": "negated"}),
        (
            "Stroke was ruled out. Gout has been ruled out.",
            {"Stroke": "negated", "Gout": "negated"},
        ),
        ("?stroke. Any pain? Fever nil.", {"stroke": "uncertain", "Fever": "negated"}),
        ("Past Medical History\nasthma\nAssessment\ngout", {"asthma": "historical"}),
        (
            "PMH: asthma. Plan: cough. Family hx of stroke.",
            {"asthma": "historical", "stroke": "family"},
        ),
        ("Neg: cough, fever.", {"cough": "negated", "fever": "negated"}),
        ("Lack of gout. Not suggestive of stroke.", {"gout": "negated", "stroke": "negated"}),
        ("Cannot rule out gout. Cough (none)", {"gout": "uncertain", "Cough": "negated"}),
        ("PMHx\nasthma\n\nExam\ncough", {"asthma": "historical"}),
        ("Rule out gout; r/o stroke.", {"gout": "uncertain", "stroke": "uncertain"}),
        ("Possible stroke, no fever.", {"stroke": "uncertain", "fever": "negated"}),
        ("Asthma cannot be ruled out.", {"Asthma": "uncertain"}),
        ("Fever: none\nCough: negative\nGout: positive", {"Fever": "negated", "Cough": "negated"}),
        ("(-) gout, chest pain (-), cough (+)", {"gout": "negated", "chest pain": "negated"}),
        ("Cough: absent, fever: present", {"Cough": "negated"}),
        ("Return if fever or cough.", {"fever": "hypothetical", "cough": "hypothetical"}),
        (
            "Call for chest pain. Gout as a child.",
            {"chest pain": "hypothetical", "Gout": "historical"},
        ),
        (
            "PAST MEDICAL HISTORY:\nasthma\nno gout\nPLAN: fever",
            {"asthma": "historical", "gout": "negated, historical"},
        ),
        ("Family History: stroke\nHPI: cough", {"stroke": "family"}),
        ("No family history of gout.", {"gout": "negated, family"}),
        ("History of present illness: cough", {}),
        ("| fever | no |\ncough\tnone\nasthma - no\ngout - no change", NO),
        ("fever negative, cough neg. asthma ( - ), gout ( + )", NO),
        ("Pertinent negatives: fever, cough, asthma. Gout", NO),
        ("DDx: gout, fever. Suspect cough. Stroke?", {**MAYBE, "Stroke": "uncertain"}),
    ],
)
def test_context_of_mentions(nlp, text, expected):
    notes = {ent.text: context_note(ent) for ent in nlp(text).ents}
    assert {name: note for name, note in notes.items() if note} == expected


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
    monkeypatch.setitem(sys.modules, "negspacy.negation", None)
    with pytest.raises(AngelError, match=r"needs .*negspacy.*\[negation\]"):
        spacy.blank("en").add_pipe("angel_negation")


def test_link_prints_what_is_negated():
    text = "Denies chest pain. She has hypertension."
    done = CliRunner().invoke(app, ["link", text, "--negation"])
    assert done.exit_code == 0
    lines = {line.split("  ")[0]: line.rstrip() for line in done.output.splitlines()}
    assert lines["chest pain"].endswith("negated")
    assert lines["hypertension"][-1].isdigit()
    assert "negated" not in CliRunner().invoke(app, ["link", text]).output
