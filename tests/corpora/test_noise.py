"""Noise: what it makes of a text, and the same again from the same seed."""

import random

import pytest
from support.scripts import load_script

from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.corpora.noise import add_noise, choose_edits
from spacy_angel.errors import AngelError

noisy_document = load_script("scripts/noise.py").noisy_document


@pytest.mark.parametrize(
    ("kind", "text", "expected", "never"),
    [
        ("typo", "Gout", {"Ogut", "Gotu", "Aout", "Goux"}, {"Gout", "Gou", "gout"}),
        ("mixed", "Gout", {"Guot", "Gut", "Goout", "Fout", "G0ut", "Gouts", "GOUT"}, {"Gout"}),
        ("mixed", "B 12", {"BB 12"}, {" 12"}),
        ("mixed", "corn", {"eorn", "com", "c0rn", "corri"}, {"corn"}),
        ("mixed", "Anaemia", {"Anemia"}, {"Anaemia"}),
        ("mixed", "leukemia", {"leukaemia"}, {"leukemia"}),
        ("mixed", "TUMOUR", {"TUMOR"}, {"TUMOUR"}),
        ("mixed", "chemo", set(), {"chaemo"}),
        ("mixed", "B-cell line", {"B cell line", "Bcell line", "B-cell-line"}, set()),
        ("mixed", "lung cancer", {"cancer lung", "cancer, lung", "lungcancer"}, set()),
        ("mixed", "bone metastases", {"bone metastasis"}, set()),
        ("mixed", "stenosis", {"stenoses"}, set()),
        ("mixed", "heart diseases", {"heart disease"}, {"heart diseasis"}),
        ("mixed", "myopathies", {"myopathy"}, set()),
        ("mixed", "virus", {"viruses"}, set()),
        ("mixed", "MLD", {"MLDs", "MLLD"}, set()),
    ],
)
def test_one_edit(kind, text, expected, never):
    made = {add_noise(text, kind, 1, random.Random(seed)) for seed in range(1500)}
    assert expected <= made
    assert not made & never


def test_two_edits_begin_with_the_first_and_are_apart():
    for seed in range(50):
        one = choose_edits("myocardial infarction", "typo", 1, random.Random(seed))
        two = choose_edits("myocardial infarction", "typo", 2, random.Random(seed))
        assert set(one) < set(two)
        assert two[0][1] <= two[1][0]
    assert choose_edits("myocardial", "typo", 0, random.Random(0)) == []
    assert len(choose_edits("MI", "typo", 5, random.Random(0))) <= 2  # no more places
    with pytest.raises(AngelError, match=r"'tpyo'.*typo, mixed"):
        choose_edits("MI", "tpyo", 1, random.Random(0))


def test_documents_get_noise_in_mentions_and_context():
    text = "A heart attack, then heart failure; no gout."
    places = [(2, 14), (21, 34), (2, 7)]
    mentions = tuple(GoldMention(a, b, text[a:b], "Disease", f"D{a}") for a, b in places)
    before = CorpusDocument("1", text, mentions)
    for seed in range(20):
        noisy = noisy_document(before, "mixed", 2, seed=seed)
        assert all(noisy.text[m.start : m.end] == m.text != "" for m in noisy.mentions)
        assert noisy.text.endswith("; no gout.")
        assert noisy.steps == ("noise=mixed:2",)
    assert noisy_document(before, "typo", 0).text == text
    context = noisy_document(before, "typo", 0, context=1.0)
    assert [m.text for m in context.mentions] == [m.text for m in mentions]
    assert not context.text.endswith("gout.")
