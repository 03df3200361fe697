"""Rules beside a stored vocabulary: what commands write, and what an update keeps."""

import pickle

import pytest
from typer.testing import CliRunner

from spacy_angel.cli.app import app
from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.changes.rule_file import read_rules, write_rules
from spacy_angel.vocabulary.changes.rules import Rule
from spacy_angel.vocabulary.kb import RULES, ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept
from spacy_angel.vocabulary.sources.build import add_vocabulary
from spacy_angel.vocabulary.sources.edits import add_to_concept, remove_concepts

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
    for arguments, message in (
        (("MY:3", "rash", "itch"), "has no name 'itch'"),
        (("MY:3", " "), "has no letters"),
        (("MY:4", "rash"), "'MY:4' is not in this vocabulary"),
    ):
        with pytest.raises(AngelError, match=message):
            kb.rename(*arguments)


def test_commands_write_rules_and_leave_what_was_built(folder):
    built = (folder / "meta.json").read_bytes()
    for command in (
        ("remove", folder, "MY:1", "MY:3"),
        ("rename", folder, "MY:20", "Boojum disease"),
        ("add", folder, "--concept", "MY:5", "--name", "Slithy tove", "--name", "tove"),
        ("add", folder, "--concept", "MY:2", "--name", "boojum fit"),
        ("rename", folder, "MY:2", "fit of a boojum", "--name", "boojum fit"),
        ("remove", folder, "MY:5", "--name", "slithy tove"),
    ):
        code, _, error = run("kb", *command)
        assert code == 0, error
    names = ("Boojum syndrome", "fit of a boojum")
    assert list(ConceptKB.from_disk(folder)) == [
        Concept("MY:2", "Boojum disease", names, (), None, ("MY:20",)),
        Concept("MY:5", "tove"),
    ]
    assert [str(rule) for rule in read_rules(folder / RULES).rules] == [
        *("never linked to: MY:1", "never linked to: MY:3"),
        "“Boojum disease” is the canonical name of MY:2",
        *("MY:5 is a concept, “Slithy tove”", "“tove” is a name of MY:5"),
        "“boojum fit” is a name of MY:2",
        "“fit of a boojum” is a name of MY:2",
        "“boojum fit” is never a name of MY:2",
        "“slithy tove” is never a name of MY:5",
    ]
    assert (folder / "meta.json").read_bytes() == built
    assert list(ConceptKB.from_disk(folder, rules=False)) == CONCEPTS


def test_rules_hold_for_the_next_release(tmp_path, folder):
    add_to_concept(folder, "MY:5", ["Slithy tove"])
    remove_concepts(folder, ["MY:3"])
    newer = [Concept("MY:3", "Jubjub rash"), Concept("MY:4", "Bandersnatch bite")]
    ConceptKB.build(newer, folder)
    assert [c.concept_id for c in ConceptKB.from_disk(folder)] == ["MY:4", "MY:5"]
    more = tmp_path / "more.tsv"
    more.write_text("MY:5\tSlithy tove\tvanishing\nMY:3\tJubjub rash\t\n", "utf8")
    # Files are added to what was built, not to what the rules make of it.
    assert [c.concept_id for c in add_vocabulary(folder, more)] == ["MY:4", "MY:5"]
    built = ConceptKB.from_disk(folder, rules=False)
    assert [c.concept_id for c in built] == ["MY:3", "MY:4", "MY:5"]


def test_rows_comments_and_columns_of_a_person_stay(folder):
    text = "# ours\nconcept\tstring\taction\treason\nMY:3\trash\tname\twe say so\n\n# end\n"
    (folder / RULES).write_text(text, "utf8")
    assert run("kb", "add", folder, "--concept", "MY:3", "--name", "itch")[0] == 0
    lines = (folder / RULES).read_text("utf8").split("\n")
    assert lines[:5] == [
        *("# ours", "concept\tstring\taction\treason\tdate"),
        *("MY:3\trash\tname\twe say so", "", "# end"),
    ]
    assert lines[5].startswith("MY:3\titch\tname\t\t20")
    assert ConceptKB.from_disk(folder)["MY:3"].aliases == ("rash", "itch")


def test_a_rule_without_an_effect_is_refused(folder):
    run("kb", "remove", folder, "MY:3")
    run("kb", "remove", folder, "MY:1", "--name", "fever of the snark")
    code, _, error = run("kb", "add", folder, "--concept", "MY:3", "--name", "rash")
    assert (code, "line 2 says: never linked to: MY:3" in error) == (1, True)
    code, _, error = run("kb", "add", folder, "--concept", "MY:1", "--name", "Fever of the Snark")
    assert code == 1
    assert "line 3 says: “fever of the snark” is never a name of MY:1" in error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("remove", "MY:1", "MY:9"), "'MY:9' is not in this vocabulary"),
        (("remove", "MY:3", "--name", "jubjub rash"), "only name"),
        (("remove", "MY:1", "MY:3", "--name", "x"), "--name needs exactly one concept"),
        (("rename", "MY:3", "x", "--name", "y"), "has no name 'y'"),
        (("add", "--concept", "MY:1", "--name", "Snark fever"), ""),
        (("add", "--concept", "MY:1"), "must be given together"),
        (("add", "x.tsv", "--concept", "MY:1", "--name", "x"), "exactly one"),
    ],
)
def test_what_is_unknown_or_changes_nothing_writes_nothing(folder, arguments, message):
    verb, *rest = arguments
    code, _, error = run("kb", verb, folder, *rest)
    assert code == bool(message)
    assert message in error
    assert not (folder / RULES).exists()


def test_rules_of_mentions_are_left_to_the_linker_and_bad_rows_are_told(folder):
    rows = [
        Rule("not-mention", "rash"),
        Rule("exclude", concept="MY:1", label="GENE"),
        Rule("name", "JR", concept="MY:3", condition="case"),
        Rule("name", "itch", concept="MY:9"),
        Rule("means", "hives", concept="MY:3"),
    ]
    write_rules(rows, folder / RULES)
    with open(folder / RULES, "a", encoding="utf8") as file:
        file.write("nmae\tx\n")
    with pytest.warns(UserWarning, match=r"line 7"):
        assert list(ConceptKB.from_disk(folder)) == CONCEPTS
    (folder / RULES).write_text("what is this\n", "utf8")
    with pytest.raises(AngelError, match="must name the columns"):
        ConceptKB.from_disk(folder)


def test_another_process_opens_the_same_rules(folder):
    add_to_concept(folder, "MY:3", ["itch"])
    kb = ConceptKB.from_disk(folder)
    data = pickle.dumps(kb)
    assert len(data) < 5_000
    assert pickle.loads(data)["MY:3"].aliases == ("itch",)
    kb.add_names("MY:3", ["hives"])
    assert pickle.loads(pickle.dumps(kb))["MY:3"].aliases == ("itch", "hives")
    (folder / RULES).unlink()
    with pytest.raises(AngelError, match="was rewritten"):
        pickle.loads(data)


def test_counts_are_those_under_the_rules(folder):
    assert ConceptKB.from_disk(folder).counts == {"concepts": 3, "names": 4, "spellings": 5}
    add_to_concept(folder, "MY:5", ["Slithy tove", "tove", "Tove"])
    remove_concepts(folder, ["MY:1"])
    assert ConceptKB.from_disk(folder).counts == {"concepts": 3, "names": 4, "spellings": 4}
