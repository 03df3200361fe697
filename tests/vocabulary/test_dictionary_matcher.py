"""Names in running text."""

from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.lookup.dictionary_matcher import DictionaryMatcher
from spacy_angel.vocabulary.names.concepts import Concept


def kb_of(*names):
    return ConceptKB.build([Concept(f"A:{i}", name) for i, name in enumerate(names)])


def found(names, text, **settings):
    kb = names if isinstance(names, ConceptKB) else kb_of(*names)
    spans = DictionaryMatcher(kb, everything=True, **settings).find(text)
    return [text[start:end] for start, end, _ in spans]


def test_case_number_hyphens_and_typographic_marks_are_one():
    names = ["Heart attack", "Crohn's disease", "Non-small cell carcinoma", "Sj\u00f6gren syndrome"]
    text = (
        "HEART ATTACK, heart-attacks; Crohn\u2019s diseases, non\u2011small-cell carcinoma, "
        "Sjo\u0308gren syndrome"
    )
    assert found(names, text) == [
        "HEART ATTACK",
        "heart-attacks",
        "Crohn\u2019s diseases",
        "non\u2011small-cell carcinoma",
        "Sjo\u0308gren syndrome",
    ]


def test_the_longest_counts_and_only_whole_words():
    names = ["fever", "Snark fever", "fever of the snark", "snark"]
    assert found(names, "Snark fever, fever of the snark; feverish snarks") == [
        "Snark fever",
        "fever of the snark",
        "snarks",
    ]
    # not the one that comes first
    names = ["acute renal", "renal failure of pregnancy"]
    assert found(names, "acute renal failure of pregnancy") == ["renal failure of pregnancy"]


def test_no_name_reaches_over_the_end_of_a_sentence_or_a_bracket():
    names = ["heart attack", "St. Louis encephalitis", "Carcinoma (small cell)"]
    text = "His heart. Attack! heart\n\nattack heart (attack) heart, attack St. Louis encephalitis"
    assert found(names, text) == ["heart, attack", "St. Louis encephalitis"]
    assert found(
        names, "carcinoma (small cell) or carcinoma, small cell: St Louis encephalitis"
    ) == [
        "carcinoma (small cell)",
        "carcinoma, small cell",
        "St Louis encephalitis",
    ]


def test_what_is_short_or_common_or_a_number_is_not_looked_for():
    names = ["Rest", "ALL", "Ab", "100", "The other rest", "Resting"]
    text = "the other rest; Ab 100 ALL resting"
    assert found(names, text, min_length=3, stop_words=["rest", "the", "other"]) == [
        "ALL",
        "resting",
    ]


def test_what_is_removed_is_not_found_and_hides_nothing():
    kb = kb_of("Heart attack of the snark", "Heart attack", "Heart attacks")
    finder = DictionaryMatcher(kb, everything=True)
    text = "heart attack of the snark"
    assert [text[o.start : o.end] for o in finder.find(text)] == [text]
    kb.remove("A:0")
    kb.remove("A:1")
    ((start, end, name),) = finder.find(text)
    assert (text[start:end], kb.name(name)) == ("heart attack", "heart attacks")


def test_own_names_outlive_saving(tmp_path):
    kb = kb_of("Heart attack", "Fever")
    kb.add(Concept("MY:1", "Snark fever"))
    kb.add_names("A:1", ["pyrexia"])
    kb.to_disk(tmp_path / "kb")
    again = [ConceptKB.from_disk(tmp_path / "kb"), ConceptKB.from_bytes(kb.to_bytes())]
    for one in (*again, ConceptKB.merge([kb_of("Aspirin"), kb])):
        found = DictionaryMatcher(one).find("no pyrexia, no snark fever")
        assert [name[:2] for name in found] == [(3, 10), (15, 26)]
