"""Abbreviations that a text does not define."""

import pytest
from support.tiny_linker import settings_of

from spacy_angel import Concept, ConceptKB
from spacy_angel.linking.candidates.names import NameReader
from spacy_angel.linking.mentions.abbreviations import expand_abbreviation
from spacy_angel.model.mention import Mention

KB = ConceptKB.build(
    [
        Concept("D:1", "Alzheimer's disease", (), ("C",)),
        Concept("D:2", "atopic dermatitis", (), ("C",)),
        Concept("D:3", "rheumatoid arthritis", (), ("C",)),
        Concept("D:4", "retinoic acid", (), ("D",)),
        Concept("D:5", "Crohn's disease", (), ("C",)),
        Concept("D:6", "celiac disease", (), ("C",)),
    ]
)


@pytest.mark.parametrize(
    ("text", "kind", "left", "right", "expanded"),
    [
        ("AD", "C", "donepezil for cognitive decline and dementia in", "", "alzheimer s disease"),
        ("AD", "C", "pruritic lesions of the skin, a high SCORAD:", "", "atopic dermatitis"),
        # The context says too little.
        ("AD", "C", "", "", "AD"),
        # The vocabulary lacks Parkinson's disease, which is not a reason for another meaning.
        ("PD", "C", "dopamine and dopaminergic neurons in", "and other diseases", "PD"),
        # The label excludes rheumatoid arthritis.
        ("RA", "C", "methotrexate and other DMARDs in", "", "rheumatoid arthritis"),
        ("RA", "D", "promyelocytic leukemia: differentiation by", "", "retinoic acid"),
        ("RA", "D", "methotrexate and other DMARDs in", "", "RA"),
        # The words of the usual meanings of IBD and UC.
        ("CD", "C", "IBD (either UC or", ")", "crohn s disease"),
        # Capitals count.
        ("ad", "C", "donepezil for cognitive decline and dementia in", "", "ad"),
    ],
)
def test_the_words_around_select_a_meaning(text, kind, left, right, expanded):
    reader = NameReader(KB, settings_of())

    def is_name(name):
        return any(c.types == (kind,) for c in KB.find(name))

    assert expand_abbreviation(text, Mention(text, left, right), reader, is_name) == expanded
