"""Strings and columns of tables: what they are linked to, and what a curator says of it."""

import csv

import pandas as pd
import pytest
from support import helpers
from support.tiny_linker import make_pipeline

import spacy_angel
from spacy_angel.corpora.registry import infer_format, read_corpus
from spacy_angel.errors import AngelError
from spacy_angel.pipelines.ground import Grounder, Query
from spacy_angel.pipelines.load import find_linker
from spacy_angel.vocabulary.changes.rules import read_rules

ATTACK, ASPIRIN, MIGRAINE = "MESH:D006333", "MESH:D001241", "MESH:D008881"
SHIPPED = {"published": False}


@pytest.fixture(scope="module")
def nlp(model, vocabulary):
    return make_pipeline(model, vocabulary, **SHIPPED)


@pytest.fixture(scope="module")
def folder(nlp, tmp_path_factory):
    path = tmp_path_factory.mktemp("ground")
    nlp.to_disk(path / "nlp")
    (path / "t.csv").write_text(
        "n,finding,note\n1,cardiac failure,\n2,zzz qqq,\n3,,\n4,Aspirin,an aspirin a day\n"
    )
    return path


def ids(groundings):
    return [one.link and one.link.concept_id for one in groundings]


def test_strings_are_linked_in_their_order(nlp):
    strings = ["cardiac  failure", None, float("nan"), "zzz qqq", "Aspirin"]
    found = spacy_angel.ground(strings, pipeline=nlp, k=2)
    assert ids(found) == [ATTACK, None, None, None, ASPIRIN]
    assert found[0].string == "cardiac failure"
    assert (found[0].link.name, found[0].link.probability) == ("Heart Failure", 0.96)
    assert found[1].candidates == found[2].candidates == ()
    assert len(found[3].candidates) == 2
    column = pd.Series(["cardiac  failure", pd.NA, pd.NaT, "zzz qqq", "Aspirin"], dtype=object)
    contexts = ["", "", "", "", "They took aspirin."]
    assert spacy_angel.ground(column, pipeline=nlp, k=2) == found
    with_contexts = spacy_angel.ground(column, contexts=contexts, labels="DRUG", pipeline=nlp)
    assert ids(with_contexts)[-1] == ASPIRIN
    arrow = pytest.importorskip("pyarrow").array(["cardiac  failure", None, "Aspirin"])
    assert ids(spacy_angel.ground(arrow, pipeline=nlp)) == [ATTACK, None, ASPIRIN]
    with pytest.raises(ValueError, match="shorter"):
        spacy_angel.ground(column, contexts=["x"], pipeline=nlp)


def test_a_share_or_threshold_that_is_none_is_refused(nlp):
    linker = find_linker(nlp)
    before = linker.settings.changed({})
    with pytest.raises(AngelError, match="nil_prior"):
        Grounder(nlp, linker, nil_share=1.0)
    with pytest.raises(AngelError, match="threshold"):
        Grounder(nlp, linker, threshold=2.0)
    assert ids(Grounder(nlp, linker, threshold=0.95).ground([Query("aspirin")])) == [ASPIRIN]
    # The probability of an exact match is 0.96.
    [found] = Grounder(nlp, linker, threshold=0.97).ground([Query("aspirin")])
    assert (found.link, found.candidates[0].concept_id) == (None, ASPIRIN)
    assert linker.settings == before


def run(folder, *arguments):
    code, out, err = helpers.run(*arguments, "--pipeline", folder / "nlp")
    return code, out + err


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_table_gets_identifiers_beside_its_strings(folder):
    out = folder / "one.csv"
    code, said = run(folder, "ground", folder / "t.csv", "--column", "finding", "-o", out)
    assert (code, said) == (0, f"2 strings linked, 1 without a concept, 1 blank: {out}\n")
    rows = rows_of(out)
    assert [row["concept_id"] for row in rows] == [ATTACK, "", "", ASPIRIN]
    assert [*rows[0]][3:] == ["concept_id", "concept_name", "probability", "accept"]
    code, said = run(folder, "ground", out, "--column", "finding", "-o", folder / "two.csv")
    assert "already has the columns concept_id" in said
    assert code == 1


def test_candidates_are_rows_or_columns(folder):
    given = ["ground", folder / "t.csv", "--column", "finding", "--context", "note", "--top", 2]
    assert run(folder, *given, "-o", folder / "rows.csv")[0] == 0
    rows = rows_of(folder / "rows.csv")
    assert [row["n"] for row in rows].count("2") == 2
    assert [row["rank"] for row in rows if row["n"] == "2"] == ["1", "2"]
    assert [row["candidate_id"] for row in rows if row["n"] in "13"] == [ATTACK, ""]
    assert run(folder, *given, "--wide", "-o", folder / "wide.csv")[0] == 0
    wide = rows_of(folder / "wide.csv")
    assert len(wide) == 4
    assert wide[0]["candidate_1_id"] == wide[0]["concept_id"] == ATTACK
    assert wide[1]["concept_id"] == ""
    assert wide[1]["candidate_2_id"]


def test_mappings_are_those_of_sssom(folder):
    given = ["ground", folder / "t.csv", "--column", "finding", "-o", folder / "m.sssom.tsv"]
    assert run(folder, *given)[0] == 0
    text = (folder / "m.sssom.tsv").read_text()
    assert "# curie_map:\n#   semapv: https://w3id.org/semapv/vocab/\n" in text
    assert "#   MESH: https://bioregistry.io/MESH:\n" in text
    lines = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    assert lines[0][0] == "subject_label"
    assert lines[1][:4] == ["cardiac failure", "rdfs literal", "skos:exactMatch", ATTACK]
    assert lines[1][5:] == ["semapv:LexicalMatching", "0.96"]
    assert len(lines) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--column", "x"], "no column 'x'. Known: n, finding, note"),
        (["--column", "finding", "--context", "x"], "no column 'x'"),
        (["--column", "finding", "--label", "x"], "neither a column (n, finding, note) nor"),
        (["--column", "finding", "--nil-share", "0"], "nil_prior"),
    ],
)
def test_what_does_not_fit_is_refused(options, message, folder):
    code, said = run(folder, "ground", folder / "t.csv", "-o", folder / "no.csv", *options)
    assert (code, message in said) == (1, True)
    assert not (folder / "no.csv").exists()


def test_what_a_curator_accepts_becomes_rules(folder):
    path, rules = folder / "reviewed.tsv", folder / "rules.tsv"
    path.write_text(
        "finding\tconcept_id\tcandidate_id\taccept\n"
        f"Aspirin\t{ASPIRIN}\t{ASPIRIN}\tno\n"
        f"Aspirin\t{ASPIRIN}\t{MIGRAINE}\tyes\n"
        f"cardiac failure\t{ATTACK}\t{ATTACK}\tno\n"
        f"migraine\t{MIGRAINE}\t{MIGRAINE}\tyes\n"
        f"head ache\t\t\t{MIGRAINE}\n"
        f"not reviewed\t\t\t\n"
    )
    assert infer_format(path) == "grounded"
    documents = list(read_corpus(path, column="finding"))
    gold = {one.text: one.mentions[0].concept_ids for one in documents}
    assert gold == dict(
        [
            ("Aspirin", MIGRAINE),
            ("cardiac failure", ""),
            ("migraine", MIGRAINE),
            ("head ache", MIGRAINE),
        ]
    )
    given = ["corrections", folder / "nlp", path, "--option", "column=finding", "-o", rules]
    code, _, err = helpers.run(*given)
    assert code == 0, err
    made = {rule.string: (rule.action, rule.concept) for rule in read_rules(rules).rules}
    assert made["Aspirin"] == ("prefer", MIGRAINE)
    assert made["cardiac failure"] == ("exclude", "")
    options = ["--column", "finding", "--curation", rules, "-o", folder / "again.csv"]
    assert run(folder, "ground", folder / "t.csv", *options)[0] == 0
    assert [row["concept_id"] for row in rows_of(folder / "again.csv")] == ["", "", "", MIGRAINE]


def test_a_reviewed_table_needs_its_columns(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("finding\tconcept_id\taccept\nAspirin\t\tyes\n")
    with pytest.raises(AngelError, match="name the column of strings"):
        list(read_corpus(path))
    with pytest.raises(AngelError, match="line 2: `accept` is 'yes', but the row has no concept"):
        list(read_corpus(path, column="finding"))
