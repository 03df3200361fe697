import sys
import warnings

import pytest

from spacy_angel.corpora.abbreviations import ab3p_detector, scispacy_detector
from spacy_angel.corpora.preprocessing import Preprocessing, preprocess
from spacy_angel.errors import AngelError


def test_scispacy_finds_abbreviations():
    text = "Adenomatous polyposis  coli (APC) and cystic fibrosis (CF). APC is a gene; CF is not."
    assert scispacy_detector()(text) == [
        ("APC", "Adenomatous polyposis coli"),
        ("CF", "cystic fibrosis"),
    ]


def test_a_text_without_abbreviations_is_no_reason_to_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert scispacy_detector()("No brackets.") == []


def test_ab3p_finds_abbreviations():
    pytest.importorskip("pyab3p")
    # Two blanks in a row: Ab3P itself gives up on that sentence.
    text = "We saw adenomatous polyposis  coli (APC) often. APC is a gene."
    assert ab3p_detector()(text) == [("APC", "adenomatous polyposis coli")]


def test_a_missing_ab3p_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyab3p", None)
    ab3p_detector.cache_clear()
    with pytest.raises(AngelError, match=r"spacy-angel\[ab3p\]"):
        preprocess([], Preprocessing(abbreviations="ab3p"))
