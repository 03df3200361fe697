"""What a vocabulary's next release makes of rules: a promise a rule."""

import pytest

from spacy_angel.curation.check import STATES, check_rules
from spacy_angel.vocabulary.changes.rules import Rule
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept

KB = ConceptKB.build(
    [
        Concept("M:1", "Heart Diseases", ("CAD",), ("T047",), None, ("U:1",)),
        Concept("M:2", "Infarction", ("heart attack",), ("T047",), parents=("M:1",)),
        Concept("M:3", "CAD gene", ("CAD",), ("T028",)),
    ]
)


def states(*rules: Rule, kb: ConceptKB = KB) -> list[str]:
    return [finding.state for finding in check_rules(rules, kb)]


def note(rule: Rule, kb: ConceptKB = KB) -> str:
    (finding,) = check_rules([rule], kb)
    return finding.note


@pytest.mark.parametrize(
    ("rule", "state"),
    [
        (Rule("concept", string="Snark fever", concept="MY:1"), "in effect"),
        (Rule("concept", string="Heart", concept="M:1"), "superfluous"),
        (Rule("concept", string="Heart", concept="U:1"), "discrepant"),
        (Rule("canonical", string="Heart Disease", concept="M:1"), "in effect"),
        (Rule("canonical", string="Heart Diseases", concept="M:1"), "superfluous"),
        (Rule("canonical", string="Heart Disease", concept="M:9"), "obsolete"),
        (Rule("name", string="MI", concept="M:2"), "in effect"),
        (Rule("name", string="Heart-attack", concept="M:2"), "superfluous"),
        (Rule("name", string="heart attack", concept="M:2", condition="case"), "in effect"),
        (Rule("name", string="MI", concept="M:9"), "obsolete"),
        (Rule("name", string="MI", concept="U:1"), "discrepant"),
        (Rule("name", string="cad", concept="M:2"), "discrepant"),
        (Rule("not-name", string="CAD", concept="M:1"), "in effect"),
        (Rule("not-name", string="CAD", concept="M:2"), "superfluous"),
        (Rule("not-name", string="CAD", concept="M:9"), "obsolete"),
        (Rule("not-mention", string="was"), "in effect"),
        (Rule("only", string="CAD", condition="case"), "in effect"),
        (Rule("only", string="was", condition="case"), "obsolete"),
        (Rule("only", string="CAD", concept="M:2", condition="elsewhere"), "superfluous"),
        (Rule("means", string="CAD", concept="M:1"), "in effect"),
        (Rule("means", string="heart attack", concept="M:2"), "superfluous"),
        (Rule("means", string="CAD", concept="M:9"), "obsolete"),
        (Rule("exclude", concept="M:1"), "in effect"),
        (Rule("exclude", concept="M:1", condition="subtree"), "in effect"),
        (Rule("exclude", concept="M:3", condition="subtree"), "discrepant"),
        (Rule("exclude", type="T028"), "in effect"),
        (Rule("exclude", type="T999"), "obsolete"),
        (Rule("allow", type="T047"), "in effect"),
        (Rule("allow", concept="M:9"), "obsolete"),
        (Rule("prefer", concept="U:1", instead_of="M:1"), "in effect"),
        (Rule("prefer", concept="M:2", instead_of="M:1"), "in effect"),
        (Rule("prefer", concept="M:1", instead_of="M:1"), "superfluous"),
        (Rule("prefer", concept="X:1", instead_of="M:1"), "discrepant"),
        (Rule("prefer", concept="M:1", instead_of="M:9"), "obsolete"),
    ],
    ids=str,
)
def test_of_each_rule_it_is_told_what_it_is_worth(rule, state) -> None:
    assert states(rule) == [state]
    assert (note(rule) == "") is (state == "in effect")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Rule("name", "MI", concept="M:2"), Rule("not-name", "mi", concept="M:2")),
        (Rule("name", "MI", concept="M:2"), Rule("not-mention", "mi")),
        (Rule("means", "MI", concept="M:2"), Rule("means", "MI", concept="M:1")),
        (Rule("means", "MI", concept="M:2"), Rule("not-name", "MI", concept="M:2")),
        (Rule("canonical", "MI", concept="M:2"), Rule("not-name", "mi", concept="M:2")),
        (Rule("canonical", "MI", concept="M:2"), Rule("canonical", "AMI", concept="M:2")),
        (Rule("concept", "Snark", concept="MY:1"), Rule("exclude", concept="MY:1")),
        (Rule("allow", concept="M:1"), Rule("exclude", concept="M:1")),
        (Rule("allow", type="T047"), Rule("exclude", type="T047")),
        (
            Rule("prefer", concept="U:1", instead_of="M:1"),
            Rule("prefer", concept="M:2", instead_of="M:1"),
        ),
    ],
    ids=str,
)
def test_rules_that_contradict_each_other_are_both_told(one, other) -> None:
    assert states(one, Rule("not-mention", "was"), other) == [
        *("in conflict", "in effect", "in conflict")
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            Rule("name", "MI", concept="M:2", condition="case"),
            Rule("not-mention", "mi", condition="case"),
        ),
        (
            Rule("name", "MI", concept="M:2"),
            Rule("not-name", "MI", concept="M:1", label="GENE"),
        ),
        (
            Rule("means", "CAD", concept="M:1", label="DISEASE"),
            Rule("means", "CAD", concept="M:3", label="GENE"),
        ),
        (
            Rule("allow", concept="M:1", condition="subtree"),
            Rule("exclude", concept="M:1"),
        ),
    ],
    ids=str,
)
def test_rules_for_different_mentions_do_not_contradict_each_other(one, other) -> None:
    assert "in conflict" not in states(one, other)


def test_a_rule_that_stands_twice_is_superfluous_the_second_time() -> None:
    first = Rule("not-mention", "was", number=2)
    findings = check_rules([first, Rule("not-mention", "WAS", number=7)], KB)
    assert [finding.state for finding in findings] == ["in effect", "superfluous"]
    assert findings[1].note == "line 2 says it"


def test_a_concept_that_was_merged_is_named() -> None:
    assert note(Rule("exclude", concept="U:1")) == "U:1 leads to M:1 (Heart Diseases) now"


def test_without_a_hierarchy_a_subtree_is_told() -> None:
    flat = ConceptKB.build([Concept("M:1", "Heart Diseases")])
    rule = Rule("exclude", concept="M:1", condition="subtree")
    assert "no hierarchy" in note(rule, flat)


def test_the_states_are_told_worst_first() -> None:
    assert STATES[0] == "in conflict"
    assert STATES[-1] == "in effect"
    # Obsolete and in conflict: the conflict is told.
    rules = Rule("means", "MI", concept="M:9"), Rule("means", "MI", concept="M:1")
    assert states(*rules)[0] == "in conflict"


def test_a_rule_may_name_a_concept_that_another_rule_brings() -> None:
    rules = (Rule("concept", "Snark fever", concept="MY:1"), Rule("name", "sf", concept="MY:1"))
    assert states(*rules) == ["in effect", "in effect"]
    assert states(rules[1]) == ["obsolete"]
    assert "MY:1" not in KB
