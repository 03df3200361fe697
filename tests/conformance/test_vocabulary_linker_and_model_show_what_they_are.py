"""repr, `kb.get`, `kb.add([...])`, `kb.subset("T047")`: what a user of Python expects of them."""

import pytest
from support.tiny_linker import concepts

from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept


@pytest.fixture
def kb():
    return ConceptKB.build(concepts())


def test_several_are_added_or_none(kb):
    kb.add([Concept("MY:1", "one"), Concept("MY:2", "two")])
    kb.add(Concept("MY:3", "three"))
    assert len(kb) == 10
    assert repr(kb) == "<ConceptKB: 10 concepts, 20 names, in memory>"
    for second, code in (
        (Concept("MY:4", "twice"), "is already in the vocabulary"),
        (Concept("MY:1", "there"), "is already in the vocabulary"),
        (Concept("", "nobody"), "needs an identifier"),
        ("a text", "kb.add needs a Concept"),
    ):
        with pytest.raises(AngelError, match=code):
            kb.add([Concept("MY:4", "four"), second])
        assert "MY:4" not in kb
    for wrong in ("MY:5", 5, {"concept_id": "MY:5"}):
        with pytest.raises(AngelError, match="needs a Concept"):
            kb.add(wrong)
