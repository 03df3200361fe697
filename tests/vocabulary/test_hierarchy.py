"""Families and complexes with their members, and the hierarchy."""

import json
from dataclasses import asdict

import pytest

from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept
from spacy_angel.vocabulary.sources.build import build_vocabulary

CONCEPTS = [
    Concept("FPLX:NFkappaB", "NFkappaB", ("NF-kappaB",), parts=("FPLX:NFkappaB_1", "FPLX:X")),
    Concept("NCBIGene:4790", "NFKB1"),
    Concept("FPLX:NFkappaB_1", "NFkappaB 1", parts=("NCBIGene:4790",)),
]


def test_a_vocabulary_keeps_them(tmp_path):
    kb = ConceptKB.build(CONCEPTS, tmp_path / "kb")
    assert list(kb) == CONCEPTS
    assert list(ConceptKB.from_bytes(kb.to_bytes())) == CONCEPTS


def test_they_are_joined_and_changed_as_other_fields(tmp_path):
    more = [Concept("FPLX:NFkappaB", "NF", parts=("FPLX:X", "NCBIGene:1", "FPLX:NFkappaB"))]
    kb = ConceptKB.join([CONCEPTS, more])
    assert kb["FPLX:NFkappaB"].parts == ("FPLX:NFkappaB_1", "FPLX:X", "NCBIGene:1")
    kb.add(Concept("X:9", "boojum", parts=("X:1", "X:1", "", "X:9")))
    kb.to_disk(tmp_path / "kb")
    assert ConceptKB.from_disk(tmp_path / "kb")["X:9"].parts == ("X:1",)
    with pytest.raises(AngelError, match=r"parts: .*got 'X:1'"):
        kb.add(Concept("X:10", "jubjub", parts="X:1"))  # type: ignore[arg-type]


HIERARCHY = [
    Concept("X:1", "disease"),
    Concept("X:2", "tumour", alternate_ids=("OLD:2",), parents=("X:1",)),
    Concept("X:3", "glioma", parents=("OLD:2", "X:9", "X:3")),
    Concept("X:4", "cycle", parents=("X:5",)),
    Concept("X:5", "cycle of it", parents=("X:4",)),
]


def test_hierarchy(tmp_path):
    kb = ConceptKB.build(HIERARCHY, tmp_path / "kb")
    assert kb["X:3"].parents == ("X:2",)
    below = {"X:1": {"X:1", "X:2", "X:3"}, "OLD:2": {"X:2", "X:3"}, "X:4": {"X:4", "X:5"}}
    assert {root: kb.ids_below(root) for root in below} == below
    assert kb.subset(branch="OLD:2").concept_ids == below["OLD:2"]
    assert kb.subset(concept_ids=["X:1", "X:3"], branch="X:2").concept_ids == {"X:3"}
    kb.add(Concept("X:7", "grade", parents=("X:6",)))
    kb.add(Concept("X:6", "astrocytoma", parents=("X:3",)))
    assert kb.ids_below("X:2") == {"X:2", "X:3", "X:6", "X:7"}
    kb.to_disk(tmp_path / "kb")
    assert ConceptKB.from_disk(tmp_path / "kb").ids_below("X:2") == kb.ids_below("X:2")
    other = ConceptKB.join([HIERARCHY, [Concept("X:8", "ependymoma", parents=("X:3",))]])
    assert "X:8" in other.ids_below("X:1")
    with pytest.raises(AngelError, match="X:99"):
        kb.subset(branch="X:99")


def test_a_branch_is_built_alone(tmp_path):
    lines = (json.dumps(asdict(c) | {"scopes": {}}) for c in HIERARCHY)
    (tmp_path / "all.jsonl").write_text("\n".join(lines))
    kb = build_vocabulary([tmp_path / "all.jsonl"], tmp_path / "kb", branch="X:2")
    assert [c.concept_id for c in kb] == ["X:2", "X:3"]
    assert kb.meta["sources"][0]["branch"] == "X:2"
    with pytest.raises(AngelError, match="nothing is below it"):
        build_vocabulary([tmp_path / "all.jsonl"], None, branch="X:3")
