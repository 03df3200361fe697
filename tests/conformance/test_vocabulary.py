"""Concepts are added to a vocabulary together or not at all."""

import pytest
from support.tiny_linker import concepts

from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept


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
    kb = ConceptKB.build(concepts())
    kb.add([Concept("MY:1", "one"), Concept("MY:2", "two")])
    kb.add(Concept("MY:3", "three"))
    assert repr(kb) == "<ConceptKB: 10 concepts, 20 names, in memory>"
    with pytest.raises(AngelError, match=message):
        kb.add([Concept("MY:4", "four"), second])
    assert "MY:4" not in kb
    with pytest.raises(AngelError, match="needs a Concept"):
        kb.add({"concept_id": "MY:5"})
