"""Identifiers and the labels beside them."""

import csv

import pytest
from support.helpers import run
from support.tiny_linker import make_pipeline

import spacy_angel
from spacy_angel.pipelines.check_ids import check_id
from spacy_angel.pipelines.ground import Match
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept

KB = ConceptKB.build(
    [Concept("X:1", "Diabetes mellitus", ("sugar disease",)), Concept("X:2", "Hypertension")]
)
DIABETES, PRESSURE = Match("X:1", "Diabetes mellitus", 0.9), Match("X:2", "Hypertension", 0.8)


@pytest.mark.parametrize(
    ("concept_id", "label", "link", "status", "suggestion"),
    [
        ("X:1", "Sugar-disease", None, "ok", None),
        ("X:1", "", None, "ok", None),
        ("X:1", "diabetes melitus", None, "similar", None),
        ("X:1", "DM", DIABETES, "similar", None),
        ("X:1", "DM", PRESSURE, "other concept", PRESSURE),
        # A name goes before what it is linked to.
        ("X:1", "hypertension", DIABETES, "other concept", PRESSURE._replace(probability=1.0)),
        ("X:1", "green cheese", None, "different", None),
        ("X:9", "DM", DIABETES, "unknown identifier", DIABETES),
        ("X:9", "nothing", None, "unknown identifier", None),
    ],
)
def test_an_identifier_is_checked_against_its_label(concept_id, label, link, status, suggestion):
    found = check_id(KB, concept_id, label, link)
    assert (found.status, found.suggestion) == (status, suggestion)
    assert found.name == ("" if concept_id == "X:9" else "Diabetes mellitus")


def test_an_obsolete_identifier_names_its_successor():
    alternates = ("X:0", "OMIM:1")
    kb = ConceptKB.build([Concept("X:1", "Diabetes mellitus", alternate_ids=alternates)])
    found = check_id(kb, "X:0", "diabetes mellitus", None)
    assert (found.status, found.replaced_by) == ("obsolete", "X:1")
    # Another source's identifier of the concept has not been replaced.
    assert check_id(kb, "OMIM:1", "diabetes mellitus", None).status == "ok"
    assert check_id(kb, "X:1", "diabetes mellitus", None).status == "ok"


def test_pairs_and_tables_are_checked(model, vocabulary, tmp_path):
    nlp = make_pipeline(model, vocabulary, published=False)
    pairs = [("MESH:D009203", "heart attack"), ("MESH:D001241", "migraine", "a migraine")]
    found = spacy_angel.check_ids(pairs, pipeline=nlp)
    assert [one.status for one in found] == ["ok", "other concept"]
    assert found[1].suggestion.concept_id == "MESH:D008881"
    nlp.to_disk(tmp_path / "nlp")
    table, out = tmp_path / "t.csv", tmp_path / "out.csv"
    table.write_text("code,name\nMESH:D009203,heart attack\nMESH:D001241,migraine\n")
    given = ["kb", "check-ids", table, "--ids", "code", "--labels", "name", "-o", out]
    code, said, _ = run(*given, "--pipeline", tmp_path / "nlp")
    assert (code, "     1 ok\n" in said) == (1, True)
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(r["status"], r["suggested_id"]) for r in rows] == [
        ("ok", ""),
        ("other concept", "MESH:D008881"),
    ]
