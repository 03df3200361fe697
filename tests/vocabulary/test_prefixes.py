"""Names as one types them: order, prefixes, what is added and removed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.lookup.prefixes import NameOrder
from spacy_angel.vocabulary.lookup.typed import complete_name
from spacy_angel.vocabulary.names.concepts import Concept, normalize_name
from spacy_angel.vocabulary.storage.strings import StringsBuilder

CONCEPTS = [
    Concept("MESH:D009203", "Myocardial Infarction", ("Heart-Attack",), alternate_ids=("X:1",)),
    Concept("MESH:D006333", "Heart Failure"),
    Concept("MESH:D006331", "Heart Diseases", ("heart",)),
    Concept("MESH:D006349", "Heart Valve Diseases"),
]
# Alike for 8 bytes and more, multi-byte letters at the border of a key.
_NAMES = st.lists(
    st.text("abé漢 ", max_size=20).map(normalize_name).filter(bool), unique=True, max_size=40
)


@pytest.fixture
def kb():
    return ConceptKB.build(CONCEPTS)


def typed(kb, text, **options):
    return [(h.concept.concept_id, h.name, h.how) for h in complete_name(kb, text, **options)]


@given(_NAMES, st.text("abé漢", max_size=12))
def test_exactly_the_names_that_begin_so_are_found_short_ones_first(names, prefix):
    order = NameOrder.build(StringsBuilder(names).finish())
    found = [names[i] for i in order.find(prefix, 40)]
    expected = [name for name in names if name.startswith(prefix)]
    assert found == sorted(expected, key=lambda name: (len(name.encode()), name.encode()))
    some = [names[i] for i in order.find(prefix, 3)]
    assert some == found[: len(some)]
    assert len(some) >= min(len(found), 3)


def test_a_name_as_it_is_typed(kb):
    assert typed(kb, "heart") == [
        ("MESH:D006331", "heart", "name"),
        ("MESH:D009203", "Heart-Attack", "prefix"),
        ("MESH:D006333", "Heart Failure", "prefix"),
        ("MESH:D006349", "Heart Valve Diseases", "prefix"),
    ]
    assert typed(kb, "HEART/v", limit=1) == [("MESH:D006349", "Heart Valve Diseases", "prefix")]
    assert typed(kb, "D009203", limit=1) == [
        ("MESH:D009203", "Myocardial Infarction", "identifier")
    ]
    assert typed(kb, "myocardal infarct")[0] == (
        *("MESH:D009203", "Myocardial Infarction"),
        "similar",
    )
    assert typed(kb, "qqqq") == typed(kb, "+") == []
