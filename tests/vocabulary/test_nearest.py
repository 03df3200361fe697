"""Names similar in letters or in meaning."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_angel import Concept, ConceptKB
from spacy_angel.vocabulary.lookup.string_similarity import MIN_COSINE, TrigramIndex
from spacy_angel.vocabulary.lookup.tfidf import TrigramTfidf
from spacy_angel.vocabulary.storage.strings import StringsBuilder

NAMES = ["heart attack", "heart arrest", "pain", "paint", "pneumonia", "diabetes mellitus"]


@pytest.fixture
def index():
    return TrigramIndex.build(StringsBuilder(NAMES).finish())


@pytest.fixture
def kb():
    return ConceptKB.build(Concept(f"X:{i}", name) for i, name in enumerate(NAMES))


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
    with monkeypatch.context() as patch:
        patch.setattr(TrigramIndex, "build", lambda names: pytest.fail("compiled again"))
        for folder in ("kb", "copy"):
            assert ConceptKB.from_disk(tmp_path / folder).nearest.find("heart atack", 3) == found
    # a damaged one is compiled again
    for file in (tmp_path / "kb/tries").glob("*/grams.npy"):
        file.write_bytes(b"damaged")
    assert ConceptKB.from_disk(tmp_path / "kb").nearest.find("heart atack", 3) == found


def grams(text):
    words = [f" {word} ".encode() for word in text.split()]
    return {word[i : i + 3] for word in words for i in range(len(word) - 2)}


@given(st.lists(st.text(" abcé", max_size=9), max_size=8), st.text(" abcé", max_size=9))
def test_every_name_that_is_alike_enough_is_listed(names, text):
    names = [" ".join(name.split()) for name in names]
    text = " ".join(text.split())
    index = TrigramIndex.build(StringsBuilder(names).finish())
    listed = set(index.shortlist(text))
    for i, (name, similarity) in enumerate(zip(names, index.compare(text, names), strict=True)):
        shares = not grams(name).isdisjoint(grams(text))
        assert similarity.cosine <= MIN_COSINE or i in listed
        assert shares == (similarity.cosine > 0)
        assert 0 <= similarity.cosine <= 1
        assert 0 <= similarity.edits <= 1


CONCEPTS = [
    Concept("D:1", "Nephrolithiasis", ("renal calculi",)),
    Concept("D:2", "Kidney neoplasms"),
    Concept("D:3", "Toothache"),
]


def close_names(kb, text, k=1, allowed=None):
    (found,) = kb.meanings.find([text], k, [allowed])
    return [kb.name(name) for name, _ in found]


def test_a_name_in_other_words_is_found():
    kb = ConceptKB.build(CONCEPTS)
    assert close_names(kb, "stones in the kidney", 2)[0] in ("renal calculi", "nephrolithiasis")
    assert close_names(kb, "pain in a tooth") == ["toothache"]
    assert kb.meanings.find([], 3, []) == []


def test_a_subset_and_changes_while_running_count():
    kb = ConceptKB.build(CONCEPTS)
    allowed = np.ones(kb.n_names, dtype=bool)
    allowed[kb.name_index("toothache")] = False
    assert "toothache" not in close_names(kb, "pain in a tooth", 3, allowed)
    kb.add(Concept("D:4", "Dental pain"))
    assert set(close_names(kb, "pain in a tooth", 2)) == {"toothache", "dental pain"}
    kb.remove("D:3")
    assert "toothache" not in close_names(kb, "pain in a tooth", 3)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.text(alphabet="abc ", min_size=1, max_size=8), min_size=1, max_size=30),
    st.lists(st.text(alphabet="abcd ", max_size=8), min_size=1, max_size=5),
    st.integers(1, 6),
    st.integers(1, 4),
)
def test_nearest_equals_brute_force_in_any_chunk(names, queries, k, chunk):
    names = ["cab", *names]
    tfidf = TrigramTfidf(names)
    indices, values = tfidf.nearest(queries, k=k, chunk=chunk)
    for query, found, similar in zip(queries, indices, values, strict=True):
        dense = tfidf.pairwise([query] * len(names), names)
        expected = sorted(np.flatnonzero(dense), key=lambda i: (-round(float(dense[i]), 5), i))
        assert len([i for i in found if i >= 0]) == min(k, len(expected))
        np.testing.assert_allclose(
            similar[: len(expected)], [dense[i] for i in expected[:k]], atol=2e-5
        )
        np.testing.assert_allclose(similar[found >= 0], dense[found[found >= 0]], atol=2e-5)
