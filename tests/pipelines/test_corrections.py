"""Rules of corrected links: which are made, and that they are refused where they do not help."""

from datetime import date

import pytest
from support.helpers import run
from support.tiny_linker import blocks, pipeline

from spacy_angel.pipelines.corrections import (
    Decision,
    propose_rules,
)
from spacy_angel.vocabulary.changes.rules import read_rules
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept

ATTACK, ASPIRIN, MIGRAINE = "MESH:D009203", "MESH:D001241", "MESH:D008881"
LABELS = {"aspirin": "DRUG", "migraine": "DISEASE"}
KB = ConceptKB.build([Concept("M:1", "Infarction"), Concept("M:2", "Agitation")])


def decided(text, gold, linked_to, label="DISEASE"):
    return Decision(text, label, frozenset(filter(None, [gold])), linked_to)


def test_a_string_means_what_most_of_its_mentions_were_corrected_to():
    rows = [decided("MI", "M:1", "M:2"), decided("mi", "M:1", ""), decided("MI", "M:2", "M:2")]
    (rule,) = propose_rules(rows, KB)
    assert (rule.action, rule.string, rule.concept, rule.label) == ("prefer", "MI", "M:1", "")
    assert rule.reason == "2 of 3 corrected or confirmed, 1 right before: Infarction"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # A rule that would break as much as it mends, or that changes nothing, is not made.
        ([decided("MI", "M:1", "M:2"), decided("MI", "M:2", "M:2")], []),
        ([decided("MI", "M:1", "M:1")] * 2, []),
        ([decided("was", "", "M:1")], ["“was” is never linked"]),
        ([Decision("MI and fit", "DISEASE", frozenset(["M:1", "M:2"]), "")], []),
        ([decided("...", "M:1", "")], []),
        # Each label of a string has a rule of its own.
        (
            [decided("fit", "M:2", ""), decided("fit", "M:1", "M:2", "PHENOTYPE")],
            ["“fit” means M:2 of DISEASE", "“fit” means M:1 of PHENOTYPE"],
        ),
    ],
)
def test_rules_that_are_proposed(rows, expected):
    assert [str(rule) for rule in propose_rules(rows, KB)] == expected


@pytest.fixture
def nlp(model, vocabulary):
    made = pipeline()
    made.add_pipe("angel_linker", config=blocks(model=model, vocabulary=vocabulary))
    return made


def pubtator(path, pairs):
    path.write_text(
        "".join(
            f"{i}|t|{text}\n{i}|a|None.\n{i}\t0\t{len(text)}\t{text}\t{LABELS[text.lower()]}\t{gold}\n\n"
            for i, (text, gold) in enumerate(pairs)
        ),
        "utf8",
    )
    return path


def test_the_command_adds_to_a_file_of_rules_or_refuses(nlp, tmp_path):
    def corrected(corpus, *more):
        return run("corrections", tmp_path / "nlp", corpus, "-o", rules, *more)

    nlp.to_disk(tmp_path / "nlp")
    rules = tmp_path / "rules.tsv"
    good = pubtator(tmp_path / "good.txt", [("aspirin", MIGRAINE), ("Aspirin", MIGRAINE)])
    code, out, err = corrected(good, "--author", "jd")
    assert (code, err) == (0, "")
    assert "2 mentions, 0 linked correctly; 2 with rules" in out
    (rule,) = read_rules(rules).rules
    assert (str(rule), rule.author) == (f"“aspirin” means {MIGRAINE}", "jd")
    assert date.fromisoformat(rule.date)
    before = rules.read_text("utf8")
    # It holds now, so that there is nothing left to correct.
    code, out, _ = corrected(good)
    assert (code, "2 linked correctly" in out, "Nothing is written" in out) == (0, True, True)
    before = rules.read_text("utf8")
    # Corrected one way in three documents, and right as it is in two: of the one that is held back
    # the others say the opposite, or nothing.
    pairs = [("migraine", ASPIRIN)] * 3 + [("migraine", MIGRAINE)] * 2
    code, out, err = corrected(pubtator(tmp_path / "mixed.txt", pairs))
    assert "5 mentions, 2 linked correctly; 0 with rules" in out
    assert (code, "was not written" in err) == (1, True)
    assert rules.read_text("utf8") == before
    code, out, _ = corrected(pubtator(tmp_path / "clear.txt", [pairs[0], *pairs[:4]]))
    assert "5 mentions, 1 linked correctly; 4 with rules" in out
    assert (code, rules.read_text("utf8").startswith(before)) == (0, True)
