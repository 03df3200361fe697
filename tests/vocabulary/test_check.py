"""What a vocabulary's next release makes of rules: a promise a rule."""

import pytest

from spacy_angel.vocabulary.changes.check import check_rules
from spacy_angel.vocabulary.changes.rules import Rule
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept

KB = ConceptKB.build(
    [
        Concept("M:1", "Heart Diseases", ("CAD",), ("T047",), None, ("U:1",)),
        Concept("M:2", "Infarction", ("heart attack",), ("T047",), parents=("M:1",)),
        Concept("M:3", "CAD gene", ("CAD",), ("T028",)),
        Concept("M:4", "Only one", ("only-one",)),
    ]
)


def states(*rules, kb=KB):
    return [finding.state for finding in check_rules(rules, kb)]


def note(rule, kb=KB):
    (finding,) = check_rules([rule], kb)
    return finding.note


@pytest.mark.parametrize(
    ("rule", "state"),
    [
        (Rule("add", "Snark fever", concept="MY:1", condition="new"), "in effect"),
        (Rule("add", "heart diseases", concept="M:1", condition="new"), "superfluous"),
        (Rule("add", "Heart", concept="U:1", condition="new"), "discrepant"),
        (Rule("add", "MI", concept="M:2"), "in effect"),
        (Rule("add", "Heart-attack", concept="M:2"), "superfluous"),
        (Rule("add", "MI", concept="M:9"), "obsolete"),
        (Rule("add", "MI", concept="U:1"), "discrepant"),
        (Rule("add", "cad", concept="M:2"), "discrepant"),
        (Rule("remove", "CAD", concept="M:1"), "in effect"),
        (Rule("remove", "CAD", concept="M:2"), "superfluous"),
        (Rule("remove", "only one", concept="M:4"), "discrepant"),
        (Rule("remove", concept="M:1"), "in effect"),
        (Rule("rename", "Heart Disease", concept="M:1"), "in effect"),
        (Rule("rename", "Heart Diseases", concept="M:1"), "superfluous"),
        (Rule("rename", "cad", concept="M:1", instead_of="CAD"), "in effect"),
        (Rule("exclude", "was"), "in effect"),
        (Rule("exclude", concept="M:1", condition="subtree"), "in effect"),
        (Rule("exclude", concept="M:3", condition="subtree"), "discrepant"),
        (Rule("exclude", type="T028"), "in effect"),
        (Rule("exclude", type="T999"), "obsolete"),
        (Rule("allow", "CAD"), "in effect"),
        (Rule("prefer", "CAD", concept="M:1"), "in effect"),
        (Rule("prefer", "heart attack", concept="M:2"), "superfluous"),
        (Rule("prefer", concept="M:2", instead_of="M:1"), "in effect"),
        (Rule("prefer", concept="X:1", instead_of="M:1"), "in effect"),
        (Rule("prefer", concept="M:1", instead_of="M:9"), "obsolete"),
    ],
    ids=str,
)
def test_the_state_of_each_rule(rule, state):
    assert states(rule) == [state]
    assert (note(rule) == "") is (state == "in effect")


@pytest.mark.parametrize(
    ("one", "other", "conflict"),
    [
        (Rule("add", "MI", concept="M:2"), Rule("remove", "mi", concept="M:2"), True),
        (Rule("add", "MI", concept="M:2"), Rule("exclude", "mi"), True),
        (Rule("prefer", "MI", concept="M:2"), Rule("prefer", "MI", concept="M:1"), True),
        (Rule("prefer", "MI", concept="M:2"), Rule("exclude", "MI", concept="M:2"), True),
        (Rule("rename", "MI", concept="M:2"), Rule("rename", "AMI", concept="M:2"), True),
        (Rule("add", "S", concept="MY:1", condition="new"), Rule("exclude", concept="MY:1"), True),
        (Rule("allow", concept="M:1"), Rule("exclude", concept="M:1"), True),
        (
            Rule("prefer", concept="U:1", instead_of="M:1"),
            Rule("prefer", concept="M:2", instead_of="M:1"),
            True,
        ),
        # These are about different mentions.
        (Rule("allow", "MI", concept="M:2"), Rule("exclude", "mi", condition="case"), False),
        (Rule("add", "MI", concept="M:2"), Rule("exclude", "MI", "GENE", "M:1"), False),
        (Rule("prefer", "CAD", "DISEASE", "M:1"), Rule("prefer", "CAD", "GENE", "M:3"), False),
        (Rule("allow", concept="M:1", condition="subtree"), Rule("exclude", concept="M:1"), False),
    ],
    ids=str,
)
def test_rules_that_contradict_each_other_are_in_conflict(one, other, conflict):
    first, between, last = states(one, Rule("exclude", "was"), other)
    assert between == "in effect"
    assert (first == "in conflict", last == "in conflict") == (conflict, conflict)


def test_a_rule_that_stands_twice_is_superfluous_the_second_time():
    first = Rule("exclude", "was", number=2)
    findings = check_rules([first, Rule("exclude", "WAS", number=7)], KB)
    assert [finding.state for finding in findings] == ["in effect", "superfluous"]
    assert findings[1].note == "line 2 says it"


def test_a_concept_that_was_merged_is_named():
    assert note(Rule("exclude", concept="U:1")) == "U:1 leads to M:1 (Heart Diseases) now"


def test_without_a_hierarchy_a_subtree_is_one_concept():
    flat = ConceptKB.build([Concept("M:1", "Heart Diseases")])
    rule = Rule("exclude", concept="M:1", condition="subtree")
    assert "no hierarchy" in note(rule, flat)


def test_a_rule_may_name_a_concept_that_another_rule_brings():
    rules = (
        Rule("add", "Snark fever", concept="MY:1", condition="new"),
        Rule("prefer", "sf", concept="MY:1"),
    )
    assert states(*rules) == ["in effect", "in effect"]
    assert states(rules[1]) == ["obsolete"]
    assert "MY:1" not in KB
