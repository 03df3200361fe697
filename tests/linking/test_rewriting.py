"""Other ways to write a mention, and names that are misspelled in running text."""

import pytest
from support.tiny_linker import settings_of

from spacy_angel import Concept, ConceptKB
from spacy_angel.linking.matcher import find_misspelled
from spacy_angel.linking.mentions.names import NameReader
from spacy_angel.linking.mentions.wordings import (
    correct_spelling,
    expand_short_form,
    find_binomial,
)

KB = ConceptKB.build(
    [
        Concept("D:1", "Hypertension"),
        Concept("D:2", "Multiple Sclerosis"),
        Concept("D:3", "Myocardial Infarction"),
        Concept("C:1", "Acetaminophen", ("Paracetamol", "Panadol")),
        Concept("G:1", "AF"),
        Concept("D:4", "Atrial Fibrillation"),
        Concept("C:2", "Infliximab", ("cA2",)),
        Concept("C:3", "Calcium"),
        Concept("D:6", "Pneumonia"),
        Concept("D:7", "Liver failure"),
        Concept("D:8", "Graves-Basedow athsma"),
    ]
)


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("HTN", "hypertension"),
        ("htn", "htn"),
        ("MS", "multiple sclerosis"),
        # A name of the vocabulary.
        ("AF", "AF"),
        ("A-fib", "atrial fibrillation"),
        # Its meaning is not in the vocabulary.
        ("COPD", "COPD"),
        ("TYLENOL", "acetaminophen"),
        ("Panadol", "Panadol"),
        ("Heart attack", "myocardial infarction"),
        # Not the antibody, whose name has the same letters.
        ("Ca2+", "calcium"),
        ("cA2", "cA2"),
    ],
)
def test_short_forms_and_everyday_words(text, expanded):
    reader = NameReader(KB, settings_of())
    assert expand_short_form(text, reader, lambda t: KB.name_index(t) is not None) == expanded


@pytest.mark.parametrize(
    ("mention", "name"),
    [
        ("Shiga toxin-producing Escherichia coli", "Escherichia coli"),
        ("E. coli strain 4795/97", "E. coli"),
        ("rice blast fungus", "rice blast fungus"),
    ],
)
def test_binomial_names_of_organisms(mention, name):
    names = {"Trypanosoma cruzi", "Escherichia coli", "E. coli", "rice"}
    assert find_binomial(mention, names.__contains__) == name


@pytest.mark.parametrize(
    ("text", "corrected"),
    [
        ("pnuemonia", "pneumonia"),
        ("severe Pnuemonia, left", "severe pneumonia, left"),
        ("PNUEMONIA", "pneumonia"),
        # A name of the vocabulary precedes a frequent word (`over`).
        ("oiver failure", "liver failure"),
        ("pnuemonia and liver failrue", "pneumonia and liver failure"),
        # Words of the vocabulary and of abstracts, a short form, words with digits.
        *((text, text) for text in ("athsma", "nephrotoxicity", "PNUEM", "il2 defici3ncy", "")),
        ("qqxqqxqq", "qqxqqxqq"),
    ],
)
def test_unknown_words_are_corrected(text, corrected):
    assert correct_spelling(text, NameReader(KB, settings_of())) == corrected


MISSPELLED = ConceptKB.build(
    [
        Concept("D:1", "Asthma", ("bronchial asthma",), ("Disease",)),
        Concept("D:2", "Arthritis", (), ("T047",)),
        Concept("C:1", "Tobramycin", (), ("Chemical",)),
        Concept("C:2", "Cytokines", (), ("Chemical",)),
        Concept("G:1", "Fibronectin", (), ("Gene",)),
    ]
)


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("athsma", "asthma"),
        # One letter of six: `scurfy` is not scurvy.
        ("asthna", None),
        ("arthrtis", "arthritis"),
        ("arthrittis", "arthritis"),
        ("tobramicyn", "tobramycin"),
        # Two slips; a wrong last letter; part of a name.
        *(("tobrmcin", None), ("arthritic", None), ("broncial", None)),
        # Another type; a name; a capital; a longer word.
        *(("fibronection", None), ("asthma", None), ("Athsma", None), ("athsma-like", None)),
        # A plural.
        ("cytosines", None),
        ("cytokeines", "cytokines"),
    ],
)
def test_misspelled_names_in_running_text(word, meant):
    text = f"Her {word} since childhood."
    found = [
        (text[o.start : o.end], MISSPELLED.name(o.name)) for o in find_misspelled(text, MISSPELLED)
    ]
    assert found == ([] if meant is None else [(word, meant)])
