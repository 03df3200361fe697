"""Text as it stands in notes: what is made keeps its mentions, and is cut into the right tokens."""

import random

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from support.helpers import ROOT
from support.scripts import load_script
from thinc.api import Config

from spacy_angel.corpora.biomedical_tokens import (
    SLASHED,
    add_biomedical_tokens,
    make_biomedical_tokenizer,
)
from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.corpora.note_text import as_list, as_written, in_letters, restyled
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.linking.settings.loaders import SHIPPED_PIPELINE

invented_note = load_script("scripts/notes.py").invented_note
LINES = ROOT / "tests/fixtures/corpora/clinical_lines.jsonl"
POOLS = [
    {"DISEASE": ["Gout", "DM2", "chest pain"], "CHEMICAL": ["Warfarin"]},
    {"DISEASE": ["Asthma"]},
]


@pytest.fixture(scope="module")
def nlp():
    pipeline = spacy.blank("en")
    add_biomedical_tokens(pipeline)
    return pipeline


def document(text, *names):
    mentions = [GoldMention(text.index(n), text.index(n) + len(n), n, "DISEASE") for n in names]
    return CorpusDocument("1", text, tuple(mentions))


def words(nlp, text):
    return [token.text for token in nlp(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CAD s/p CABG, w/o SOB.", ["CAD", "s/p", "CABG", ",", "w/o", "SOB", "."]),
        ("H/O stroke", ["H/O", "stroke"]),
        ("C/o headache", ["C/o", "headache"]),
        ("-cough •fever", ["-", "cough", "•", "fever"]),
        ("2)anemia 1.Gout", ["2)", "anemia", "1.", "Gout"]),
        ("HTN->CKD", ["HTN", "->", "CKD"]),
        ("HTN/DM2", ["HTN", "/", "DM2"]),
        ("beta-blocker 2.5mg", ["beta", "-", "blocker", "2.5", "mg"]),
        ("Trp53-/- (Cre+)", ["Trp53", "-/-", "(", "Cre", "+", ")"]),
        ("CD4(+) CD11c+CD8-", ["CD4", "(", "+", ")", "CD11c", "+", "CD8-"]),
        ("KCa3.1-/-/APP", ["KCa3.1", "-/-", "/", "APP"]),
        ("Kras(G12D)-induced", ["Kras", "(", "G12D", ")", "-", "induced"]),
        ("[Ca]i of Na+-K+", ["[", "Ca", "]", "i", "of", "Na", "+", "-", "K", "+"]),
        ("ADH1C*1 and apoE.", ["ADH1C", "*", "1", "and", "apoE", "."]),
        ("Tp53+/− Foxp3⁺CD4⁺", ["Tp53", "+/−", "Foxp3", "⁺", "CD4", "⁺"]),
        ("10 µM. IFN-γR.", ["10", "µM", ".", "IFN", "-", "γR", "."]),
        ("del(8)(p23) 10(-8)M", ["del", "(", "8", ")", "(", "p23", ")", "10", "(", "-8", ")", "M"]),
        ("gene(s), p<0.05 [1]", ["gene", "(", "s", ")", ",", "p<0.05", "[", "1", "]"]),
        ("1,000 and/or C++ :( E. coli", ["1,000", "and/or", "C++", ":(", "E.", "coli"]),
    ],
)
def test_tokens(nlp, text, expected):
    assert words(nlp, text)[: len(expected)] == expected


def test_tokenizer_is_saved_and_added_by_a_config(nlp, tmp_path):
    nlp.to_disk(tmp_path)
    text = " ".join(SLASHED)
    assert words(spacy.load(tmp_path), text) == list(SLASHED)
    other = make_biomedical_tokenizer()(spacy.blank("en"))
    assert words(other, text) == list(SLASHED)
    config = Config().from_disk(ROOT / "configs/ner_mini.cfg", interpolate=False)
    name = config["initialize"]["before_init"]["@callbacks"]
    assert f"{name} = {make_biomedical_tokenizer.__module__}:" in (ROOT / "setup.cfg").read_text()


def test_letters():
    gout = document("Gout in Straße, İzmir's gout-free", "Gout")
    upper = in_letters(gout, "upper")
    assert upper.text == "GOUT IN STRAßE, İZMIR'S GOUT-FREE"
    assert [(m.start, m.end, m.text) for m in upper.mentions] == [(0, 4, "GOUT")]
    assert in_letters(gout, "lower").text == "gout in straße, İzmir's gout-free"
    assert in_letters(document("type 2 diabetes", "diabetes"), "title").text == "Type 2 Diabetes"
    assert in_letters(gout, "as it is") == gout


def test_sentences_become_items():
    text = "Gout of the toe. Asthma: Mild. Pain. relief"
    marked = document(text, "Gout of the toe", "Asthma")
    seen = set()
    for seed in range(40):
        made = as_list(marked, random.Random(seed))
        assert [m.text for m in made.mentions] == ["Gout of the toe", "Asthma"]
        assert all(made.text[m.start : m.end] == m.text for m in made.mentions)
        seen.add(made.text)
    assert "Gout of the toe.\n- Asthma:\n- Mild.\n- Pain. relief" in seen
    assert "Gout of the toe.\n2) Asthma:\n3) Mild.\n4) Pain. relief" in seen


def test_a_mention_over_two_sentences_is_not_cut():
    one = document("Rett vs. Down and more", "Rett vs. Down")
    assert as_list(one, random.Random(0)).text == one.text


def test_half_of_the_names_are_lower_case_but_for_capitals_inside():
    chance = random.Random(0)
    assert {as_written("Gout", chance) for _ in range(20)} == {"Gout", "gout"}
    assert {as_written("GnRH", chance) for _ in range(20)} == {"GnRH"}


@given(st.integers(0, 10_000))
def test_mentions_of_what_is_made_are_where_they_say(seed):
    note = invented_note(POOLS, random.Random(seed))
    again = invented_note(POOLS, random.Random(seed))
    assert note == again
    abstract = document("Gout of 3 men. Chest pain: not Asthma.", "Gout", "Chest pain", "Asthma")
    for made in (note, restyled(abstract, random.Random(seed))):
        for mention in made.mentions:
            assert made.text[mention.start : mention.end] == mention.text
            assert mention.text == mention.text.strip()
        ends = [end for m in made.mentions for end in (m.start, m.end)]
        assert ends == sorted(ends)


def test_notes_have_names_of_all_pools_and_lines_without():
    chance = random.Random(0)
    notes = [invented_note(POOLS, chance) for _ in range(60)]
    names = {mention.text.lower() for note in notes for mention in note.mentions}
    assert {"gout", "dm2", "chest pain", "warfarin", "asthma"} <= names
    assert any("s/p CABG" in note.text for note in notes)
    assert any(line.isupper() for note in notes for line in note.text.splitlines())


def test_the_lines_to_count_with_are_marked_rightly():
    lines = list(read_corpus(LINES))
    assert len(lines) == 43
    assert sum(len(line.mentions) for line in lines) == 91
    assert sum(not line.mentions for line in lines) == 4


def test_the_pipeline_that_ships_finds_the_mentions_of_notes():
    """Of 91 mentions in 43 lines of notes; a recogniser of abstracts alone found 66 of them, and 11
    that are none."""
    nlp = spacy.load(SHIPPED_PIPELINE, disable=["abbreviation_detector", "angel_linker"])
    found = right = 0
    for line in read_corpus(LINES):
        gold = {(m.start, m.end, m.label) for m in line.mentions}
        predicted = {(e.start_char, e.end_char, e.label_) for e in nlp(line.text).ents}
        found += len(predicted)
        right += len(gold & predicted)
    assert right >= 88
    assert found - right <= 5
    [denied] = nlp("Denies cough.").ents
    assert denied.text == "cough"
    assert [e.text for e in nlp("Pt with CAD s/p CABG").ents] == ["CAD"]
