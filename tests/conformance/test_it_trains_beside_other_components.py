"""A shipped pipeline goes through spaCy's training functions, with a component that is trained."""

import pytest
import spacy
from spacy.training import Example

from spacy_angel.about import SHIPPED_NAMES

TEXT = "He took aspirin for a heart attack."


@pytest.mark.parametrize("name", SHIPPED_NAMES)
def test_training_functions(name: str) -> None:
    nlp = spacy.load(name)
    expected = [(ent.text, ent.kb_id_) for ent in nlp(TEXT).ents]
    assert ("aspirin", "MESH:D001241") in expected
    assert nlp.resume_training() is not nlp.create_optimizer()
    nlp.add_pipe("textcat")
    examples = [
        Example.from_dict(nlp.make_doc(text), {"cats": {"A": float(a), "B": float(not a)}})
        for text, a in ((TEXT, True), ("She is well.", False))
    ]
    optimizer = nlp.initialize(lambda: examples)
    assert nlp.update(examples, sgd=optimizer)["textcat"] > 0
    doc = nlp(TEXT)
    assert [(ent.text, ent.kb_id_) for ent in doc.ents] == expected
    assert set(doc.cats) == {"A", "B"}
