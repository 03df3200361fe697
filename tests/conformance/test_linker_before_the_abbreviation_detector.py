"""A linker that is to resolve abbreviations and stands before what finds them says so, once."""

import warnings

import pytest
from support.tiny_linker import make_pipeline

pytestmark = pytest.mark.filterwarnings("ignore:.*W036")
TEXT = "Heart failure (HF) and heart attack."


def told(nlp):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        nlp(TEXT), nlp(TEXT)
    return [str(w.message) for w in caught if "must come before" in str(w.message)]


def test_the_detector_behind_the_linker(model, tiny_vocabulary):
    nlp = make_pipeline(model, tiny_vocabulary)
    nlp.add_pipe("angel_abbreviations")
    (message,) = told(nlp)
    assert "angel_abbreviations must come before angel_linker" in message
    assert "before='angel_linker'" in message


def test_nothing_is_told_if_the_order_is_right(model, tiny_vocabulary):
    nlp = make_pipeline(model, tiny_vocabulary)
    nlp.add_pipe("angel_abbreviations", before="angel_linker")
    assert told(nlp) == []
