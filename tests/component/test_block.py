"""What a component's factory learns of the pipeline that it is made for."""

import spacy
from spacy.language import Language

from spacy_angel.component.block import is_saved_in

SEEN: list[bool] = []


@Language.factory("test_is_saved")
def make(nlp, name):
    SEEN.append(is_saved_in(nlp, name))
    return lambda doc: doc


def test_a_saved_pipeline_is_told_from_a_new_one(tmp_path):
    """Fails when spaCy no longer keeps the meta.json in `nlp._meta` while it adds components."""
    nlp = spacy.blank("en")
    nlp.add_pipe("test_is_saved", name="own")
    nlp.to_disk(tmp_path)
    spacy.load(tmp_path)
    assert SEEN == [False, True]
