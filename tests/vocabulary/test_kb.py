"""The vocabulary: what goes in comes out, changed or not, stored or not."""

import json
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept, normalize_name
from spacy_angel.vocabulary.storage import compiled
from spacy_angel.vocabulary.storage.arrays import compress_folder
from spacy_angel.vocabulary.storage.metadata import BuildOptions

END = 2

DIABETES = Concept(
    "MESH:D003920",
    "Diabetes Mellitus",
    ("Diabetes", "diabetes-mellitus"),
    ("T047",),
    "A group of disorders.",
    ("OMIM:125853",),
)
INSIPIDUS = Concept("MESH:D003919", "Diabetes Insipidus", ("diabetes",), ("T047", "T033"))
ASPIRIN = Concept("MESH:D001241", "Aspirin", ("Acetylsalicylic Acid", "+"), ("T109",))
CONCEPTS = [DIABETES, INSIPIDUS, ASPIRIN]


class CharacterTokenizer:
    """A name's characters are its tokens."""

    def __init__(self, fingerprint="characters"):
        self.fingerprint = fingerprint
        self.calls = 0

    def encode_names(self, names):
        self.calls += 1
        return [[*(ord(character) + 3 for character in name), END] for name in names]


def decode(tokens):
    return "".join(chr(token - 3) for token in tokens[:-1])


def legal_names(space, row=0):
    """Every name that a search could write, walking only through legal nodes."""
    found = {}
    stack = [(at, 0, ()) for at in range(len(space.tries))]
    while stack:
        at, node, tokens = stack.pop()
        trie, mask = space.tries[at], space.masks[row]
        children = range(trie.first_child[node], trie.first_child[node + 1])
        stack += [(at, child, (*tokens, int(trie.token[child]))) for child in children]
        leaf = trie.leaf_begin[node]
        if node and not children and (mask is None or mask[at][leaf + 1] > mask[at][leaf]):
            (name,) = trie.names_of_leaf(leaf)
            found[decode(tokens)] = int(name)
    return found


# ---- building and reading


def test_an_own_identifier_comes_before_an_alternate_and_the_first_alternate_wins():
    kb = ConceptKB.build(
        [
            Concept("X:1", "one", alternate_ids=("X:3", "X:9")),
            Concept("X:2", "two", alternate_ids=("X:9",)),
            Concept("X:3", "three"),
        ]
    )
    assert (kb.resolve("X:3"), kb.resolve("X:9")) == ("X:3", "X:1")


def test_spellings_without_a_normal_form_stay_with_the_concept_only():
    kb = ConceptKB.build([ASPIRIN, Concept("X:1", "(+)", ("-",))])
    assert kb["X:1"].names == ("(+)", "-")
    assert kb.names_of("X:1") == []
    assert kb.name_index("+") is None
    assert kb.meta["counts"] == {
        "concepts": 2,
        "names": 2,
        "spellings": 5,
        "shared_names": 0,
        "unsearchable_spellings": 3,
        "alternate_ids": 0,
        "types": 1,
        "definitions": 0,
        "joined_concepts": 0,
    }


def test_a_concept_that_comes_in_parts_is_joined():
    kb = ConceptKB.build(
        [
            Concept("X:1", "a", ("b",), ("T2",), None, ("Y:1",)),
            Concept("X:2", "z"),
            Concept("X:1", "c", ("b", "d"), ("T1", "T2"), "def", ("Y:1", "Y:2")),
        ]
    )
    assert list(kb) == [
        Concept("X:1", "a", ("b", "c", "d"), ("T2", "T1"), "def", ("Y:1", "Y:2")),
        Concept("X:2", "z"),
    ]
    assert kb.meta["counts"]["joined_concepts"] == 1


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"canonical_name": None}, "'X:5'.* canonical_name: .* valid string .got None"),
        ({"concept_id": 5}, "concept 5 .* concept_id: .* valid string .got 5"),
        ({"aliases": "alias"}, "aliases: .* valid tuple .got 'alias'"),
        ({"aliases": ("a", float("nan"))}, r"aliases\.1: .* valid string .got nan"),
        ({"types": (47,)}, r"types\.0: .* valid string .got 47"),
    ],
)
def test_a_concept_with_a_wrong_field_is_an_error_and_changes_nothing(fields, message):
    kb = ConceptKB.build(CONCEPTS)
    wrong = Concept(**({"concept_id": "X:5", "canonical_name": "five"} | fields))
    with pytest.raises(AngelError, match=message):
        kb.add(wrong)
    assert (list(kb), len(kb), kb.n_names, "X:5" in kb) == (CONCEPTS, 3, 5, False)
    assert kb.meta["steps"] == []
    kb.add(Concept("X:5", "five"))
    assert (len(kb), kb["X:5"].names) == (4, ("five",))
    with pytest.raises(AngelError):
        ConceptKB.build([*CONCEPTS, wrong])


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (Concept("MY:4", "twice"), "is already in the vocabulary"),
        (Concept("MY:1", "there"), "is already in the vocabulary"),
        (Concept("", "nobody"), "needs an identifier"),
        ("a text", "needs a Concept"),
    ],
)
def test_several_are_added_or_none(second, message):
    kb = ConceptKB.build(CONCEPTS)
    kb.add([Concept("MY:1", "one"), Concept("MY:2", "two")])
    kb.add(Concept("MY:3", "three"))
    assert repr(kb) == "<ConceptKB: 6 concepts, 8 names, in memory>"
    with pytest.raises(AngelError, match=message):
        kb.add([Concept("MY:4", "four"), second])
    assert "MY:4" not in kb
    with pytest.raises(AngelError, match="needs a Concept"):
        kb.add({"concept_id": "MY:5"})


def test_an_empty_vocabulary_works(tmp_path):
    kb = ConceptKB.build([], tmp_path / "kb")
    assert (len(kb), kb.n_names, list(kb)) == (0, 0, [])
    assert kb.resolve("X:1") is None
    assert legal_names(kb.search_space(CharacterTokenizer())) == {}
    kb.add(DIABETES)
    assert set(legal_names(kb.search_space(CharacterTokenizer()))) == {
        "diabetes mellitus",
        "diabetes",
    }


def test_concepts_are_found_by_name_and_by_any_spelling_of_an_identifier():
    kb = ConceptKB.build(CONCEPTS)
    assert [c.concept_id for c in kb.find("DIABETES")] == ["MESH:D003920", "MESH:D003919"]
    assert kb.find("diabetes insipidus, no") == []
    assert kb["mesh:d003919"] == kb["D003919"] == INSIPIDUS
    assert kb.get("MESH:D0") is None


# ---- storage


def test_a_stored_vocabulary_is_mapped_and_equal(tmp_path):
    sources = [{"file": "medic.tsv"}]
    recorded = BuildOptions(sources=sources, steps=[{"step": "read"}])
    kb = ConceptKB.join([CONCEPTS], tmp_path / "kb", recorded)
    again = ConceptKB.from_disk(tmp_path / "kb")
    for each in (kb, again):
        assert list(each) == CONCEPTS
        assert isinstance(each.table.columns["name_data"].base, np.memmap)
    assert again.meta["sources"] == sources
    assert again.meta["steps"] == [{"step": "read"}]
    assert len(again.meta["columns"]["name_data"]["blake2b"]) == 32


@pytest.mark.parametrize("damage", ["cut", "flip", "remove"])
def test_a_damaged_vocabulary_is_an_error(tmp_path, damage):
    ConceptKB.build(CONCEPTS, tmp_path / "kb")
    file = tmp_path / "kb/id_hash_row.npy"
    data = bytearray(file.read_bytes())
    if damage == "remove":
        file.unlink()
    elif damage == "cut":
        file.write_bytes(data[:-1])
    else:
        data[-1] ^= 0x80
        file.write_bytes(data)
    with pytest.raises(AngelError, match=r"id_hash_row\.npy is damaged"):
        ConceptKB.from_disk(tmp_path / "kb")


@pytest.mark.parametrize(
    "change",
    [
        {"counts": {"concepts": 3, "names": True, "spellings": 7}},
        {"sources": None},
        {"shared_names": "some"},
        {"frequencies": {"X:1": "2"}},
    ],
)
def test_damaged_metadata_are_an_error(tmp_path, change):
    ConceptKB.build(CONCEPTS, tmp_path / "kb")
    file = tmp_path / "kb/meta.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(AngelError, match=rf"meta\.json is damaged: {next(iter(change))}"):
        ConceptKB.from_disk(tmp_path / "kb")


def test_bytes_round_trip_and_damage():
    kb = ConceptKB.join([CONCEPTS], None, BuildOptions(steps=[{"step": "read"}]))
    data = kb.to_bytes()
    again = ConceptKB.from_bytes(data)
    assert list(again) == CONCEPTS
    assert again.meta["steps"] == [{"step": "read"}]
    at = data.index(b"diabetes mellitus")
    flipped = data[:at] + b"D" + data[at + 1 :]
    for wrong in (b"", data[:-100], flipped, b"something else"):
        with pytest.raises(AngelError, match="<bytes>"):
            ConceptKB.from_bytes(wrong)


@pytest.fixture
def compressed(tmp_path, monkeypatch):
    """A vocabulary as those that ship are stored, and its copy that was not compressed."""
    monkeypatch.setattr(compiled, "cache_folder", lambda: tmp_path / "cache")
    kb = ConceptKB.build(CONCEPTS, tmp_path / "kb")
    shutil.copytree(tmp_path / "kb", tmp_path / "plain")
    compress_folder(tmp_path / "kb")
    assert sorted(path.name for path in kb.path.iterdir()) == ["columns.npz.xz", "meta.json"]
    return kb.path


def test_a_compressed_vocabulary_is_decompressed_once_and_equal(compressed, tmp_path, monkeypatch):
    first = ConceptKB.from_disk(compressed)
    monkeypatch.setattr(compiled, "decompress", None)
    for kb in (first, ConceptKB.from_disk(compressed), pickle.loads(pickle.dumps(first))):
        assert list(kb) == CONCEPTS
        assert isinstance(kb.table.columns["name_data"].base, np.memmap)
    assert first.meta == ConceptKB.from_disk(tmp_path / "plain").meta
    assert list(ConceptKB.from_bytes(first.to_bytes())) == CONCEPTS
    for folder in (tmp_path / "saved", compressed):
        first.to_disk(folder)
        assert (folder / "name_data.npy").is_file()
        assert not (folder / "columns.npz.xz").exists()
        assert list(ConceptKB.from_disk(folder)) == CONCEPTS


def test_a_compressed_vocabulary_in_a_read_only_folder(compressed, tmp_path, monkeypatch, caplog):
    (compressed / "tries").write_text("no folder can be made here", encoding="utf8")
    ConceptKB.from_disk(compressed)
    with monkeypatch.context() as patch:
        patch.setattr(compiled, "decompress", None)
        column = ConceptKB.from_disk(compressed).table.columns["name_data"]
    assert Path(column.base.filename).is_relative_to(tmp_path / "cache/compiled")
    shutil.rmtree(tmp_path / "cache")
    (tmp_path / "cache").write_text("nor here", encoding="utf8")
    assert list(ConceptKB.from_disk(compressed)) == CONCEPTS
    assert "cannot be stored" in caplog.text


def test_a_damaged_compressed_vocabulary_is_an_error(compressed, tmp_path):
    file = compressed / "columns.npz.xz"
    data = file.read_bytes()
    ConceptKB.build(CONCEPTS[:2], tmp_path / "other")
    compress_folder(tmp_path / "other")
    other = (tmp_path / "other/columns.npz.xz").read_bytes()
    for wrong in (b"", data[:-9], b"something else", other):
        file.write_bytes(wrong)
        with pytest.raises(AngelError, match=r"columns\.npz\.xz is damaged"):
            ConceptKB.from_disk(compressed)


# ---- search spaces


def test_the_trie_is_stored_by_fingerprint_and_used_again(tmp_path):
    tokenizer = CharacterTokenizer()
    kb = ConceptKB.build(CONCEPTS, tmp_path / "kb")
    names = legal_names(kb.search_space(tokenizer))
    assert names == {kb.name(i): i for i in range(kb.n_names)}
    assert len(list((tmp_path / "kb/tries").iterdir())) == 1
    calls = tokenizer.calls
    again = ConceptKB.from_disk(tmp_path / "kb")
    assert legal_names(again.search_space(tokenizer)) == names
    assert again.search_space(tokenizer).tries[0] is again.search_space(tokenizer).tries[0]
    assert tokenizer.calls == calls
    again.search_space(CharacterTokenizer("others"))
    assert len(list((tmp_path / "kb/tries").iterdir())) == 2


def test_names_without_tokens_stay_out_with_a_warning(caplog):
    class Deaf(CharacterTokenizer):
        def encode_names(self, names):
            return [ids if "s" in name else [END] for name, ids in
                    zip(names, super().encode_names(names), strict=True)]  # fmt: skip

    kb = ConceptKB.build([Concept("X:1", "sun", ("moon",))])
    assert legal_names(kb.search_space(Deaf())) == {"sun": 0}
    assert "1 of 2 names" in caplog.text
    kb.add_names("X:1", ["Mond", "Mars"])
    assert set(legal_names(kb.search_space(Deaf()))) == {"sun", "mars"}
    kb.remove_name("X:1", "Mond")
    assert set(legal_names(kb.search_space(Deaf()))) == {"sun", "mars"}


def test_subsets_limit_the_names():
    kb = ConceptKB.build(CONCEPTS)
    drugs, insipidus = kb.subset(types=["T109"]), kb.subset(concept_ids=["MESH:D003919"])
    neither = kb.subset(types=["T109"], concept_ids=["OMIM:125853"])
    space = kb.search_space(CharacterTokenizer(), [None, drugs, insipidus, neither])
    assert space.masks[0] is None
    assert set(legal_names(space, 1)) == {"aspirin", "acetylsalicylic acid"}
    assert set(legal_names(space, 2)) == {"diabetes insipidus", "diabetes"}
    assert legal_names(space, 3) == {}
    assert drugs.allowed(["MESH:D001241", "MESH:D003919"]) == ["MESH:D001241"]
    assert insipidus.allowed(["MESH:D003919", "MESH:D003920"]) == ["MESH:D003919"]
    assert kb.subset(types=["T109"]) == drugs
    assert hash(kb.subset(types=["T109"])) == hash(drugs)
    same = kb.search_space(CharacterTokenizer(), [drugs])
    assert same.masks[0][0] is space.masks[1][0]


def test_unknown_types_and_foreign_subsets_are_errors():
    kb = ConceptKB.build(CONCEPTS)
    with pytest.raises(AngelError, match=r"\['t047'\].*'T047'"):
        kb.subset(types=["t047"])
    with pytest.raises(AngelError, match="'MESH:D0'"):
        kb.subset(concept_ids=["MESH:D0"])
    with pytest.raises(AngelError, match="belongs to another"):
        kb.search_space(CharacterTokenizer(), [ConceptKB.build(CONCEPTS).subset(["T047"])])


def test_free_types_are_no_types(tmp_path):
    concepts = [
        Concept("A:1", "a", types=("T047",)),
        Concept("A:2", "b", types=("MINE",)),
        Concept("A:3", "c", types=("MINE", "T121")),
        Concept("A:4", "d"),
    ]
    stored, live = ConceptKB.build(concepts, tmp_path / "kb"), ConceptKB.build(concepts[:1])
    for concept in concepts[1:]:
        live.add(concept)
    for kb in (stored, live):
        subsets = [kb.subset(["T047"]), kb.subset(["T047"], free_types=["MINE"])]
        space = kb.search_space(CharacterTokenizer(), subsets)
        assert [sorted(legal_names(space, i)) for i in (0, 1)] == [["a", "d"], ["a", "b", "d"]]


# ---- changes while running


def test_types_that_only_added_concepts_have_are_one_s_own(tmp_path):
    kb = ConceptKB.build([Concept("A:1", "a", types=("T047",)), Concept("A:2", "b", types=("U",))])
    assert kb.own_types == frozenset()
    kb.add(Concept("MY:1", "snark", types=("MINE", "T047")))
    kb.add_names("A:2", ["boojum"])
    assert kb.own_types == {"MINE"}
    # Neither another name nor a corpus makes it less one's own.
    kb.rename("MY:1", "bandersnatch")
    kb.rename("MY:1", "jubjub", old="snark")
    kb.add_mentions([("MY:1", "the snark")], "corpus")
    kb.to_disk(tmp_path / "kb")
    for again in (kb, ConceptKB.from_disk(tmp_path / "kb")):
        assert again.own_types == {"MINE"}
        again.remove("MY:1")
        assert again.own_types == frozenset()


def test_merging_joins_concepts_and_is_recorded(tmp_path):
    first = ConceptKB.join([CONCEPTS[:2]], None, BuildOptions(sources=[{"file": "a"}]))
    other = Concept("MESH:D003920", "Zuckerkrankheit", ("Diabetes",), ("T999",))
    recorded = BuildOptions(sources=[{"file": "b"}], steps=[{"step": "read"}])
    second = ConceptKB.join([[other, ASPIRIN]], None, recorded)
    kb = ConceptKB.merge([first, second], tmp_path / "kb")
    assert [c.concept_id for c in kb] == ["MESH:D003920", "MESH:D003919", "MESH:D001241"]
    assert kb["MESH:D003920"].names == (*DIABETES.names, "Zuckerkrankheit")
    assert kb["MESH:D003920"].types == ("T047", "T999")
    assert kb.meta["sources"] == [{"file": "a"}, {"file": "b"}]
    assert kb.meta["steps"] == [{"step": "read"}, {"step": "merge", "concepts": [2, 2]}]
    assert kb.meta["counts"]["joined_concepts"] == 1


def test_vocabularies_that_name_a_concept_by_different_identifiers_are_joined():
    first = [
        Concept("OMIM:1", "SLO syndrome", alternate_ids=("MESH:D1",)),
        Concept("OMIM:2", "Long QT syndrome 2"),
        Concept("OMIM:3", "Long QT syndrome 3", alternate_ids=("MESH:D9",)),
        Concept("MESH:D9", "Deafness"),
    ]
    second = [
        # its identifier is an alternate one there
        Concept("MESH:D1", "Smith-Lemli-Opitz", alternate_ids=("OMIM:1", "DOID:1")),
        # one identifier there is an alternate one here
        Concept("MESH:C2", "LQT2", alternate_ids=("OMIM:2",)),
        # two are: it is neither
        Concept("MESH:D4", "Long QT syndrome", alternate_ids=("OMIM:2", "OMIM:3")),
        # its own identifier goes before somebody's alternate one
        Concept("MESH:D9", "Hearing loss"),
        # a further row of the second one
        Concept("MESH:C2", "LQT-2"),
    ]
    for kb in (
        ConceptKB.join([first, second]),
        ConceptKB.merge([ConceptKB.build(first), ConceptKB.build(second)]),
    ):
        assert [(c.concept_id, c.names, c.alternate_ids) for c in kb] == [
            ("OMIM:1", ("SLO syndrome", "Smith-Lemli-Opitz"), ("MESH:D1", "DOID:1")),
            ("OMIM:2", ("Long QT syndrome 2", "LQT2", "LQT-2"), ("MESH:C2",)),
            ("OMIM:3", ("Long QT syndrome 3",), ("MESH:D9",)),
            ("MESH:D9", ("Deafness", "Hearing loss"), ()),
            ("MESH:D4", ("Long QT syndrome",), ("OMIM:2", "OMIM:3")),
        ]
        assert kb.resolve("MESH:D1") == "OMIM:1"
        assert kb.resolve("MESH:C2") == "OMIM:2"
        assert kb.resolve("MESH:D9") == "MESH:D9"
    assert len(ConceptKB.build([*first, *second])) == 7


def test_concepts_that_one_vocabulary_keeps_apart_are_not_joined_to_one():
    coarse = [Concept("X:1", "migraine", alternate_ids=("X:2",))]
    fine = [Concept("X:1", "Migraine"), Concept("X:2", "hemiplegic migraine")]
    fine += [Concept("X:3", "ocular migraine", alternate_ids=("X:1",))]
    assert [c.concept_id for c in ConceptKB.join([coarse, fine])] == ["X:1", "X:2", "X:3"]
    only = ConceptKB.join([coarse, [fine[2], fine[1], fine[2]]])
    assert [(c.concept_id, c.alternate_ids) for c in only] == [
        ("X:1", ("X:2", "X:3")),
        ("X:2", ()),
    ]


def test_a_shared_name_leads_to_the_concept_with_fewer_names_until_names_are_added(tmp_path):
    kb = ConceptKB.build(CONCEPTS, tmp_path / "kb", shared_names="fewer_names")
    for each in (kb, ConceptKB.from_disk(tmp_path / "kb"), ConceptKB.merge(
        [ConceptKB.build([one]) for one in CONCEPTS], shared_names="fewer_names"
    )):  # fmt: skip
        assert [c.concept_id for c in each.find("diabetes")] == ["MESH:D003920"]
        assert each["MESH:D003919"] == INSIPIDUS
        assert [each.name(i) for i in each.names_of("MESH:D003919")] == ["diabetes insipidus"]
    kb.add(Concept("X:1", "Aspirin"))
    assert [c.concept_id for c in kb.find("aspirin")] == ["MESH:D001241", "X:1"]
    kb.to_disk(tmp_path / "kb")
    again = ConceptKB.from_disk(tmp_path / "kb")
    assert [c.concept_id for c in again.find("aspirin")] == ["X:1"]
    assert list(again) == [*CONCEPTS, Concept("X:1", "Aspirin")]


# ---- any vocabulary, any changes

texts = st.sampled_from(["a", "A", "b", "a-b", "a b", "c", "-", "é", "🦠", "b c", "d"])
identifiers = st.sampled_from([f"X:{i}" for i in range(6)])
any_concepts = st.builds(
    Concept,
    identifiers,
    texts,
    st.lists(texts, max_size=4, unique=True).map(tuple),
    st.lists(st.sampled_from(["T1", "T2"]), max_size=2, unique=True).map(tuple),
    st.sampled_from([None, "text"]),
    st.lists(st.sampled_from(["X:0", "X:1", "Y:0", "Y:1"]), max_size=2, unique=True).map(tuple),
)
policies = st.sampled_from(["all", "fewer_names"])


def snapshot(kb):
    """All that can be asked, name indices left out."""
    names = {kb.name(i): i for i in range(kb.n_names) if kb.concept_ids_of(i)}
    ids = [*(f"X:{i}" for i in range(6)), "Y:0", "Y:1"]
    subsets = [kb.subset(types={t} & kb.types) for t in ("T1", "T2")]
    subsets += [kb.subset(concept_ids=[c]) for c in ids if c in kb]
    space = kb.search_space(CharacterTokenizer(), [None, *subsets])
    return {
        "concepts": list(kb),
        "n": len(kb),
        "n_names": kb.n_live_names,
        "resolve": [kb.resolve(c) for c in ids],
        "names": {name: kb.concept_ids_of(i) for name, i in names.items()},
        "found": {name: kb.name_index(name) == i for name, i in names.items()},
        "spellings": {name: set(kb.spellings_of(i)) for name, i in names.items()},
        "spelling": {name: kb.spelling(i) for name, i in names.items()},
        "names_of": {c.concept_id: [kb.name(i) for i in kb.names_of(c.concept_id)] for c in kb},
        "legal": [set(legal_names(space, row)) for row in range(len(space.masks))],
    }


@given(st.lists(any_concepts, max_size=6, unique_by=lambda c: c.concept_id), policies)
def test_what_went_in_comes_out(concepts, policy):
    kb = ConceptKB.build(concepts, shared_names=policy)
    expected = [
        Concept(
            c.concept_id,
            c.canonical_name,
            tuple(name for name in c.aliases if name != c.canonical_name),
            c.types,
            c.definition,
            tuple(a for a in c.alternate_ids if a != c.concept_id),
        )
        for c in concepts
    ]
    assert list(kb) == expected
    assert snapshot(ConceptKB.from_bytes(kb.to_bytes())) == snapshot(kb)
    holders: dict[str, dict[str, bool]] = {}
    for c in concepts:
        for name in filter(None, map(normalize_name, c.names)):
            is_canonical = normalize_name(c.canonical_name) == name
            holders.setdefault(name, {})[c.concept_id] = is_canonical
    n_names = {c.concept_id: sum(c.concept_id in h for h in holders.values()) for c in concepts}
    # sorted and min keep the order of the vocabulary where the key does not tell
    ordered = {name: sorted(h, key=lambda c: not h[c]) for name, h in holders.items()}
    if policy == "fewer_names":
        ordered = {name: [min(h, key=n_names.__getitem__)] for name, h in ordered.items()}
    assert snapshot(kb)["names"] == ordered


def test_a_shared_name_goes_first_to_its_own_concept_then_to_the_more_frequent(tmp_path):
    concepts = [
        Concept("X:1", "other", ("shared",)),
        Concept("X:9", "rare", ("shared",)),
        Concept("X:2", "frequent", ("shared",)),
        Concept("X:5", "Shared"),
    ]
    kb = ConceptKB.build(concepts, tmp_path / "kb")
    assert [c.concept_id for c in kb.find("shared")] == ["X:5", "X:1", "X:9", "X:2"]
    mentions = [("X:2", "frequent"), ("X:2", "frequent"), ("X:9", "rare"), ("X:7", "none")]
    kb.add_mentions(mentions, "train.txt")
    expected = ["X:5", "X:2", "X:9", "X:1"]
    assert [c.concept_id for c in kb.find("shared")] == expected
    kb.add(Concept("X:0", "new", ("shared",)))
    kb.to_disk(tmp_path / "kb")
    again = ConceptKB.from_disk(tmp_path / "kb")
    assert again.meta["frequencies"] == {"X:2": 2, "X:9": 1}
    for each in (kb, again, ConceptKB.from_bytes(kb.to_bytes()), ConceptKB.merge([again])):
        assert each.concept_ids([each.name_index("shared")]) == [[*expected, "X:0"]]
        assert [c.concept_id for c in each.find("shared")] == [*expected, "X:0"]


@settings(max_examples=150)
@given(st.lists(any_concepts, max_size=5), st.data())
def test_changes_equal_rebuilding(concepts, data):
    kb = ConceptKB.build(concepts)
    for _ in range(data.draw(st.integers(1, 6))):
        actions = ["add", "add_names", "remove", "remove_name", "rename", "search"]
        action = data.draw(st.sampled_from(actions))
        present = [c.concept_id for c in kb]
        if action == "search":
            kb.search_space(CharacterTokenizer())
        elif action == "add":
            concept = data.draw(any_concepts)
            if concept.concept_id not in present:
                kb.add(concept)
        elif present:
            concept_id = data.draw(st.sampled_from(present))
            if action == "remove":
                kb.remove(concept_id)
            elif action == "add_names":
                kb.add_names(concept_id, data.draw(st.lists(texts, max_size=3)))
            elif action == "rename":
                old = data.draw(st.sampled_from([None, *kb[concept_id].names]))
                kb.rename(concept_id, data.draw(texts), old)
            elif len(set(map(normalize_name, kb[concept_id].names))) > 1:
                kb.remove_name(concept_id, kb[concept_id].canonical_name)
    rebuilt = ConceptKB.build(kb)
    live, expected = snapshot(kb), snapshot(rebuilt)
    assert live == expected


def test_a_copy_goes_its_own_way_and_compiles_nothing_twice():
    kb, tokenizer = ConceptKB.build(CONCEPTS), CharacterTokenizer()
    kb.add(Concept("N:1", "Novel", ("new thing",)))
    kb.search_space(tokenizer)
    stored = kb.nearest.index
    n_calls = tokenizer.calls
    twin = kb.copy()
    twin.add_names("N:1", ["newer thing"])
    twin.remove("MESH:D001241")
    kb.add_names("N:1", ["newest thing"])
    assert twin.nearest.index is stored
    found = set(legal_names(twin.search_space(tokenizer)))
    # Only the added names are compiled.
    assert tokenizer.calls == n_calls + 1
    assert {"novel", "new thing", "newer thing"} <= found
    assert {"newest thing", "aspirin"}.isdisjoint(found)
    assert [c.concept_id for c in kb.find("newest thing")] == ["N:1"]
    assert kb.find("newer thing") == []
    assert twin.nearest.find("aspirin", 5) == []
