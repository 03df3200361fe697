"""Changes of a stored vocabulary, and that each can be undone."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from spacy_angel.cli.app import app
from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.build import add_vocabulary
from spacy_angel.vocabulary.concepts import Concept
from spacy_angel.vocabulary.history import CHANGES, recorded, undo
from spacy_angel.vocabulary.kb import ConceptKB

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
    with pytest.raises(AngelError, match="E111"):
        kb.rename("MY:3", "rash", old="itch")
    with pytest.raises(AngelError, match="E144"):
        kb.rename("MY:3", " ")
    with pytest.raises(AngelError, match="E109"):
        kb.rename("MY:4", "rash")


def test_every_change_is_undone_the_last_first(tmp_path, folder):
    more = tmp_path / "more.tsv"
    more.write_text("MY:2\tBoojum syndrome\tvanishing\nMY:4\tBandersnatch bite\t\n", "utf8")
    corpus = tmp_path / "train.pubtator"
    corpus.write_text("1|t|A boojum fit\n1|a|.\n1\t2\t12\tboojum fit\tDisease\tMY:2\n\n", "utf8")
    states = [(concepts(folder), ConceptKB.from_disk(folder).meta)]
    for command in (
        ("remove", folder, "MY:1", "MY:3"),
        ("add", folder, more),
        ("rename", folder, "MY:2", "Boojum disease"),
        ("add", folder, "--concept", "MY:5", "--name", "Slithy tove", "--name", "tove"),
        ("add", folder, "--concept", "MY:4", "--name", "frumious bite"),
        ("add", folder, "--mentions", corpus),
        ("remove", folder, "MY:5", "--name", "tove"),
    ):
        code, _, error = run("kb", *command)
        assert code == 0, error
        states.append((concepts(folder), ConceptKB.from_disk(folder).meta))
    assert [c.concept_id for c in states[-1][0]] == ["MY:2", "MY:4", "MY:5"]
    assert states[-1][0][0].names == (
        *("Boojum disease", "Boojum syndrome", "vanishing", "boojum fit"),
    )
    assert states[-1][0][1].names == ("Bandersnatch bite", "frumious bite")
    code, out, _ = run("kb", "undo", folder)
    assert code == 0
    assert out.startswith("Undone: kb remove MY:5 --name tove. 6 more can be undone.\n3 concepts")
    states.pop()
    while len(states) > 1:
        assert concepts(folder) == states[-1][0]
        undo(folder)
        states.pop()
    assert concepts(folder) == CONCEPTS
    meta = ConceptKB.from_disk(folder).meta
    assert (meta["sources"], meta["steps"]) == ([{"path": "own.tsv"}], [])
    with pytest.raises(AngelError, match="E145"):
        undo(folder)


def test_frequencies_of_a_corpus_are_undone_as_well(folder):
    with recorded(folder, "kb add --mentions train"):
        kb = ConceptKB.from_disk(folder)
        kb.add_mentions([("MY:3", "jubjub itch")], "train")
        kb.to_disk(folder)
    assert ConceptKB.from_disk(folder).meta["frequencies"] == {"MY:3": 1}
    undo(folder)
    assert "frequencies" not in ConceptKB.from_disk(folder).meta
    assert concepts(folder) == CONCEPTS


def test_what_was_changed_in_another_way_is_not_undone(tmp_path, folder):
    run("kb", "remove", folder, "MY:1")
    run("kb", "remove", folder, "MY:2")
    more = tmp_path / "more.tsv"
    more.write_text("MY:4\tBandersnatch bite\t\n", "utf8")
    add_vocabulary(folder, more)
    with pytest.raises(AngelError, match=r"E146.*kb remove MY:2"):
        undo(folder)
    # A new change can be undone, and what was before it no longer.
    run("kb", "remove", folder, "MY:4")
    assert undo(folder) == ("kb remove MY:4", 0)
    assert [c.concept_id for c in concepts(folder)] == ["MY:3", "MY:4"]
    (folder / CHANGES).write_text("[]\n", "utf8")
    with pytest.raises(AngelError, match="E147"):
        undo(folder)


@pytest.mark.parametrize(
    "change",
    [
        {"before": {"path": "elsewhere"}},
        {"before": {"steps": 5}},
        {"concepts": [{"concept_id": "MY:1"}]},
        {"concepts": [{"concept_id": "MY:1", "at": "0", "was": {"concept_id": "MY:1"}}]},
        {"command": None},
        {"more": 1},
    ],
)
def test_a_damaged_record_is_told_and_changes_nothing(folder, change):
    run("kb", "remove", folder, "MY:1")
    before = concepts(folder)
    record = json.loads((folder / CHANGES).read_text("utf8"))
    for line in (json.dumps(record | change), "[" * 100_000, "1" * 5000):
        (folder / CHANGES).write_text(line + "\n", "utf8")
        with pytest.raises(AngelError, match="E147"):
            undo(folder)
    assert concepts(folder) == before


def test_a_failed_change_and_one_that_changes_nothing_are_not_recorded(folder):
    assert run("kb", "remove", folder, "MY:1", "MY:9")[0] == 1
    assert run("kb", "add", folder, "--concept", "MY:1", "--name", "Snark fever")[0] == 0
    assert not (folder / CHANGES).exists()
    assert "[E712]" in run("kb", "add", folder, "--concept", "MY:1")[2]
    assert "[E701]" in run("kb", "add", folder, "x.tsv", "--concept", "MY:1", "--name", "x")[2]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["put", "drop"]), st.integers(0, 7), st.text("ab ", max_size=4)),
        max_size=8,
    )
)
def test_any_changes_are_undone_in_order(tmp_path_factory, changes):
    folder = tmp_path_factory.mktemp("any") / "kb"
    ConceptKB.build([Concept(f"MY:{i}", f"name {i}") for i in range(6)], folder)
    before = concepts(folder)
    with recorded(folder, "any"):
        kb = ConceptKB.from_disk(folder)
        for kind, number, name in changes:
            concept_id = f"MY:{number}"
            if concept_id in kb:
                kb.remove(concept_id)
            if kind == "put":
                kb.add(Concept(concept_id, name))
        kb.to_disk(folder)
    if (folder / CHANGES).exists():
        assert json.loads((folder / CHANGES).read_text())["command"] == "any"
        undo(folder)
    assert concepts(folder) == before
