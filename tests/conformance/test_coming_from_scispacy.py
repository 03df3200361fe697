"""What a user of scispaCy writes: concepts and the vocabulary."""

import pytest
from scispacy.linking_utils import Entity
from support.tiny_linker import TEXT, make_pipeline

from spacy_angel.vocabulary.names.concepts import Concept


@pytest.fixture(scope="module")
def nlp(model, tiny_vocabulary):
    return make_pipeline(model, tiny_vocabulary)


def test_the_readme_s_loop(nlp):
    linker = nlp.get_pipe("angel_linker")
    entity = nlp(TEXT).ents[0]
    lines = [str(linker.kb.cui_to_entity[umls_ent[0]]) for umls_ent in entity._.kb_ents]
    assert lines[0].startswith("CUI: MESH:D009203, Name: Myocardial Infarction\nDefinition: None\n")


@pytest.mark.parametrize("n", [0, 2, 10, 11])
def test_a_concept_prints_as_an_entity(n):
    aliases = tuple(f"alias {i}" for i in range(n))
    ours = Concept("C1", "name", aliases, ("T047",), "What it is.")
    theirs = Entity("C1", "name", list(aliases), ["T047"], "What it is.")
    assert " ".join(str(ours).split()) == " ".join(str(theirs).split())
