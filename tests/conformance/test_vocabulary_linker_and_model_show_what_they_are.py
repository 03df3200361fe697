"""repr, `kb.get`, `kb.add([...])`, `kb.subset("T047")`: what a user of Python expects of them."""

import pytest
from support.tiny_linker import concepts, make_pipeline

from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept


@pytest.fixture
def kb():
    return ConceptKB.build(concepts())


def test_repr(model, tiny_vocabulary):
    linker = make_pipeline(model, tiny_vocabulary).get_pipe("angel_linker")
    closed = f"<AngelLinker 'angel_linker': model {model}, vocabulary {tiny_vocabulary}>"
    assert repr(linker) == closed
    assert repr(linker.generator) == "<Generator: bart on cpu float32>"
    assert repr(linker.kb) == f"<ConceptKB: 7 concepts, 17 names, from {tiny_vocabulary!r}>"
    assert repr(linker.generator) in repr(linker)
    assert repr(linker.kb) in repr(linker)


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
