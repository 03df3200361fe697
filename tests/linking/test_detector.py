"""scispaCy's abbreviation detector, bounded."""

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from scispacy.abbreviation import AbbreviationDetector
from spacy.tokens import Doc

from spacy_angel.linking.mentions.detector import LinearAbbreviationDetector, near_brackets
from spacy_angel.linking.mentions.reading import ABBREVIATIONS

pytestmark = pytest.mark.filterwarnings(r"ignore:\[W036\]")
NLP = spacy.blank("en")
THEIRS = AbbreviationDetector(NLP, make_serializable=True)
OURS = LinearAbbreviationDetector(NLP, make_serializable=True)
WORDS = ["(", ")", "heart", "attack", "HA", "head", "ache", "H", "A", "ha", "-", "H2", ".", "\n"]


def pairs(detector, doc):
    doc.user_data.clear()
    detector(doc)
    found = doc.user_data[ABBREVIATIONS]
    assert all(one["long_text"] == doc[one["long_start"] : one["long_end"]].text for one in found)
    return sorted(
        (one["short_start"], one["short_end"], one["long_start"], one["long_end"]) for one in found
    )


@given(
    st.lists(st.sampled_from(WORDS), max_size=40).filter(lambda words: words.count(")") < 2),
    st.data(),
)
def test_the_pairs_are_scispacys(words, data):
    spaces = data.draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words)))
    doc = Doc(NLP.vocab, words=words, spaces=spaces)
    near = [match[1:] for match in THEIRS.matcher(doc) if match[2] - match[1] <= 10]
    assert [match[1:] for match in near_brackets(doc)] == near
    # Ours also finds short long forms in brackets, and initials in another order; a word in lower
    # case that stands before brackets is no short form.
    theirs = {one[:2] for one in pairs(THEIRS, doc) if not doc[one[0] : one[1]].text.islower()}
    assert {one[:2] for one in pairs(OURS, doc)} >= theirs


def test_a_definition_stands_in_one_sentence():
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("angel_abbreviations")
    doc = nlp("He had myotonic dystrophy. Myotonic dystrophy (DM) is rare. DM runs in families.")
    assert doc._.abbreviations == []
    doc = nlp("Dystrophia. It is called dystrophia myotonica (DM). DM runs in families.")
    assert {(s.start, s.text, s._.long_form.text) for s in doc._.abbreviations} == {
        (8, "DM", "dystrophia myotonica"),
        (11, "DM", "dystrophia myotonica"),
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # The later definition counts from there on.
        (
            "Multiple sclerosis (MS) and MS. Then mitral stenosis (MS), and MS again.",
            ["Multiple sclerosis"] * 2 + ["mitral stenosis"] * 2,
        ),
        # scispaCy finds both letters in the last word.
        ("A malignant mesothelioma (MM) grew. MM is deadly.", ["malignant mesothelioma"] * 2),
        (
            "SBMA (spinal and bulbar muscular atrophy) is SBMA.",
            ["spinal and bulbar muscular atrophy"] * 2,
        ),
        ("PD (panic disorder) and PD.", ["panic disorder"] * 2),
        ("Panic disorder [PD] and PD.", ["Panic disorder"] * 2),
        ("Panic disorder (PD; n = 12) and PD.", ["Panic disorder"] * 2),
        ("It is myotonic dystrophy (DM).", ["myotonic dystrophy"]),
        ("A stromal tumor (ST) is rare. STs grow.", ["stromal tumor"] * 2),
        ("Stromal tumors (STs) are rare. An ST grows.", ["Stromal tumors"] * 2),
        ("Levels were < 3 times (< 5 times in the liver).", []),
    ],
)
def test_long_forms_in_the_order_of_their_short_forms(text, expected):
    doc = NLP(text)
    OURS(doc)
    assert [str(short._.long_form) for short in doc._.abbreviations] == expected
