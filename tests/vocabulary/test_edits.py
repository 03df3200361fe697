"""Rules beside a stored vocabulary: what commands write, take back, and what an update keeps."""

import json
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from spacy_angel.cli.app import app
from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.changes.rule_file import read_rules, write_rules
from spacy_angel.vocabulary.changes.rules import Rule
from spacy_angel.vocabulary.kb import RULES, ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept
from spacy_angel.vocabulary.sources.build import add_vocabulary
from spacy_angel.vocabulary.sources.edits import add_to_concept, remove_concepts, undo
from spacy_angel.vocabulary.sources.older_changes import CHANGES, convert_changes

CONCEPTS = [
    Concept("MY:1", "Snark fever", ("fever of the snark", "Snark-fever"), ("Disease",), "Rare."),
    Concept("MY:2", "Boojum syndrome", alternate_ids=("MY:20",)),
    Concept("MY:3", "Jubjub rash"),
]


def run(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def folder(tmp_path):
    ConceptKB.build(CONCEPTS, tmp_path / "kb", sources=[{"path": "own.tsv"}])
    return tmp_path / "kb"


def concepts(folder):
    return list(ConceptKB.from_disk(folder))


def test_a_concept_and_a_name_are_renamed(folder):
    kb = ConceptKB.from_disk(folder)
    kb.rename("MY:20", "Boojum disease")
    assert kb["MY:2"].names == ("Boojum disease", "Boojum syndrome")
    kb.rename("MY:1", "Snark ague", old="SNARK FEVER")
    assert kb["MY:1"].names == ("Snark ague", "fever of the snark")
    kb.rename("MY:1", "snark's ague", old="fever of the snark")
    assert kb["MY:1"].names == ("Snark ague", "snark's ague")
    assert kb.name_index("fever of the snark") is None
    assert kb.meta["steps"] == [{"step": "edit", "renamed": 3}]
    with pytest.raises(AngelError, match="has no name"):
        kb.rename("MY:3", "rash", old="itch")
    with pytest.raises(AngelError, match="The new name of"):
        kb.rename("MY:3", " ")
    with pytest.raises(AngelError, match="is not in this vocabulary"):
        kb.rename("MY:4", "rash")


def test_commands_write_rules_and_each_is_taken_back_the_last_first(folder):
    states = [concepts(folder)]
    for command in (
        ("remove", folder, "MY:1", "MY:3"),
        ("rename", folder, "MY:20", "Boojum disease"),
        ("add", folder, "--concept", "MY:5", "--name", "Slithy tove", "--name", "tove"),
        ("add", folder, "--concept", "MY:2", "--name", "boojum fit", "--author", "jd"),
        ("rename", folder, "MY:2", "fit of a boojum", "--name", "boojum fit"),
        ("remove", folder, "MY:5", "--name", "slithy tove"),
    ):
        code, _, error = run("kb", *command)
        assert code == 0, error
        states.append(concepts(folder))
    assert states[-1] == [
        Concept(
            "MY:2", "Boojum disease", ("Boojum syndrome", "fit of a boojum"), (), None, ("MY:20",)
        ),
        Concept("MY:5", "tove"),
    ]
    rules = read_rules(folder / RULES).rules
    assert [str(rule) for rule in rules] == [
        *("never linked to: MY:1", "never linked to: MY:3"),
        "“Boojum disease” is the canonical name of MY:2",
        *("MY:5 is a concept, “Slithy tove”", "“tove” is a name of MY:5"),
        "“boojum fit” is a name of MY:2",
        "“fit of a boojum” is a name of MY:2",
        "“boojum fit” is never a name of MY:2",
        "“slithy tove” is never a name of MY:5",
    ]
    assert (rules[5].author, rules[5].reason) == (
        "jd",
        "kb add --concept MY:2 --name 'boojum fit'",
    )
    code, out, _ = run("kb", "undo", folder)
    assert (code, out.split("\n")[:3]) == (
        0,
        [
            "Taken back: “slithy tove” is never a name of MY:5.",
            "8 rules are left.",
            f"2 concepts, 5 names (5 in normal form): {folder}",
        ],
    )
    states.pop()
    while len(states) > 1:
        assert concepts(folder) == states[-1]
        undo(folder)
        states.pop()
    assert concepts(folder) == CONCEPTS
    with pytest.raises(AngelError, match="has no rule to undo"):
        undo(folder)


def test_what_the_vocabulary_was_built_of_is_not_touched(folder):
    built = (folder / "meta.json").read_bytes()
    remove_concepts(folder, ["MY:1"], "kb remove MY:1")
    assert (folder / "meta.json").read_bytes() == built
    assert len(ConceptKB.from_disk(folder)) == 2
    assert list(ConceptKB.from_disk(folder, rules=False)) == CONCEPTS


def test_rules_hold_for_the_next_release(tmp_path, folder):
    run("kb", "add", folder, "--concept", "MY:5", "--name", "Slithy tove")
    run("kb", "remove", folder, "MY:3")
    newer = [Concept("MY:3", "Jubjub rash"), Concept("MY:4", "Bandersnatch bite")]
    ConceptKB.build(newer, folder)
    assert [c.concept_id for c in concepts(folder)] == ["MY:4", "MY:5"]
    more = tmp_path / "more.tsv"
    more.write_text("MY:5\tSlithy tove\tvanishing\nMY:3\tJubjub rash\t\n", "utf8")
    # Files are added to what was built, not to what the rules make of it.
    kb = add_vocabulary(folder, more)
    assert [c.concept_id for c in kb] == ["MY:4", "MY:5"]
    built = ConceptKB.from_disk(folder, rules=False)
    assert [c.concept_id for c in built] == ["MY:3", "MY:4", "MY:5"]


def test_rows_comments_and_columns_of_a_person_stay(folder):
    text = "# ours\nconcept\tstring\taction\treason\nMY:3\trash\tname\twe say so\n\n# end\n"
    (folder / RULES).write_text(text, "utf8")
    assert run("kb", "add", folder, "--concept", "MY:3", "--name", "itch", "--author", "mk")[0] == 0
    lines = (folder / RULES).read_text("utf8").split("\n")
    assert lines[:5] == [
        *("# ours", "concept\tstring\taction\treason\tauthor\tdate"),
        *("MY:3\trash\tname\twe say so", "", "# end"),
    ]
    assert lines[5].startswith("MY:3\titch\tname\tkb add --concept MY:3 --name itch\tmk\t20")
    assert ConceptKB.from_disk(folder)["MY:3"].aliases == ("rash", "itch")
    undo(folder)
    taken, left = undo(folder)
    assert ([rule.string for rule in taken], left) == (["rash"], [])
    assert (folder / RULES).read_text("utf8").split("\n")[:2] == lines[:2]


def test_a_rule_without_an_effect_is_refused(folder):
    run("kb", "remove", folder, "MY:3")
    run("kb", "remove", folder, "MY:1", "--name", "fever of the snark")
    before = (folder / RULES).read_text("utf8")
    code, _, error = run("kb", "add", folder, "--concept", "MY:3", "--name", "rash")
    assert (code, "line 2 says: never linked to: MY:3" in error) == (1, True)
    code, _, error = run("kb", "add", folder, "--concept", "MY:1", "--name", "Fever of the Snark")
    assert code == 1
    assert "The new rule would have no effect" in error
    assert "line 3 says: “fever of the snark” is never a name of MY:1" in error
    write_rules([Rule("exclude", type="Disease")], folder / RULES)
    assert "an earlier row" not in before
    code, _, error = run("kb", "rename", folder, "MY:3", "Jubjub itch")
    assert (code, error) == (0, "")


def test_what_is_unknown_or_changes_nothing_writes_nothing(folder):
    assert "is not in this vocabulary" in run("kb", "remove", folder, "MY:1", "MY:9")[2]
    assert "is the only name of" in run("kb", "remove", folder, "MY:3", "--name", "jubjub rash")[2]
    assert "has no name" in run("kb", "rename", folder, "MY:3", "x", "--name", "y")[2]
    assert run("kb", "add", folder, "--concept", "MY:1", "--name", "Snark fever")[0] == 0
    assert not (folder / RULES).exists()
    assert (
        "--concept ID and --name NAME must be" in run("kb", "add", folder, "--concept", "MY:1")[2]
    )
    assert (
        "Give exactly one of"
        in run("kb", "add", folder, "x.tsv", "--concept", "MY:1", "--name", "x")[2]
    )


def test_rules_of_mentions_are_left_to_the_linker_and_bad_rows_are_told(folder):
    rows = [
        Rule("not-mention", "rash"),
        Rule("exclude", concept="MY:1", label="GENE"),
        Rule("name", "JR", concept="MY:3", condition="case"),
        Rule("name", "itch", concept="MY:9"),
        Rule("means", "hives", concept="MY:3"),
    ]
    write_rules(rows, folder / RULES)
    assert concepts(folder) == CONCEPTS
    with open(folder / RULES, "a", encoding="utf8") as file:
        file.write("nmae\tx\n")
    with pytest.warns(UserWarning, match=r"line 7, is left out"):
        assert concepts(folder) == CONCEPTS
    (folder / RULES).write_text("what is this\n", "utf8")
    with pytest.raises(AngelError, match="The first row of"):
        ConceptKB.from_disk(folder)


def test_what_stays_as_it_was_built_is_said(folder):
    remove_concepts(folder, ["MY:3"], "kb remove MY:3")
    # Whoever saves what was opened saves it with its rules.
    ConceptKB.from_disk(folder).to_disk(folder)
    out = run("kb", "undo", folder)[1]
    assert out.startswith(
        "Taken back: never linked to: MY:3. It stays so: the vocabulary was built"
    )
    assert len(ConceptKB.from_disk(folder)) == 2


def test_another_process_opens_the_same_rules(folder):
    add_to_concept(folder, "MY:3", ["itch"], "by hand")
    kb = ConceptKB.from_disk(folder)
    data = pickle.dumps(kb)
    assert len(data) < 5_000
    assert pickle.loads(data)["MY:3"].aliases == ("itch",)
    kb.add_names("MY:3", ["hives"])
    assert pickle.loads(pickle.dumps(kb))["MY:3"].aliases == ("itch", "hives")
    undo(folder)
    with pytest.raises(AngelError, match="was rewritten since"):
        pickle.loads(data)


def test_counts_are_those_under_the_rules(folder):
    kb = ConceptKB.from_disk(folder)
    assert kb.counts == {"concepts": 3, "names": 4, "spellings": 5}
    add_to_concept(folder, "MY:5", ["Slithy tove", "tove", "Tove"], "by hand")
    remove_concepts(folder, ["MY:1"], "by hand, too")
    assert ConceptKB.from_disk(folder).counts == {"concepts": 3, "names": 4, "spellings": 4}


RECORDS = [
    "kb remove MY:8 MY:9",
    "kb add more.tsv",
    "kb add --mentions train.txt",
    "kb rename MY:2 'Boojum syndrome'",
    "kb rename MY:1 'Snark-fever' --name 'fever snark'",
    "kb add --concept MY:3 --name 'Jubjub rash' --name \"jubjub's\"",
    "kb remove MY:1 --name snarking",
]


def write_records(folder, commands):
    lines = [
        json.dumps({"command": c, "time": f"2024-05-0{i + 1}T10:00:00+00:00", "concepts": []})
        + "\n"
        for i, c in enumerate(commands)
    ]
    (folder / CHANGES).write_text("".join(lines), "utf8")


def test_a_record_of_version_0_1_becomes_rules(folder):
    write_records(folder, RECORDS)
    assert concepts(folder) == CONCEPTS
    convert_changes(folder)
    assert not (folder / CHANGES).exists()
    rules = read_rules(folder / RULES).rules
    assert [(rule.date[-1], str(rule)) for rule in rules] == [
        ("1", "never linked to: MY:8"),
        ("1", "never linked to: MY:9"),
        ("4", "“Boojum syndrome” is the canonical name of MY:2"),
        ("5", "“Snark-fever” is a name of MY:1"),
        ("5", "“fever snark” is never a name of MY:1"),
        ("6", "MY:3 is a concept, “Jubjub rash”"),
        ("6", "“Jubjub rash” is a name of MY:3"),
        ("6", "“jubjub's” is a name of MY:3"),
        ("7", "“snarking” is never a name of MY:1"),
    ]
    assert rules[0].reason == "kb remove MY:8 MY:9"
    convert_changes(folder)
    assert read_rules(folder / RULES).rules == rules


@pytest.mark.parametrize("line", ["[]", "[" * 100_000, "1" * 5000, '{"command": "kb"}'])
def test_a_damaged_record_is_told_and_changes_nothing(folder, line):
    (folder / CHANGES).write_text(line + "\n", "utf8")
    assert concepts(folder) == CONCEPTS
    with pytest.raises(AngelError, match="is not a record of changes by"):
        undo(folder)
    write_records(folder, ["kb add --concept", "kb eat MY:1"])
    with pytest.raises(AngelError, match="is not a record of changes by"):
        undo(folder)
    assert not (folder / RULES).exists()


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["add", "drop"]), st.integers(0, 7), st.text("ab ", max_size=4)),
        max_size=8,
    )
)
def test_any_changes_are_taken_back_in_order(tmp_path_factory, changes):
    folder = tmp_path_factory.mktemp("any") / "kb"
    ConceptKB.build([Concept(f"MY:{i}", f"name {i}") for i in range(6)], folder)
    states = [concepts(folder)]
    for i, (kind, number, name) in enumerate(changes):
        try:
            if kind == "add" and name.strip():
                n = add_to_concept(folder, f"MY:{number}", [name], f"{i}")
            else:
                n = remove_concepts(folder, [f"MY:{number}"], f"{i}")
        except AngelError:
            n = 0
        if n:
            states.append(concepts(folder))
        assert concepts(folder) == states[-1]
    for state in reversed(states[:-1]):
        undo(folder)
        assert concepts(folder) == state
