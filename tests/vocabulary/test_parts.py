"""Families and complexes with their members."""

from pathlib import Path

import pytest

from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept
from spacy_angel.vocabulary.sources.export import export_concepts
from spacy_angel.vocabulary.sources.formats.registry import read_vocabulary

CONCEPTS = [
    Concept("FPLX:NFkappaB", "NFkappaB", ("NF-kappaB",), parts=("FPLX:NFkappaB_1", "FPLX:X")),
    Concept("NCBIGene:4790", "NFKB1"),
    Concept("FPLX:NFkappaB_1", "NFkappaB 1", parts=("NCBIGene:4790",)),
]


def test_a_vocabulary_keeps_them(tmp_path: Path) -> None:
    kb = ConceptKB.build(CONCEPTS, tmp_path / "kb")
    assert list(kb) == CONCEPTS
    columns = kb.table.columns
    assert columns["concept_parts"].tolist() == [0, 2, 2, 3]
    assert columns["part_data"].tobytes() == b"FPLX:NFkappaB_1FPLX:XNCBIGene:4790"
    assert kb.cui_to_entity["FPLX:NFkappaB"].parts == ("FPLX:NFkappaB_1", "FPLX:X")
    assert list(ConceptKB.from_bytes(kb.to_bytes())) == CONCEPTS
    ConceptKB.verify(tmp_path / "kb")
    export_concepts(kb, tmp_path / "kb.jsonl")
    assert list(read_vocabulary(tmp_path / "kb.jsonl")) == CONCEPTS


def test_they_are_joined_and_changed_as_other_fields(tmp_path: Path) -> None:
    more = [Concept("FPLX:NFkappaB", "NF", parts=("FPLX:X", "NCBIGene:1", "FPLX:NFkappaB"))]
    kb = ConceptKB.join([CONCEPTS, more])
    assert kb["FPLX:NFkappaB"].parts == ("FPLX:NFkappaB_1", "FPLX:X", "NCBIGene:1")
    kb.add(Concept("X:9", "boojum", parts=("X:1", "X:1", "", "X:9")))
    kb.to_disk(tmp_path / "kb")
    assert ConceptKB.from_disk(tmp_path / "kb")["X:9"].parts == ("X:1",)
    with pytest.raises(AngelError, match=r"parts .* found 'X:1'"):
        kb.add(Concept("X:10", "jubjub", parts="X:1"))  # type: ignore[arg-type]
