from spacy_angel.corpora.abbreviations import scispacy_detector
from spacy_angel.corpora.long_forms import LongForm, collect_long_forms, write_long_forms

TEXTS = [
    "Prolymphocytic leukemia (PLL) is rare; PLL is aggressive.",
    "Of Prolymphocytic Leukemia (PLL) little is known.",
    "Seen were prolymphocytic leukemia (PLL) and multiple sclerosis (MS).",
    "Seen was mitral stenosis (MS).",
    "Nothing is defined here, but PLL is treated.",
]


def test_documents_are_counted_and_spellings_of_a_form_are_one():
    assert collect_long_forms(TEXTS, scispacy_detector()) == [
        LongForm("MS", "mitral stenosis", 1, 0.5),
        LongForm("PLL", "Prolymphocytic Leukemia", 3, 1.0),
    ]


def test_the_most_frequent_form_is_kept_with_its_share():
    pairs = iter([[("A", "b c"), ("A", "b c")], [("A", "B-c")], [("A", "cd")], [("B", "x")]])
    forms = collect_long_forms("1234", lambda _: next(pairs))
    assert forms == [LongForm("A", "B-c", 2, 2 / 3), LongForm("B", "x", 1, 1.0)]


def test_only_what_is_certain_is_written(tmp_path):
    forms = [
        LongForm("A", "alpha", 3, 0.8),
        LongForm("B", "beta", 3, 0.79),
        LongForm("C", "gamma", 1, 1.0),
        LongForm("D", "a | b", 9, 1.0),
        LongForm("E", 'called "e"', 9, 1.0),
    ]
    file = tmp_path / "long_forms.tsv"
    assert write_long_forms(forms, file, min_documents=2) == 1
    assert file.read_text() == "A\tshort form\talpha\n"
    assert write_long_forms(forms, file, min_share=0.5) == 3
