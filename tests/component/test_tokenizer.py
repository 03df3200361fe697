"""spaCy's tokenizer, linear and for texts with noise."""

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.component.tokenizer import LinearTokenizer, make_tokenizer

NLP = spacy.blank("en")
OURS = make_tokenizer()(NLP)
MARKS = st.text(st.sampled_from("ab1 .,()[]'\"-/:;\n%°+…"), max_size=300)
NOISY = st.text(st.sampled_from("ab. \xad\u200b\n-\xa0\ufb01)"), max_size=60)


@given(MARKS)
def test_tokens_are_spacys(text):
    theirs, ours = NLP.make_doc(text), OURS(text)
    assert [(t.text, t.whitespace_) for t in ours] == [(t.text, t.whitespace_) for t in theirs]


@given(NOISY)
def test_the_text_stays_whole(text):
    assert OURS(text).text == text
    assert OURS(text * 80).text == text * 80


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("\u200bseizures\u200b. No", ["\u200bseizures\u200b", ".", "No"]),
        ("(\u202eVPA\u202c-induced)", ["(\u202e", "VPA\u202c", "-", "induced", ")"]),
        ("myo-\ncardial, in\xadfarct", ["myo-\ncardial", ",", "in\xadfarct"]),
        ("heart\xa0attack\u200b (ＨＡ)", ["heart", "\xa0", "attack\u200b", "(", "ＨＡ", ")"]),
        ("\u200b", ["\u200b"]),
        # Markup is a token of its own.
        ("<p>heart&nbsp;attack</p>", ["<p>", "heart", "&nbsp;", "attack", "</p>"]),
        ("**asthma**|gout", ["**", "asthma", "**", "|", "gout"]),
    ],
)
def test_what_is_not_read_keeps_no_words_together(text, tokens):
    assert [token.text for token in OURS(text)] == tokens


def test_longer_runs_are_cut():
    assert [len(token) for token in OURS("a" * 2500 + " b")] == [1000, 1000, 500, 1]


def test_it_is_saved_with_its_rules():
    nlp = spacy.blank(
        "en", config={"nlp": {"tokenizer": {"@tokenizers": "spacy_angel.Tokenizer.v1"}}}
    )
    assert isinstance(nlp.tokenizer, LinearTokenizer)
    again = make_tokenizer()(NLP).from_bytes(nlp.tokenizer.to_bytes())
    assert [t.text for t in again("Don't (stop\u200b).")] == [
        "Do",
        "n't",
        "(",
        "stop\u200b",
        ")",
        ".",
    ]
