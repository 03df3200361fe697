"""The shipped pipeline's linker can be renamed, taken out and left out."""

import spacy

import spacy_angel

TEXT = "After a heart attack she took aspirin for hart failure."


def test_renamed() -> None:
    nlp = spacy_angel.load()
    before = [(ent.text, ent.kb_id_) for ent in nlp(TEXT).ents]
    nlp.rename_pipe("angel_linker", "mesh")
    assert [(ent.text, ent.kb_id_) for ent in nlp(TEXT).ents] == before


def test_removed_or_excluded() -> None:
    nlp = spacy_angel.load()
    nlp.remove_pipe("angel_linker")
    excluded = spacy.load("en_angel_mini", exclude=["angel_linker"])
    for pipeline in (nlp, excluded):
        assert "heart attack" in [ent.text for ent in pipeline(TEXT).ents]
