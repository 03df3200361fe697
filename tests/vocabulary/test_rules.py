"""The file of rules: what is read, and what is told of a row that is none."""

import pytest

from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.changes.rule_file import parse_rules, read_rules, write_rules
from spacy_angel.vocabulary.changes.rules import COLUMNS, MOST_CHARACTERS, SHAPES, Rule, problem_of

GOOD = {
    "concept": {"string": "Snark fever", "concept": "MY:1", "type": "T047"},
    "canonical": {"string": "Coronary Disease", "concept": "M:2"},
    "name": {"string": "MI", "concept": "M:1", "condition": "case"},
    "not-name": {"string": "attack", "concept": "M:1", "label": "DISEASE"},
    "not-mention": {"string": "was"},
    "only": {"string": "WAS", "condition": "elsewhere"},
    "means": {"string": "CAD", "concept": "M:2"},
    "exclude": {"concept": "M:3", "condition": "subtree"},
    "allow": {"type": "T047", "label": "DISEASE"},
    "prefer": {"concept": "U:1", "instead_of": "M:1"},
}


def read(text: str, tmp_path):
    path = tmp_path / "rules.tsv"
    path.write_bytes(text.encode())
    return read_rules(path)


def test_every_action_has_a_rule_that_is_good_and_says_what_it_does() -> None:
    assert set(GOOD) == set(SHAPES)
    for action, cells in GOOD.items():
        rule = Rule(action, **cells)
        assert problem_of(rule) == ""
        assert str(rule).strip() == str(rule)
    assert str(Rule("name", **GOOD["name"])) == "“MI” is a name of M:1 as it is written here"


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ({"action": "nmae"}, "no action 'nmae'"),
        ({"action": "name", "string": "MI"}, "name needs concept"),
        ({"action": "not-mention", "string": "was", "concept": "M:1"}, "has no concept"),
        ({"action": "exclude"}, "needs either concept or type"),
        ({"action": "exclude", "concept": "M:1", "type": "T"}, "needs either concept or type"),
        ({"action": "allow", "type": "T", "condition": "subtree"}, "a subtree is that of a"),
        ({"action": "only", "string": "was"}, "is case or elsewhere, not ''"),
        ({"action": "not-mention", "string": "(+)"}, "nothing is left of"),
        ({"action": "not-mention", "string": "a", "date": "31.5.2024"}, "the date is"),
        ({"action": "not-mention", "string": "a", "date": "2024-02-31"}, "the date is"),
        ({"action": "not-mention", "string": "a" * (MOST_CHARACTERS + 1)}, "is longer than 1,000"),
    ],
)
def test_what_is_wrong_with_a_rule_is_told(cells, problem) -> None:
    assert problem in problem_of(Rule(**cells))


def test_a_bad_row_is_one_warning_with_its_number_and_the_others_stay(tmp_path) -> None:
    found = read(
        "# ours\nreason\tAction\tstring\nno gene\tnot mention\twas\n\nx\tnmae\ta\n"
        'y\tnot-mention\t"open\nz\tnot_mention\t"the ""the"""\n',
        tmp_path,
    )
    assert [(r.number, r.action, r.string, r.reason) for r in found.rules] == [
        (3, "not-mention", "was", "no gene"),
        (7, "not-mention", 'the "the"', "z"),
    ]
    assert [number for number, _ in found.problems] == [5, 6]
    with pytest.warns(UserWarning, match="is left out") as told:
        found.warn("rules.tsv")
    assert [str(warning.message)[:39] for warning in told] == [
        "rules.tsv, line 5, is left out: there i",
        "rules.tsv, line 6, is left out: unexpec",
    ]


def test_a_row_that_is_not_utf8_is_left_out(tmp_path) -> None:
    data = b"action\tstring\nnot-mention\tw\xe4s\nnot-mention\tis\r\n"
    found = parse_rules(data, tmp_path / "rules.tsv")
    assert [(rule.number, rule.string) for rule in found.rules] == [(3, "is")]
    assert found.problems == ((2, "it is not UTF-8"),)


@pytest.mark.parametrize("text", ["string\tconcept\n", "action\taction\n", "not-mention\twas\n"])
def test_without_the_names_of_the_columns_there_are_no_rules(text, tmp_path) -> None:
    with pytest.raises(AngelError, match="must name the columns"):
        read(text, tmp_path)


def test_a_file_that_cannot_be_read_is_an_error(tmp_path) -> None:
    with pytest.raises(AngelError, match="cannot be read"):
        read_rules(tmp_path / "missing.tsv")


def test_rules_are_written_as_they_are_read(tmp_path) -> None:
    rules = [Rule(name, **cells, author="jd", date="2024-05-31") for name, cells in GOOD.items()]
    rules.append(Rule("not-mention", string='"so called"'))
    write_rules(rules, tmp_path / "rules.tsv")
    found = read_rules(tmp_path / "rules.tsv")
    assert found.problems == ()
    assert [[getattr(rule, name) for name in COLUMNS] for rule in found.rules] == [
        [getattr(rule, name) for name in COLUMNS] for rule in rules
    ]
