"""The file of rules: what is read and written, and what is wrong with a row that is none."""

import pytest

from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.changes.rules import (
    COLUMNS,
    FORMS,
    Rule,
    append_rules,
    parse_rules,
    problem_of,
    read_rules,
)

GOOD = {
    "“Snark” is a name of M:1": Rule("add", "Snark", concept="M:1"),
    "MY:1 is a new concept, “Snark”": Rule("add", "Snark", "", "MY:1", "T047", condition="new"),
    "“attack” is no name of M:1": Rule("remove", "attack", concept="M:1"),
    "M:1 is removed": Rule("remove", concept="M:1"),
    "“CAD” is the canonical name of M:2": Rule("rename", "CAD", concept="M:2"),
    "“CAD” replaces the name “cad” of M:2": Rule("rename", "CAD", concept="M:2", instead_of="cad"),
    "“MI” means M:1 as written here of X": Rule("prefer", "MI", "X", "M:1", condition="case"),
    "U:1 is written instead of M:1": Rule("prefer", concept="U:1", instead_of="M:1"),
    "“was” is never linked as written here": Rule("exclude", "was", condition="case"),
    "“was” is never M:1": Rule("exclude", "was", concept="M:1"),
    "never linked to: M:3 and all below": Rule("exclude", concept="M:3", condition="subtree"),
    "linked only to: type T047 of DISEASE": Rule("allow", type="T047", label="DISEASE"),
    "“WAS” is linked only as written here": Rule("allow", "WAS"),
}


@pytest.mark.parametrize("text", GOOD)
def test_a_rule_says_what_it_does(text):
    assert problem_of(GOOD[text]) == ""
    assert str(GOOD[text]) == text
    assert {rule.action for rule in GOOD.values()} == {form.action for form in FORMS}


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ({"action": "nmae"}, "no action 'nmae'"),
        ({"action": "add", "string": "MI"}, "condition new; it has string"),
        ({"action": "exclude"}, "or concept or type; it has nothing"),
        (
            {"action": "allow", "type": "T", "condition": "subtree"},
            "it has type and condition subtree",
        ),
        ({"action": "exclude", "string": "(+)"}, "nothing is left of"),
    ],
)
def test_what_is_wrong_with_a_rule(cells, problem):
    assert problem in problem_of(Rule(**cells))


def test_a_bad_row_is_one_warning_with_its_number_and_the_others_stay(tmp_path):
    text = b"# ours\nreason\tAction\tstring\nno gene\texclude\twas\n\nx\tnmae\ta\n"
    text += b'y\texclude\t"open\nz\tEXCLUDE\t"the ""the"""\r\n'
    found = parse_rules(text, tmp_path)
    assert [(r.number, r.action, r.string, r.reason) for r in found.rules] == [
        (3, "exclude", "was", "no gene"),
        (7, "exclude", 'the "the"', "z"),
    ]
    assert [number for number, _ in found.problems] == [5, 6]
    message = r"rows of rules.tsv are skipped \(2\): line 5: there is no .*; line 6: unexpected end"
    with pytest.warns(UserWarning, match=message):
        found.warn("rules.tsv")


@pytest.mark.parametrize(
    "text", [b"", b"string\tconcept\n", b"action\taction\n", b"exclude\twas\n"]
)
def test_without_the_names_of_the_columns_there_are_no_rules(text, tmp_path):
    with pytest.raises(AngelError, match="must name the columns"):
        parse_rules(text, tmp_path)


def test_a_file_that_cannot_be_read_is_an_error(tmp_path):
    with pytest.raises(AngelError, match="cannot be read"):
        read_rules(tmp_path / "missing.tsv")
    with pytest.raises(AngelError, match="line 2: expected UTF-8"):
        parse_rules(b"action\tstring\nexclude\tw\xe4s\n", tmp_path)


def test_rules_are_written_as_they_are_read(tmp_path):
    rules = [*GOOD.values(), Rule("exclude", '"so called"', author="jd", date="2024-05-31")]
    append_rules(tmp_path / "rules.tsv", rules[:2])
    append_rules(tmp_path / "rules.tsv", rules[2:])
    found = read_rules(tmp_path / "rules.tsv")
    assert (list(found.rules), found.problems) == (rules, ())


def test_rows_comments_and_columns_of_a_person_stay(tmp_path):
    path = tmp_path / "rules.tsv"
    text = "# ours\nconcept\tString\taction\treason\nMY:3\trash\tadd\twe say so\n\n# end\n"
    path.write_text(text, "utf8")
    append_rules(path, [Rule("add", "itch", concept="MY:3", date="2024-05-31")])
    text = text.replace("\treason", "\treason\tdate")
    assert path.read_text("utf8") == text + "MY:3\titch\tadd\t\t2024-05-31\n"
    assert set(COLUMNS) >= {"concept", "string", "date"}
