"""Rules beside a stored vocabulary: what commands write, and what an update keeps."""

import pickle

import pytest
from support.helpers import run

from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.changes.rules import Rule, read_rules, write_rules
from spacy_angel.vocabulary.kb import RULES, ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept
from spacy_angel.vocabulary.sources.build import add_vocabulary

CONCEPTS = [
    Concept("MY:1", "Snark fever", ("fever of the snark", "Snark-fever"), ("Disease",), "Rare."),
    Concept("MY:2", "Boojum syndrome", alternate_ids=("MY:20",)),
    Concept("MY:3", "Jubjub rash"),
]


@pytest.fixture
def folder(tmp_path):
    ConceptKB.build(CONCEPTS, tmp_path / "kb")
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
    assert kb.meta["steps"] == [{"step": "edit"}]
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
        ("add", folder, "--concept", "MY:5", "--name", "TOVE"),
        ("add", folder, "--concept", "MY:3", "--name", "Jubjub rash"),
    ):
        code, _, error = run("kb", *command)
        assert code == 0, error
    names = ("Boojum syndrome", "fit of a boojum")
    assert list(ConceptKB.from_disk(folder)) == [
        Concept("MY:2", "Boojum disease", names, (), None, ("MY:20",)),
        Concept("MY:3", "Jubjub rash"),
        Concept("MY:5", "tove"),
    ]
    assert [str(rule) for rule in read_rules(folder / RULES).rules] == [
        *("MY:1 is removed", "MY:3 is removed"),
        "“Boojum disease” is the canonical name of MY:2",
        *("MY:5 is a new concept, “Slithy tove”", "“tove” is a name of MY:5"),
        "“boojum fit” is a name of MY:2",
        "“fit of a boojum” replaces the name “boojum fit” of MY:2",
        "“slithy tove” is no name of MY:5",
        "MY:3 is a new concept, “Jubjub rash”",
    ]
    assert (folder / "meta.json").read_bytes() == built
    assert list(ConceptKB.from_disk(folder, rules=False)) == CONCEPTS
    kb = ConceptKB.from_disk(folder)
    assert (len(kb), kb.n_live_names) == (3, 5)


def test_rules_hold_for_the_next_release(tmp_path, folder):
    new = Rule("add", "Slithy tove", concept="MY:5", condition="new")
    ConceptKB.from_disk(folder).edit_stored([new, Rule("remove", concept="MY:3")])
    newer = [Concept("MY:3", "Jubjub rash"), Concept("MY:4", "Bandersnatch bite")]
    ConceptKB.build(newer, folder)
    assert [c.concept_id for c in ConceptKB.from_disk(folder)] == ["MY:4", "MY:5"]
    more = tmp_path / "more.tsv"
    more.write_text("MY:5\tSlithy tove\tvanishing\nMY:3\tJubjub rash\t\n", "utf8")
    # Files are added to what was built, not to what the rules make of it.
    assert [c.concept_id for c in add_vocabulary(folder, more)] == ["MY:4", "MY:5"]
    built = ConceptKB.from_disk(folder, rules=False)
    assert [c.concept_id for c in built] == ["MY:3", "MY:4", "MY:5"]


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


def test_rules_of_mentions_are_kept_for_the_linker(folder, tmp_path):
    rules = [
        Rule("exclude", "rash"),
        Rule("exclude", concept="MY:1", label="GENE"),
        Rule("prefer", "hives", concept="MY:3"),
    ]
    # Neither those without a concept nor the one that would take the only name change anything.
    without_effect = [
        Rule("add", "itch", concept="MY:9"),
        Rule("remove", "jubjub rash", concept="MY:3"),
    ]
    write_rules(folder / RULES, [*rules, *without_effect])
    kb = ConceptKB.from_disk(folder)
    kb.to_disk(tmp_path / "saved")
    for again in (
        *(kb, ConceptKB.from_disk(tmp_path / "saved"), ConceptKB.from_bytes(kb.to_bytes())),
        *(kb.copy(), ConceptKB.merge([kb]), pickle.loads(pickle.dumps(kb))),
    ):
        assert (list(again), list(again.rules)) == (CONCEPTS, rules)


def test_bad_rows_are_skipped_and_a_bad_file_is_an_error(folder):
    (folder / RULES).write_text("action\tstring\nnmae\tx\n", "utf8")
    with pytest.warns(UserWarning, match=r"line 2"):
        assert list(ConceptKB.from_disk(folder)) == CONCEPTS
    (folder / RULES).write_text("what is this\n", "utf8")
    with pytest.raises(AngelError, match="must name the columns"):
        ConceptKB.from_disk(folder)


def test_another_process_opens_the_same_rules(folder):
    ConceptKB.from_disk(folder).edit_stored([Rule("add", "itch", concept="MY:3")])
    kb = ConceptKB.from_disk(folder)
    data = pickle.dumps(kb)
    assert len(data) < 5_000
    (folder / RULES).unlink()
    assert pickle.loads(data)["MY:3"].aliases == ("itch",)
    kb.add_names("MY:3", ["hives"])
    assert pickle.loads(pickle.dumps(kb))["MY:3"].aliases == ("itch", "hives")
    ConceptKB.build(CONCEPTS[:1], folder)
    with pytest.raises(AngelError, match="was rewritten"):
        pickle.loads(data)
