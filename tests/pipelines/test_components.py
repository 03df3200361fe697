"""Which components run for a linker."""

import spacy

from spacy_angel.pipelines.components import components_before, name_of


def test_what_writes_entities_does_not_run_on_given_mentions() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("entity_ruler")
    linker = nlp.add_pipe("angel_linker", name="diseases")
    nlp.add_pipe("merge_entities")
    assert components_before(nlp, linker) == ["sentencizer", "entity_ruler"]
    assert components_before(nlp, linker, given_mentions=True) == ["sentencizer"]
    assert name_of(nlp, linker) == "diseases"
