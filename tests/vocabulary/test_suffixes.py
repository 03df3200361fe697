"""Names of several concepts, told apart by what stands behind them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.helpers import ROOT, sequences_of

from spacy_angel import Concept, ConceptKB
from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.sources.build import add_vocabulary, build_vocabulary
from spacy_angel.vocabulary.species.suffixes import (
    first_part,
    with_suffix,
)

FIXTURES = ROOT / "tests/fixtures/vocabularies"
END = 2
HUMAN, MOUSE = "NCBITaxon:9606", "NCBITaxon:10090"
GENES = [
    Concept("G:1", "TP53", ("p53", "P40"), (HUMAN, "protein-coding")),
    Concept("G:2", "IL12B", ("p40",), (HUMAN, "protein-coding")),
    Concept("G:3", "Trp53", ("Tp53", "p53"), (MOUSE, "protein-coding")),
    Concept("D:1", "Li-Fraumeni syndrome", ("p53", "LFS"), ("Disease",)),
    Concept("D:2", "Lifting syndrome", ("LFS",), ("Disease",)),
]


class Writer:
    """A name's characters are its tokens; it writes suffixes, or not."""

    def __init__(self, writes_suffixes=True):
        self.writes_suffixes = writes_suffixes
        self.fingerprint = "characters"

    def encode_names(self, names):
        return [[*(ord(character) + 3 for character in name), END] for name in names]


def written_names(kb, subset=None, tokenizer=None):
    """What can be written, and the concepts that it leads to."""
    space = kb.search_space(tokenizer or Writer(), [subset])
    allowed = space.allowed_numbers(0)
    found = {}
    for trie in space.tries:
        for tokens, leaf in sequences_of(trie):
            for number in trie.names_of_leaf(leaf).tolist():
                if allowed is None or allowed[number]:
                    text = "".join(chr(token - 3) for token in tokens[:-1])
                    assert text not in found
                    found[text] = kb.concept_ids_of(*space.name_at(number))
    return found


BY_SPECIES = {
    "tp53 | homo sapiens": ["G:1"],
    "tp53 | mus musculus": ["G:3"],
    "p53 | homo sapiens": ["G:1"],
    "p53 | mus musculus": ["G:3"],
    "p53": ["D:1"],
    "p40 | homo sapiens | tp53": ["G:1"],
    "p40 | homo sapiens | il12b": ["G:2"],
    "il12b": ["G:2"],
    "trp53": ["G:3"],
    "li fraumeni syndrome": ["D:1"],
    "lifting syndrome": ["D:2"],
    "lfs": ["D:1", "D:2"],
}


def test_what_several_concepts_share_has_an_ending_and_nothing_else():
    assert written_names(ConceptKB.build(GENES, suffixes="species")) == BY_SPECIES


def test_types_tell_apart_where_there_is_no_species_and_names_where_types_do_not():
    found = written_names(ConceptKB.build(GENES, suffixes="types"))
    assert {name: ids for name, ids in found.items() if name.startswith(("lfs", "p53"))} == {
        "p53 | homo sapiens": ["G:1"],
        "p53 | mus musculus": ["G:3"],
        "p53 | disease": ["D:1"],
        "lfs | disease | li fraumeni syndrome": ["D:1"],
        "lfs | disease | lifting syndrome": ["D:2"],
    }
    found = written_names(ConceptKB.build(GENES, suffixes="names"))
    assert {name: ids for name, ids in found.items() if name.startswith(("tp53", "lfs"))} == {
        # the one whose canonical name it is needs nothing behind it
        "tp53": ["G:1"],
        "tp53 | trp53": ["G:3"],
        "lfs | li fraumeni syndrome": ["D:1"],
        "lfs | lifting syndrome": ["D:2"],
    }


def test_a_subset_allows_the_endings_of_its_concepts():
    kb = ConceptKB.build(GENES, suffixes="species")
    for subset, wanted in (
        (kb.subset(types=[MOUSE]), {"G:3"}),
        (kb.subset(types=["Disease"]), {"D:1", "D:2"}),
        (kb.subset(concept_ids=["G:2", "D:2"]), {"G:2", "D:2"}),
    ):
        found = written_names(kb, subset)
        assert found == {name: ids for name, ids in BY_SPECIES.items() if wanted & set(ids)}


def test_the_vocabulary_says_what_is_written_for_a_concept():
    kb = ConceptKB.build(GENES, suffixes="species")
    p40, il12b = kb.name_index("P40"), kb.name_index("IL12B")
    assert kb.suffixes == "species"
    assert kb.suffixes_of(p40) == {
        "homo sapiens | tp53": ["G:1"],
        "homo sapiens | il12b": ["G:2"],
    }
    assert kb.written_for(p40, "G:2") == "p40 | homo sapiens | il12b"
    assert kb.written_for(il12b, "G:2") == "il12b"
    assert kb.concept_ids_of(p40) == ["G:1", "G:2"]
    assert kb.concept_ids_of(p40, "homo sapiens | il12b") == ["G:2"]
    assert kb.concept_ids_of(p40, "mus musculus") == []
    assert first_part("homo sapiens | il12b") == "homo sapiens"
    assert with_suffix("a", None) == with_suffix("a", "") == "a"


KINDS = [(), (HUMAN,), (MOUSE,), ("Disease",), ("Drug", MOUSE)]
NAMES = ["a", "b", "c d", "a | x"]
CONCEPTS = st.lists(
    st.tuples(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3), st.sampled_from(KINDS)),
    min_size=1,
    max_size=6,
)


@given(
    rows=CONCEPTS,
    more=CONCEPTS,
    removed=st.sets(st.integers(0, 5)),
    rule=st.sampled_from(["species", "types", "names"]),
)
def test_every_concept_can_be_written_and_changes_equal_rebuilding(rows, more, removed, rule):
    concepts = [
        Concept(f"X:{i}", names[0], tuple(names[1:]), kinds)
        for i, (names, kinds) in enumerate([*rows, *more])
    ]
    kb = ConceptKB.build(concepts[: len(rows)], suffixes=rule)
    kb.search_space(Writer())
    for concept in concepts[len(rows) :]:
        kb.add(concept)
    for i in removed & set(range(len(rows))):
        kb.remove(f"X:{i}")
    rebuilt = ConceptKB.build(list(kb), suffixes=rule)
    for vocabulary in (kb, rebuilt):
        for concept in vocabulary:
            for i in vocabulary.names_of(concept.concept_id):
                told = vocabulary.suffixes_of(i)
                assert sorted(c for ids in told.values() for c in ids) == sorted(
                    vocabulary.concept_ids_of(i)
                )
    reached = [entries(vocabulary) for vocabulary in (kb, rebuilt)]
    assert reached[0] == reached[1]
    assert {c for ids in reached[1].values() for c in ids} == {c.concept_id for c in kb}


def entries(kb):
    """Names with suffixes and the concepts they lead to, as the search may find them."""
    space = kb.search_space(Writer(), [None])
    allowed = space.allowed_numbers(0)
    numbers = np.concatenate([trie.names for trie in space.tries]).tolist()
    live = [n for n in numbers if allowed is None or allowed[n]]
    return {
        (kb.name(i), suffix): sorted(kb.concept_ids_of(i, suffix))
        for i, suffix in map(space.name_at, live)
    }


def test_the_rule_stays_with_the_vocabulary(tmp_path):
    table = tmp_path / "genes.tsv"
    table.write_text("id\tname\tsynonyms\ttype\nG:9\tTP53\tx\tNCBITaxon:7955\n")
    kb = ConceptKB.build(GENES, tmp_path / "kb", suffixes="species")
    assert ConceptKB.from_bytes(kb.to_bytes()).suffixes == "species"
    assert ConceptKB.merge([ConceptKB.build(GENES[:1]), kb]).suffixes == "species"
    assert ConceptKB.merge([kb], suffixes="types").suffixes == "types"
    kb.add_names("G:1", ["new"])
    kb.to_disk(tmp_path / "changed")
    changed = add_vocabulary(tmp_path / "changed", table, format="table")
    assert changed.suffixes == "species"
    assert "tp53 | danio rerio" in written_names(changed)
    assert build_vocabulary([table], None, format="table", suffixes="names").suffixes == "names"


def test_an_unknown_rule_is_an_error():
    with pytest.raises(AngelError, match="no rule of suffixes"):
        ConceptKB.build(GENES, suffixes="kinds")
