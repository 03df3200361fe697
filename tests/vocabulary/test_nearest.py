import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_angel import Concept, ConceptKB
from spacy_angel.vocabulary.lookup import string_similarity as letters
from spacy_angel.vocabulary.lookup.string_similarity import LEAST_COSINE, TrigramIndex, gram_codes
from spacy_angel.vocabulary.storage.strings import StringsBuilder

NAMES = ["heart attack", "heart arrest", "pain", "paint", "pneumonia", "diabetes mellitus"]


@pytest.fixture
def index() -> TrigramIndex:
    return TrigramIndex.build(StringsBuilder(NAMES).finish())


@pytest.fixture
def kb() -> ConceptKB:
    return ConceptKB.build(Concept(f"X:{i}", name) for i, name in enumerate(NAMES))


def test_grams_lie_within_words():
    codes = [int.from_bytes(gram.encode(), "big") for gram in (" a ", " pa", "pa ")]
    assert gram_codes("pa a pa").tolist() == sorted(codes)
    assert gram_codes("").tolist() == []


def test_similarities_with_their_numbers(index):
    same, none, swapped = index.compare("pain", ["pain", "gout", "pian"])
    assert same == (pytest.approx(1.0), 1.0)
    assert none == (0.0, 0.0)
    assert swapped == (0.0, 0.75)
    # Of the four 3-grams of `pain` and five of `paint`, ` pa`, `pai`, `ain` are in two names,
    # `in ` and `nt ` in one, `int` in one.
    twice, once = np.log(7 / 3) + 1, np.log(7 / 2) + 1
    shared = 3 * twice**2
    lengths = np.sqrt((shared + once**2) * (shared + 2 * once**2))
    assert index.compare("pain", ["paint"])[0] == (pytest.approx(shared / lengths), 0.8)


def test_unknown_letters_count_against_a_text(index):
    plain, strange = (
        index.compare(text, ["heart attack"])[0].cosine for text in ("heart", "heart xq")
    )
    assert plain > strange > 0


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("heart atack", "heart attack"),
        ("pnuemonia", "pneumonia"),
        ("pian", "pain"),
        ("paon", "pain"),
        ("hear tattack", "heart attack"),
        ("mellitus diabetes", "diabetes mellitus"),
    ],
)
def test_the_nearest_name(kb, text, nearest):
    assert kb.name(kb.nearest.find(text, 1)[0].name) == nearest


def test_nothing_is_near_to_nothing(kb):
    assert kb.nearest.find("", 3) == []
    assert ConceptKB.build([]).nearest.find("pain", 3) == []


def test_a_subset_limits_what_is_found(kb):
    allowed = np.ones(kb.n_names, dtype=bool)
    allowed[kb.name_index("pain")] = False
    assert kb.name(kb.nearest.find("pain", 1, allowed)[0].name) == "paint"


def test_added_and_removed_names(kb):
    kb.add(Concept("X:new", "Boojum fever"))
    found = kb.nearest.find("boojun fever", 1)[0]
    assert kb.name(found.name) == "boojum fever"
    assert found.similarity.edits == pytest.approx(11 / 12)
    allowed = np.ones(kb.n_names, dtype=bool)
    allowed[found.name] = False
    assert found.name not in {
        similar.name for similar in kb.nearest.find("boojun fever", 9, allowed)
    }
    kb.remove("X:new")
    kb.remove("X:2")
    names = {kb.name(similar.name) for similar in kb.nearest.find("boojum fever pain", 9)}
    assert names.isdisjoint({"boojum fever", "pain"})


def test_the_index_is_kept_in_the_folder(tmp_path, kb, monkeypatch):
    kb.to_disk(tmp_path / "kb")
    opened = ConceptKB.from_disk(tmp_path / "kb")
    found = opened.nearest.find("heart atack", 3)
    assert found == kb.nearest.find("heart atack", 3)
    opened.to_disk(tmp_path / "copy")
    monkeypatch.setattr(TrigramIndex, "build", lambda names: pytest.fail("compiled again"))
    for folder in ("kb", "copy"):
        assert ConceptKB.from_disk(tmp_path / folder).nearest.find("heart atack", 3) == found


def test_a_damaged_index_is_compiled_anew(tmp_path, kb, caplog):
    kb.to_disk(tmp_path)
    opened = ConceptKB.from_disk(tmp_path)
    found = opened.nearest.find("pian", 2)
    for file in (tmp_path / "tries").glob("*/grams.npy"):
        file.write_bytes(b"no array")
    assert ConceptKB.from_disk(tmp_path).nearest.find("pian", 2) == found
    assert "index of 3-grams is compiled again" in caplog.text


def test_blocks_give_what_one_pass_gives(monkeypatch):
    whole = TrigramIndex.build(StringsBuilder(NAMES).finish())
    monkeypatch.setattr(letters, "_BLOCK", 2)
    for name, column in TrigramIndex.build(StringsBuilder(NAMES).finish()).columns.items():
        np.testing.assert_array_equal(column, whole.columns[name], name)


@pytest.mark.parametrize("block", [1, 4, 300, 1000])
def test_texts_find_in_blocks_what_they_find_in_one_pass(block, monkeypatch):
    names = [f"{a} {b}{i % 7}" for i in range(60) for a, b in (("pain", i), ("heart", i * i))]
    index = TrigramIndex.build(StringsBuilder(dict.fromkeys(names)).finish())
    allowed = np.arange(index.n_names) % 3 > 0
    asked = [(text, a) for text in (*names[:9], "pai", "zz", "hear") for a in (None, allowed)]
    once = [index.shortlist(*one) for one in asked]
    monkeypatch.setattr(letters, "_BLOCK", block)
    assert [index.shortlist(*one) for one in asked] == once
    assert all(allowed[name] for name in once[1])
    assert len(once[0]) >= 40


def test_frequent_grams_are_left_out_of_a_long_search(index, monkeypatch):
    monkeypatch.setattr(letters, "_MAX_LOOKED_AT", 3)
    assert NAMES[index.shortlist("heart attack")[0]] == "heart attack"


@given(st.lists(st.text(" abcé", max_size=9), max_size=8), st.text(" abcé", max_size=9))
def test_every_name_that_is_alike_enough_is_listed(names, text):
    names = [" ".join(name.split()) for name in names]
    text = " ".join(text.split())
    index = TrigramIndex.build(StringsBuilder(names).finish())
    listed = set(index.shortlist(text))
    for i, (name, similarity) in enumerate(zip(names, index.compare(text, names), strict=True)):
        shares = bool(np.intersect1d(gram_codes(name), gram_codes(text)).size)
        assert similarity.cosine <= LEAST_COSINE or i in listed
        assert shares == (similarity.cosine > 0)
        assert 0 <= similarity.cosine <= 1
        assert 0 <= similarity.edits <= 1


def test_rare_words_weigh_more_and_the_table_of_weights_stays_small(kb, monkeypatch):
    nearest = kb.nearest
    known, unknown = nearest.word_weight("heart"), nearest.word_weight("zqx")
    assert 0 < known < unknown
    assert nearest.word_weight("") == 0
    monkeypatch.setattr("spacy_angel.vocabulary.lookup.nearest._MOST_WEIGHTS", 2)
    assert [nearest.word_weight(word) for word in ("heart", "zqx", "heart")] == [
        known,
        unknown,
        known,
    ]
    assert len(nearest._word_weights) <= 3
