"""Finding concepts by what a person types."""

from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.lookup.typed import search_concepts
from spacy_angel.vocabulary.names.concepts import Concept, normalize_name

CONCEPTS = [
    Concept("MESH:D009203", "Myocardial Infarction", ("Heart-Attack", "heart attack", "+")),
    Concept("MESH:D006333", "Heart Failure", ("Decompensation of the heart",)),
    Concept("MESH:D003919", "Diabetes Insipidus", ("diabetes",), alternate_ids=("OMIM:125700",)),
    Concept("MESH:D003920", "Diabetes Mellitus", ("Diabetes",)),
]


def hits(text, **options):
    found = search_concepts(ConceptKB.build(CONCEPTS), text, **options)
    return [(hit.concept.concept_id, hit.name, hit.how) for hit in found]


def test_concepts_are_found_by_identifier_name_prefix_and_letters_in_this_order():
    assert hits("OMIM:125700") == [("MESH:D003919", "Diabetes Insipidus", "identifier")]
    assert hits("D009203")[0] == ("MESH:D009203", "Myocardial Infarction", "identifier")
    assert hits("HEART ATTACK")[0] == ("MESH:D009203", "Heart-Attack", "name")
    assert hits("heart")[:2] == [
        ("MESH:D009203", "Heart-Attack", "prefix"),
        ("MESH:D006333", "Heart Failure", "prefix"),
    ]
    assert hits("HEART/f", limit=1) == [("MESH:D006333", "Heart Failure", "prefix")]
    assert hits("attack heart") == [("MESH:D009203", "Heart-Attack", "similar")]
    assert hits("hart attac")[0] == ("MESH:D009203", "Heart-Attack", "similar")
    assert hits("zzz") == hits("+") == []
    assert [how for *_, how in hits("diabetes")][:2] == ["name", "name"]
    assert len(hits("diabetes", limit=1)) == 1


def test_a_name_that_was_removed_does_not_keep_similar_ones_away():
    kb = ConceptKB.build(CONCEPTS)
    assert [hit.how for hit in search_concepts(kb, "heart failur")][:1] == ["prefix"]
    kb.remove("MESH:D006333")
    (hit, *_) = search_concepts(kb, "heart attak")
    assert (hit.concept.concept_id, hit.how) == ("MESH:D009203", "similar")


NAMES = st.text("abé漢 ", max_size=12).map(normalize_name).filter(bool)


@given(st.lists(NAMES, unique=True, max_size=20), st.lists(NAMES, max_size=5), NAMES)
def test_exactly_the_names_that_begin_so_are_found_short_ones_first(names, added, prefix):
    kb = ConceptKB.build(Concept(f"X:{i}", name) for i, name in enumerate(names))
    for i, name in enumerate(added):
        kb.add(Concept(f"Y:{i}", name))
    if names:
        kb.remove("X:0")
    expected = {name for name in [*names[1:], *added] if name.startswith(prefix)}
    found = [h.name for h in search_concepts(kb, prefix, 99) if h.how in ("name", "prefix")]
    assert list(dict.fromkeys(found)) == sorted(expected, key=lambda name: (len(name), name))
