import pytest

from spacy_angel import Concept, ConceptKB
from spacy_angel.linking.mentions.spelling import correct_spelling
from spacy_angel.model.mention import Mention

KB = ConceptKB.build(
    [
        Concept("D:1", "Renal agenesis"),
        Concept("D:2", "Pneumonia"),
        Concept("D:3", "Liver failure"),
        Concept("D:4", "Graves-Basedow athsma"),
        Concept("C:1", "Metrizoate"),
    ]
)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("pnuemonia", "pneumonia"),
        ("severe Pnuemonia, left", "severe pneumonia, left"),
        ("PNUEMONIA", "pneumonia"),
        # What makes a name of the vocabulary comes before what is frequent (`over`).
        ("oiver failure", "liver failure"),
        ("liver-faillure", "liver-failure"),
        ("pnuemonia and liver failrue", "pneumonia and liver failure"),
    ],
)
def test_unknown_words_are_read_as_they_were_meant(text, read):
    mention = correct_spelling(Mention(text, "a", "b"), KB)
    assert mention == Mention(read, "a", "b")


@pytest.mark.parametrize(
    "text",
    [
        "pneumonia",
        # A word of the vocabulary, one of abstracts, a short form, a word with digits.
        "athsma",
        "metrizoate",
        "nephrotoxicity",
        "PNUEM",
        "CA125s",
        "il2 defici3ncy",
        "qqxqqxqq",
        "",
    ],
)
def test_other_mentions_stay_as_they_are(text):
    mention = Mention(text, "a", "b")
    assert correct_spelling(mention, KB) is mention


def test_a_name_of_the_vocabulary_stays():
    kb = ConceptKB.build([Concept("X:1", "Pnuemonia of Snark")])
    mention = Mention("pnuemonia of snark")
    assert correct_spelling(mention, kb) is mention
