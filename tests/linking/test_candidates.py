"""The name of one concept, which needs no search."""

import pytest
from support.tiny_linker import settings_of

from spacy_angel import Concept, ConceptKB
from spacy_angel.linking.candidates.generator import exact_match
from spacy_angel.linking.candidates.names import NameReader, make_candidates
from spacy_angel.linking.types import MENTION, SPELLING, Query
from spacy_angel.model.mention import Mention
from spacy_angel.vocabulary.names.concepts import normalize_name

EXACT = ConceptKB.build(
    [
        Concept("D:1", "Pneumonia", ("Inflammation, lung", "Cold", "Chill")),
        Concept("D:2", "Common cold", ("Chill", "Chills")),
    ]
)


@pytest.mark.parametrize(
    ("text", "source", "name"),
    [
        ("inflammation,  LUNG", MENTION, "inflammation lung"),
        ("common cold", MENTION, "common cold"),
        # Other words, the name of two concepts, short ones, and what is spelled in another way.
        *((text, MENTION, None) for text in ("pneumonias", "chill", "cold", "c o l d")),
        ("common cold", SPELLING, None),
    ],
)
def test_the_name_of_one_concept_needs_no_search(text, source, name):
    query = Query(Mention(text), texts={normalize_name(text): source})
    found = exact_match(query, NameReader(EXACT, settings_of()))
    assert found == (None if name is None else EXACT.name_index(name))


def test_the_symbol_of_an_element_is_not_an_abbreviation_in_capitals():
    kb = ConceptKB.build(
        [Concept("E:1", "Cadmium", ("Cd",)), Concept("E:2", "Cold disease", ("CO",))]
    )
    for text, found in (("Cd", ["E:1"]), ("CD", []), ("cd", ["E:1"]), ("CO", ["E:2"])):
        query = Query(Mention(text), texts={text.lower(): MENTION})
        index = kb.name_index(text)
        candidates = make_candidates(query, [index], NameReader(kb, settings_of()))
        assert [c.concept_id for c in candidates] == found
