"""Rules over a vocabulary: each kind of rule does what it says, and the vocabulary stays."""

import pytest

from spacy_angel.vocabulary.changes.curation_file import CurationFile
from spacy_angel.vocabulary.changes.rules import Rule
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept

CONCEPTS = (
    Concept("M:1", "Heart Diseases", ("cardiac disease",), ("T047",)),
    Concept("M:2", "Infarction", ("heart attack",), ("T047",), None, ("U:2",), ("M:1",)),
    Concept("M:3", "Coronary Artery Disease", ("CAD",), ("T047",), parents=("M:2",)),
    Concept("M:4", "Common Cold", ("cold", "acute coryza"), ("T047",)),
    Concept("M:5", "Cold Temperature", ("cold",), ("T070",)),
    Concept("M:6", "CAD gene", ("CAD",), ("T028",)),
)


@pytest.fixture(scope="module")
def kb():
    return ConceptKB.build(CONCEPTS)


def applied(kb, *rules):
    found = kb.with_rules(rules).applied_rules
    assert found is not None
    return found


def ids(kb, name):
    return [concept.concept_id for concept in kb.find(name)]


def test_names_are_added_and_removed_and_the_vocabulary_stays_as_it_is(kb):
    found = kb.with_rules(
        (
            Rule("add", "infarct of heart", concept="U:2"),
            Rule("remove", "CAD", concept="M:6"),
            Rule("add", "Novel disease", concept="N:1", condition="new"),
            Rule("prefer", "ND", concept="N:1"),
        )
    )
    assert ids(found, "Infarct of Heart") == ["M:2"]
    assert ids(found, "cad") == ["M:3"]
    assert ids(found, "nd") == ["N:1"]
    near = found.nearest.find("infarct of hearts", 1)
    assert found.name(near[0].name) == "infarct of heart"
    assert [ids(kb, name) for name in ("infarct of heart", "cad", "nd")] == [[], ["M:3", "M:6"], []]
    assert kb.version == 0


def test_a_string_is_never_a_concept_or_never_linked_with_a_label(kb):
    found = applied(
        kb,
        Rule("exclude", "CAD", concept="M:6"),
        Rule("exclude", "cold", label="Disease"),
        Rule("exclude", "Hot", condition="case"),
    )
    assert found.constraint("cad", "GENE").excluded == {"M:6"}
    assert found.constraint("CAD gene", "GENE") is None
    assert not found.constraint("Cold", "DISEASE").is_mention
    assert found.constraint("cold", "CHEMICAL") is None
    assert not found.constraint("Hot", "DISEASE").is_mention
    assert found.constraint("hot", "DISEASE") is None


def test_a_string_counts_only_as_it_is_written(kb):
    of_any = applied(kb, Rule("allow", "CAD"))
    assert of_any.constraint("CAD", "DISEASE") is None
    assert not of_any.constraint("cad", "DISEASE").is_mention
    rules = [Rule("allow", "CAD", concept="M:3"), Rule("allow", "CaD", concept="M:3")]
    of_one = applied(kb, *rules)
    assert of_one.constraint("Cad", "GENE").excluded == {"M:3"}
    assert of_one.constraint("CaD", "GENE") is None


def test_a_string_means_the_concept_of_the_last_rule(kb):
    found = applied(
        kb,
        Rule("prefer", "the big one", concept="M:1", label="DISEASE"),
        Rule("prefer", "the big one", concept="U:2", label="DISEASE"),
    )
    assert found.constraint("The big one", "DISEASE").means == "M:2"
    assert found.constraint("The big one", "GENE") is None


def test_exclude_overrides_prefer(kb):
    prefer = Rule("prefer", "CAD", concept="M:3")
    for label in ("", "DISEASE"):
        exclude = Rule("exclude", "cad", label, "M:3")
        for rules in ((prefer, exclude), (exclude, prefer)):
            constraint = applied(kb, *rules).constraint("CAD", "DISEASE")
            assert (constraint.means, constraint.excluded) == (None, {"M:3"})
    assert not applied(kb, prefer, Rule("exclude", "CAD")).constraint("CAD", "D").is_mention


def test_a_concept_a_subtree_and_a_type_are_never_linked_to(kb):
    ids = [concept.concept_id for concept in kb]
    for rule, gone in (
        (Rule("exclude", concept="M:1"), {"M:1"}),
        (Rule("exclude", concept="M:1", condition="subtree"), {"M:1", "M:2", "M:3"}),
        (Rule("exclude", type="T028"), {"M:6"}),
    ):
        subset = applied(kb, rule).subset("DISEASE", None, frozenset())
        assert set(ids) - set(subset.allowed(ids)) == gone


def test_only_what_is_allowed_is_linked_to_and_for_one_label_if_it_is_said(kb):
    found = applied(
        kb,
        Rule("allow", concept="M:2", condition="subtree", label="Disease"),
        Rule("allow", concept="M:4", label="DISEASE"),
        Rule("exclude", concept="M:3"),
    )
    ids = [concept.concept_id for concept in kb]
    subset = found.subset("DISEASE", frozenset({"T047"}), frozenset())
    assert set(subset.allowed(ids)) == {"M:2", "M:4"}
    other = found.subset("CHEMICAL", None, frozenset())
    assert set(ids) - set(other.allowed(ids)) == {"M:3"}
    assert found.restricting("M:3", "DISEASE").action == "exclude"
    assert found.restricting("M:1", "DISEASE").action == "allow"
    assert found.restricting("M:2", "DISEASE") is None


def test_what_the_vocabulary_does_not_have_is_counted(kb):
    rules = (
        Rule("add", "x", concept="M:99"),
        Rule("exclude", type="T999"),
        Rule("prefer", concept="M:1", instead_of="M:99"),
        Rule("add", "x", concept="M:1"),
    )
    assert applied(kb, *rules).unknown == list(rules[:3])


def test_the_vocabulary_s_own_changes_are_there_under_the_rules():
    kb = ConceptKB.build(CONCEPTS)
    kb.add(Concept("N:1", "Novel disease", (), ("T047",), parents=("M:1",)))
    kb.remove("M:6")
    ruled = kb.with_rules([Rule("exclude", concept="M:1", condition="subtree")])
    assert ids(ruled, "novel disease") == ["N:1"]
    assert ids(ruled, "CAD") == ["M:3"]
    subset = ruled.applied_rules.subset("D", None, frozenset())
    concept_ids = [concept.concept_id for concept in kb]
    gone = {"M:1", "M:2", "M:3", "N:1"}
    assert set(concept_ids) - set(subset.allowed(concept_ids)) == gone
    ruled.add_names("N:1", ["new one"])
    assert ids(kb, "new one") == []


def test_a_vocabulary_that_has_changed_is_prepared_anew(tmp_path):
    kb = ConceptKB.build(CONCEPTS)
    path = tmp_path / "rules.tsv"
    path.write_text("action\tstring\tconcept\nadd\tnew name\tN:1\n")
    source = CurationFile(str(path))
    with pytest.warns(UserWarning, match=r"1 of 1 rules name unknown concepts .* line 2"):
        assert ids(source.over(kb), "new name") == []
    kb.add(Concept("N:1", "Novel disease"))
    assert ids(source.over(kb), "new name") == ["N:1"]


def test_the_vocabulary_s_own_rules_count_beside_those_of_a_file():
    kb = ConceptKB.build(CONCEPTS)
    assert CurationFile(None).over(kb) is kb
    kb.apply([Rule("exclude", "cold"), Rule("add", "chill", concept="M:4")])
    found = CurationFile(None).over(kb)
    assert not found.applied_rules.constraint("cold", "D").is_mention
    assert ids(found, "chill") == ["M:4"]
