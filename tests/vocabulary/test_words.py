import pytest

from spacy_angel import Concept, ConceptKB
from spacy_angel.vocabulary.lookup.words import WordIndex
from spacy_angel.vocabulary.storage.strings import StringsBuilder

COMMON = {"attack": 9, "renal": 7, "penal": 2, "carcinoma": 5, "liver": 4, "diver": 8}


@pytest.fixture
def index(monkeypatch):
    monkeypatch.setattr("spacy_angel.vocabulary.lookup.words.common_words", lambda: COMMON)
    names = ["heart attack", "liver failure", "adenocarcinoma 2", "vitamin b12"]
    return WordIndex.build(StringsBuilder(names).finish())


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("atack", ["attack"]),
        ("attcak", ["attack"]),
        ("attuck", ["attack"]),
        # That begins alike, then the one seen more often.
        ("renol", ["renal"]),
        ("denal", ["renal", "penal"]),
        ("siver", ["diver", "liver"]),
        # Two letters in eight and more, and the fewest that will do.
        ("carcnoma", ["carcinoma"]),
        ("karcinomma", ["carcinoma"]),
        ("livvvr", []),
        ("adencarcinom", ["adenocarcinoma"]),
        # Under five letters nothing is told.
        ("rena", []),
    ],
)
def test_the_words_that_are_meant(index, word, meant):
    assert index.nearest(word) == meant


def test_names_that_are_added_have_words():
    kb = ConceptKB.build([Concept("D:1", "Fever")])
    assert kb.words.corrections("feverr")[0] == "fever"
    kb.add(Concept("D:2", "Feverr"))
    assert kb.words.corrections("feverr") == ["feverr"]
