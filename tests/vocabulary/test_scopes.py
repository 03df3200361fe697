"""What sources say of names, exact or broader, stays with them wherever a vocabulary goes."""

import json
from dataclasses import asdict

import pytest

from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept
from spacy_angel.vocabulary.sources.formats.registry import read_vocabulary

HEART = Concept(
    "UBERON:1",
    "heart",
    ("cardium", "Heart", "chambered heart"),
    scopes=(("heart", "PREFERRED"), ("cardium", "RELATED"), ("Heart", "EXACT")),
)
VENTRICLE = Concept("UBERON:2", "ventricle", ("heart",), scopes=(("heart", "BROAD"),))


def scope(kb, name, concept_id):
    i = kb.name_index(name)
    assert i is not None
    return kb.scope_of(i, concept_id)


def check(kb):
    """A name has a scope for each of its concepts."""
    assert kb["UBERON:1"] == HEART
    assert scope(kb, "HEART", "UBERON:1") == "PREFERRED"
    assert scope(kb, "heart", "UBERON:2") == "BROAD"
    assert scope(kb, "cardium", "UBERON:1") == "RELATED"
    assert scope(kb, "chambered heart", "UBERON:1") == scope(kb, "ventricle", "UBERON:2") == ""
    assert scope(kb, "ventricle", "UBERON:1") == scope(kb, "heart", "UBERON:3") == ""


def test_scopes_are_stored(tmp_path):
    kb = ConceptKB.build([HEART, VENTRICLE], tmp_path / "kb")
    merged = ConceptKB.merge([kb, ConceptKB.build([Concept("X:1", "x")])])
    for each in (kb, ConceptKB.from_bytes(kb.to_bytes()), merged):
        check(each)


def test_scopes_follow_changes_while_running(tmp_path):
    kb = ConceptKB.build([HEART, VENTRICLE], tmp_path / "kb")
    kb.add_names("UBERON:1", ["pump"])
    kb.rename("UBERON:1", "ticker", old="cardium")
    kb.remove_name("UBERON:2", "ventricle")
    kb.add(Concept("MY:1", "beat", ("pulse",), scopes=(("pulse", "RELATED"),)))
    for _ in range(2):
        assert scope(kb, "heart", "UBERON:1") == "PREFERRED"
        assert scope(kb, "heart", "UBERON:2") == "BROAD"
        assert scope(kb, "pulse", "MY:1") == "RELATED"
        assert scope(kb, "pump", "UBERON:1") == scope(kb, "ticker", "UBERON:1") == ""
        assert kb["UBERON:1"].scopes == (("heart", "PREFERRED"), ("Heart", "EXACT"))
        kb.to_disk(tmp_path / "changed")
        kb = ConceptKB.from_disk(tmp_path / "changed")


def test_of_joined_concepts_the_first_that_is_told_counts():
    first = Concept("X:1", "a", ("b", "c"), scopes=(("c", "BROAD"),))
    second = Concept("X:1", "b", ("c", "d"), scopes=tuple((n, "EXACT") for n in "bcd"))
    third = Concept("X:1", "b", scopes=(("b", "RELATED"),))
    kb = ConceptKB.build([first, Concept("X:2", "b"), second, third])
    assert kb["X:1"].names == ("a", "b", "c", "d")
    assert kb["X:1"].scopes == (("b", "EXACT"), ("c", "BROAD"), ("d", "EXACT"))
    assert kb["X:2"].scopes == ()


def test_json_lines_hold_them(tmp_path):
    lines = [json.dumps(asdict(c) | {"scopes": dict(c.scopes)}) for c in (HEART, VENTRICLE)]
    (tmp_path / "kb.jsonl").write_text("\n".join(lines))
    assert list(read_vocabulary(tmp_path / "kb.jsonl")) == [HEART, VENTRICLE]
    for wrong in ('["EXACT"]', '{"heart": "Exact"}', '{"heart": ["EXACT"]}'):
        text = f'{{"concept_id": "X:1", "canonical_name": "heart", "scopes": {wrong}}}'
        (tmp_path / "kb.jsonl").write_text(text)
        with pytest.raises(AngelError, match="line 1"):
            list(read_vocabulary(tmp_path / "kb.jsonl"))
    for broken in ("EXACT", ("EXACT",), (("heart", "exact"),), (("heart",),), 3):
        with pytest.raises(AngelError, match=r"concept .UBERON:1. is not valid: scopes"):
            ConceptKB.build([Concept("UBERON:1", "heart", scopes=broken)])  # type: ignore[arg-type]
