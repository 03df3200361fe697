"""Noise: what each kind does, written out; offsets; the same again from the same seed."""

import random
import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.corpora.noise import (
    KINDS,
    Noise,
    add_noise,
    add_noise_to_words,
    choose_edits,
    noisy_document,
)
from spacy_angel.errors import AngelError

SEEDS = range(400)


def document(text, *mentions, **values):
    gold = tuple(
        GoldMention(text.index(m), text.index(m) + len(m), m, "Disease", f"D{n}")
        for n, m in enumerate(mentions)
    )
    return CorpusDocument("1", text, gold, **values)


def all_of(text, kind):
    """Everything that one edit of a kind can make of a text."""
    return {add_noise(text, kind, 1, random.Random(seed)) for seed in SEEDS}


def by_one_letter_or_swap(old, new):
    """As long as before, and one letter differs, or two neighbours stand in each other's place."""
    differing = [at for at, pair in enumerate(zip(old, new, strict=True)) if pair[0] != pair[1]]
    if len(differing) == 1:
        return old[differing[0]].isalpha() and new[differing[0]].isalpha()
    one, two = differing
    return two == one + 1 and (old[one] + old[two]).lower() == (new[two] + new[one]).lower()


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("swapped", "Gout", {"Ogut", "Guot", "Gotu"}),
        ("swapped", "aab", {"aba"}),
        ("missing", "Gout", {"out", "Gut", "Got", "Gou"}),
        ("missing", "B 12", {"B 12"}),
        ("doubled", "Gout", {"Ggout", "Goout", "Gouut", "Goutt"}),
        ("doubled", "MD", {"MMD", "MDD"}),
        ("keyboard", "q", {"w", "a"}),
        ("keyboard", "G", {"F", "H", "T", "V", "B", "Y"}),
        ("ocr", "corn", {"eorn", "com", "c0rn", "corri"}),
        ("ocr", "modern", {
                "rnodern", "nnodern", "m0dern", "moclern", "modcrn", "modem", "moderri"}),
        ("spelling", "Anaemia", {"Anemia"}),
        ("spelling", "leukemia", {"leukaemia"}),
        ("spelling", "TUMOUR", {"TUMOR"}),
        ("spelling", "lymphedema of the esophagus", {
            "lymphoedema of the esophagus", "lymphedema of the oesophagus"}),
        ("spelling", "chemotherapy", {"chemotherapy"}),
        ("hyphen", "B-cell lymphoma", {"B cell lymphoma", "Bcell lymphoma", "B-cell-lymphoma"}),
        ("order", "lung cancer", {"cancer lung", "cancer, lung"}),
        ("order", "heart heart", {"heart heart"}),
        ("plural", "bone metastases", {"bone metastasis"}),
        ("plural", "stenosis", {"stenoses"}),
        ("plural", "heart diseases", {"heart disease"}),
        ("plural", "myopathies", {"myopathy"}),
        ("plural", "Leukodystrophy (X)", {"Leukodystrophies (X)"}),
        ("plural", "virus", {"viruses"}),
        ("plural", "abscesses", {"abscess"}),
        ("plural", "MLD", {"MLDs"}),
        ("plural", "TUMORS", {"TUMOR"}),
        ("case", "heart attack", {"HEART ATTACK", "Heart attack", "Heart Attack"}),
        ("blank", "small cell cancer", {"smallcell cancer", "small cellcancer"}),
    ],
)  # fmt: skip
def test_one_edit_written_out(kind, text, expected):
    assert all_of(text, kind) == expected


def test_a_typo_is_one_letter_changed_or_two_swapped():
    made = all_of("Heart attack 2", "typo")
    assert all(by_one_letter_or_swap("Heart attack 2", text) for text in made)
    assert {"Ehart attack 2", "Heart atatck 2"} < made
    assert len(made & all_of("Heart attack 2", "swapped")) == 8  # all but two equal letters


def test_mixed_noise_is_of_every_kind_but_a_letter_by_chance():
    made = {add_noise("T-cell tumour", "mixed", 1, random.Random(seed)) for seed in range(4000)}
    single = set().union(
        *(all_of("T-cell tumour", kind) for kind in KINDS if kind not in ("mixed", "typo"))
    )
    assert made <= single
    assert all(made & all_of("T-cell tumour", kind) for kind in KINDS if kind != "typo")


def test_two_edits_begin_with_the_first_and_are_apart():
    for seed in range(50):
        one = choose_edits("myocardial infarction", "typo", 1, random.Random(seed))
        two = choose_edits("myocardial infarction", "typo", 2, random.Random(seed))
        assert set(one) < set(two)
        assert two[0].end <= two[1].start
    assert choose_edits("myocardial", "typo", 0, random.Random(0)) == []
    assert len(choose_edits("MI", "typo", 5, random.Random(0))) <= 2  # no more places


def test_mentions_get_noise_and_keep_their_offsets():
    text = "A heart attack, then heart failure; no gout."
    plain = document(text, "heart attack", "heart failure", title_end=15)
    noisy = noisy_document(plain, Noise("missing", 1), seed=3)
    assert [len(m.text) for m in noisy.mentions] == [11, 12]
    assert all(noisy.text[m.start : m.end] == m.text for m in noisy.mentions)
    assert noisy.text.endswith("; no gout.")
    assert noisy.title_end == 14
    assert noisy.text[: noisy.title_end].endswith(",")
    assert [m.concept_ids for m in noisy.mentions] == ["D0", "D1"]
    assert noisy.steps == ("noise=missing:1",)
    assert noisy_document(plain, Noise("typo", 0)).text == text


def test_an_edit_in_a_nested_mention_counts_for_both():
    plain = document("hereditary breast cancer", "breast cancer", "hereditary breast cancer")
    for seed in range(30):
        noisy = noisy_document(plain, Noise("missing", 1), seed)
        inner, outer = noisy.mentions
        assert (len(inner.text), len(outer.text)) == (12, 23)
        assert noisy.text == outer.text
        two = noisy_document(plain, Noise("missing", 2), seed)
        assert [len(m.text) for m in two.mentions] == [11, 22]


def test_no_edit_reaches_over_the_edge_of_another_mention():
    crossing = document("breast ovarian cancer", "breast ovarian", "ovarian cancer")
    for kind in KINDS:
        for seed in range(30):
            noisy = noisy_document(crossing, Noise(kind, 2), seed)
            one, two = noisy.mentions
            assert all(noisy.text[m.start : m.end] == m.text for m in noisy.mentions)
            assert one.start < two.start < one.end < two.end


def test_a_mention_has_its_noise_whatever_else_is_marked():
    text = "gout and diabetes"
    both = noisy_document(document(text, "gout", "diabetes"), Noise())
    alone = noisy_document(document(text, "diabetes"), Noise())
    assert both.mentions[1].text == alone.mentions[0].text != "diabetes"
    other = noisy_document(CorpusDocument("2", text, both.mentions[:0]), Noise())
    assert other.text == text
    seeds = {noisy_document(document(text, "diabetes"), Noise(), seed).text for seed in range(20)}
    assert len(seeds) > 10


def test_parts_of_a_composite_get_noise_of_their_own():
    mention = GoldMention(0, 20, "renal failure/crisis", "", "D1|D2", ("renal failure", "crisis"))
    noisy = noisy_document(CorpusDocument("1", mention.text, (mention,)), Noise("missing"))
    assert [len(part) for part in noisy.mentions[0].parts] == [12, 5]


def test_context_gets_noise_outside_of_mentions():
    text = "The patient complained of gout again."
    noisy = noisy_document(document(text, "gout"), Noise("missing", 0, context=1.0))
    assert noisy.mentions[0].text == "gout"
    assert [len(word) for word in noisy.text.split()] == [2, 6, 9, 1, 4, 5]
    assert noisy.text[noisy.mentions[0].start : noisy.mentions[0].end] == "gout"
    assert noisy.steps == ("noise=missing:0:1",)
    words = "one two three four five six seven eight nine ten " * 100
    chance = random.Random(0)
    changed = add_noise_to_words(words, "typo", 0.2, chance).split()
    share = sum(a != b for a, b in zip(words.split(), changed, strict=True)) / 1000
    assert 0.16 < share < 0.24


def test_the_same_in_every_process():
    """Not the hash of a string, which Python salts."""
    code = (
        "from spacy_angel.corpora.noise import *\n"
        "from spacy_angel.corpora.documents import *\n"
        "d = CorpusDocument('7', 'heart attack', (GoldMention(0, 12, 'heart attack'),))\n"
        "print(*[noisy_document(d, Noise('mixed', 2), seed).text for seed in range(20)], sep='|')"
    )
    printed = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
        for _ in range(2)
    }
    assert len(printed) == 1
    assert len(printed.pop().split("|")) == 20


@given(st.text(max_size=30), st.sampled_from(sorted(KINDS)), st.integers(0, 3), st.integers(0, 99))
def test_edits_are_in_order_and_change_something(text, kind, number, seed):
    edits = choose_edits(text, kind, number, random.Random(seed))
    assert len(edits) <= number
    assert all(start < end <= len(text) for start, end, _ in edits)
    assert all(text[start:end] != new for start, end, new in edits)
    assert all(one.end <= two.start for one, two in pairwise(edits))
    assert add_noise(text, kind, number, random.Random(seed)) == add_noise(
        text, kind, number, random.Random(seed)
    )


def test_what_is_no_noise_is_named():
    with pytest.raises(AngelError, match=r"'tpyo'.*typo, keyboard"):
        Noise("tpyo")
    with pytest.raises(AngelError, match=r"got -1 and 0\.0"):
        Noise("typo", -1)
    with pytest.raises(AngelError, match=r"got 1 and 1\.5"):
        Noise("typo", 1, 1.5)


@pytest.mark.parametrize("kind", ["missing", "mixed"])
def test_a_letter_is_left(kind):
    text = "HD and X are rare"
    mentions = (GoldMention(0, 2, "HD", "Disease", "D:1"), GoldMention(7, 8, "X", "Disease", "D:2"))
    for seed in range(60):
        noisy = noisy_document(CorpusDocument("1", text, mentions), Noise(kind, 3), seed)
        assert all(mention.text.strip() for mention in noisy.mentions)
