"""What spaCy's own tests ask of its `entity_linker` (spacy/tests/pipeline/test_entity_linker.py),
by their meaning: what `tests/linking` does not ask. Left out is what a linker without training
inside spaCy does not have: `update`, `add_label`, priors and vectors of a knowledge base."""

from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
from spacy import Language
from spacy.tokens import Doc
from support.tiny_linker import TEXT, pipeline

Make = Callable[..., Language]


def ids(doc: Doc) -> list[str]:
    return [ent.kb_id_ for ent in doc.ents]


def test_every_token_of_a_mention_has_the_identifier(make: Make) -> None:
    # test_preserving_links_asdoc, test_preserving_links_ents
    doc = make()(TEXT)
    for ent in doc.ents:
        assert {token.ent_kb_id_ for token in ent} == {ent.kb_id_}
    assert {t.ent_kb_id_ for t in doc if not t.ent_type_} == {""}
    (first, *_) = doc.sents
    assert ids(first.as_doc()) == ids(doc)[:1]


def test_its_config_makes_it_again(make: Make, tmp_path: Path) -> None:
    # test_registered_functions, config round trips
    nlp = make(num_beams=3)
    text = nlp.config.to_str()
    again = spacy.util.load_model_from_config(
        spacy.util.load_config_from_str(text), auto_fill=False, validate=True
    )
    assert again.config.to_str() == text
    again.initialize()
    assert again.get_pipe("angel_linker").settings == nlp.get_pipe("angel_linker").settings


@pytest.mark.parametrize("place", [{"first": True}, {"before": "entity_ruler"}])
def test_where_no_mentions_are_yet_it_links_none(
    model: str, vocabulary: str, place: dict[str, object]
) -> None:
    # requires: doc.ents, told by nlp.analyze_pipes
    nlp = pipeline()
    nlp.add_pipe("angel_linker", config={"model": model, "vocabulary": vocabulary}, **place)
    assert set(ids(nlp(TEXT))) == {""}
    assert "angel_linker" in nlp.analyze_pipes()["problems"]
    assert nlp.analyze_pipes()["problems"]["angel_linker"] == ["doc.ents"]
