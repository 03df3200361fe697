import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from support.helpers import shared_data

from spacy_angel.corpora.abbreviations import DETECTORS
from spacy_angel.corpora.docs import from_doc, to_doc
from spacy_angel.corpora.documents import CorpusDocument, CorpusReport, GoldMention
from spacy_angel.corpora.formats.bioc import write_bioc_json
from spacy_angel.corpora.preprocessing import (
    PUBLISHED,
    Preprocessing,
    longest_mentions,
    preprocess,
    spell_out_parts,
)
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.corpora.text_changes import (
    blank_punctuation,
    expand_abbreviations,
    lowercase,
)
from spacy_angel.errors import AngelError
from spacy_angel.model.mention import Mention
from spacy_angel.training.data.corpus import label_mentions
from spacy_angel.vocabulary.names.concepts import normalize_name
from spacy_angel.vocabulary.names.identifiers import split_ids

APC = ("APC", "adenomatous polyposis coli")


def document(text, *mentions, ids="", title_end=None):
    """Mentions by their text, the first occurrence each, or (text, start)."""
    found = []
    for mention in mentions:
        part, start = mention if isinstance(mention, tuple) else (mention, text.index(mention))
        found.append(GoldMention(start, start + len(part), part, "", ids))
    return CorpusDocument("1", text, tuple(found), title_end=title_end)


def texts(document):
    return [mention.text for mention in document.mentions]


def sound(document):
    return all(document.text[m.start : m.end] == m.text for m in document.mentions)


def test_abbreviations_are_expanded_as_whole_words_in_mentions():
    before = document("APC and APC2, the APC tumour.", "APC tumour")
    after, number = expand_abbreviations(before, [APC])
    assert after.text == "APC and APC2, the adenomatous polyposis coli tumour."
    assert texts(after) == ["adenomatous polyposis coli tumour"]
    assert number == 1
    after, number = expand_abbreviations(before, [APC], "text")
    assert after.text.startswith("adenomatous polyposis coli and APC2, the adenomatous")
    assert (sound(after), number) == (True, 2)


def test_composites_are_split_before_their_punctuation_goes():
    before = document("Breast/ovarian Tumours of APC", "Breast/ovarian Tumours", ids="D1|D2")
    steps = Preprocessing(biosyn=True)
    (after,) = preprocess([before], steps)
    assert texts(after) == ["breast ovarian tumors"]
    assert after.mentions[0].parts == ("breast tumors", "ovarian tumors")
    given = replace(before.mentions[0], parts=("Breast APC", "Tumour X"))
    assert spell_out_parts(given) == given
    with_parts = replace(before, mentions=(given,))
    assert lowercase(with_parts).mentions[0].parts == ("breast apc", "tumour x")
    expanded, number = expand_abbreviations(with_parts, [APC])
    assert expanded.mentions[0].parts == ("Breast adenomatous polyposis coli", "Tumour X")
    assert number == 0  # occurrences in the text


def test_what_is_left_out_is_counted():
    base = document("fever and ache and cold", "fever", "ache", "cold")
    ids = ["MESH:D1|MESH:D2", "MESH:D3", ""]
    mentions = [replace(m, concept_ids=i) for m, i in zip(base.mentions, ids, strict=True)]
    before = replace(base, mentions=tuple(mentions))
    report = CorpusReport()
    steps = Preprocessing(unknown="drop")
    (after,) = preprocess([before], steps, known={"MESH:D1", "MESH:D3"}, report=report)
    assert texts(after) == ["ache"]
    assert report.counts == {"unknown_left_out": 2}
    report = CorpusReport()
    (after,) = preprocess([before], Preprocessing(composites="drop"), report=report)
    assert texts(after) == ["ache", "cold"]
    assert report.counts == {"composites_left_out": 1}
    nested = replace(before, mentions=(*mentions, GoldMention(0, 14, "fever and ache")))
    report = CorpusReport()
    (after,) = preprocess([nested], Preprocessing(overlaps="longest"), report=report)
    assert texts(after) == ["cold", "fever and ache"]
    assert report.counts == {"overlapping_left_out": 2}


def test_wrong_settings_are_refused():
    with pytest.raises(AngelError, match="overlaps has no choice 'first'"):
        Preprocessing(**{"overlaps": "first"})
    with pytest.raises(AngelError, match="known="):
        preprocess([], Preprocessing(unknown="drop"))


@st.composite
def documents(draw):
    text = draw(st.text("aAbB -(.)İ\u00a0", max_size=30))
    words = [at for at, c in enumerate(text) if not c.isspace()]
    mentions = []
    for _ in range(draw(st.integers(0, 4)) if words else 0):
        start, end = sorted(draw(st.tuples(st.sampled_from(words), st.sampled_from(words))))
        mentions.append(GoldMention(start, end + 1, text[start : end + 1], "", "MESH:D1"))
    return CorpusDocument("1", text, tuple(mentions), title_end=len(text) // 2)


@settings(max_examples=300, deadline=None)
@given(before=documents())
def test_offsets_stay_right(before):
    pairs = [("A", "long form"), ("B", ""), ("aA", "x"), ("b-B", "alpha beta")]
    for where in ("mentions", "text"):
        after, _ = expand_abbreviations(before, pairs, where)
        assert sound(after)
        assert len(after.mentions) == len(before.mentions)
    assert sound(lowercase(before))
    assert len(lowercase(before).text) == len(before.text)
    after = blank_punctuation(before)
    assert sound(after)
    alone = CorpusDocument("1", before.text, before.mentions[:1])
    for mention in blank_punctuation(alone).mentions:
        name = normalize_name(mention.text)
        assert mention.text == name or not name or "İ" in mention.text
    for old, new in zip(before.mentions, after.mentions, strict=True):
        assert normalize_name(new.text) == normalize_name(old.text)
        assert new.text
        assert new.text == new.text.strip()
    kept = sorted(longest_mentions(before.mentions), key=lambda m: m.start)
    assert all(one.end <= other.start for one, other in pairwise(kept))
    for mention in before.mentions:
        overlapping = [m for m in kept if m.start < mention.end and mention.start < m.end]
        assert max(len(m.text) for m in overlapping) >= len(mention.text)


def test_ncbi_disease_trains_on_5784_mentions():
    """As published: train and development, document 8528200 once, MeSH ids before OMIM ids, then
    without composites (ANGEL, table A)."""
    both = [
        document
        for split in ("train", "develop")
        for document in read_corpus(shared_data(f"ncbi-disease/NCBI{split}set_corpus.txt"))
    ]
    assert sum(len(document.mentions) for document in both) == 5134 + 787
    report = CorpusReport()
    steps = replace(PUBLISHED["ncbi-disease-train"], abbreviations="keep", unknown="keep")
    mentions = [m for d in preprocess(both, steps, report=report) for m in d.mentions]
    assert len(mentions) == 5784
    assert report.counts["auxiliary_ids"] == 8
    assert report.counts["composites_left_out"] == 137
    assert all(m.text == normalize_name(m.text) for m in mentions)


# The mentions alone, as released


def marked(monkeypatch, text, mention, ids, long, **steps):
    """What is read in the mention's place."""
    monkeypatch.setitem(DETECTORS, "ab3p", lambda: lambda text: long)
    steps = Preprocessing(abbreviations="ab3p", **steps)
    (after,) = preprocess([document(text, mention, ids=ids)], steps)
    assert after.text.lower() == text.lower()
    assert after.mentions[0].text.lower() == mention.lower()
    return after.mentions[0].read_as


@pytest.mark.parametrize(
    ("mention", "long", "steps", "read"),
    [
        # as in the released files, document and mention given in the test below
        ("A-T", [("A-T", "ataxia telangiectasia")], {"expand": "words"}, "ataxia telangiectasia"),
        ("SJS  type", [("SJS", "S J")], {"expand": "words", "biosyn": True}, "s j type"),
        ("PAH-deficient", [("PAH", "p h")], {"expand": "words"}, "PAH-deficient"),
        ("APC", [("APC", "first"), ("APC", "second")], {"expand": "words"}, "first"),
        ("SJS type", [("SJS", "S J")], {"expand": "whole"}, "SJS type"),
        ("SJS", [("SJS", "S J")], {"expand": "whole", "lowercase": True}, "s j"),
        ("A-T", [], {"expand": "words", "biosyn": True}, "a t"),
        ("Tumours", [], {"expand": "words", "biosyn": True}, "tumors"),
    ],
)
def test_only_the_marked_mention_changes(monkeypatch, mention, long, steps, read):
    text = f"SJS (a A-T) {mention} b"
    assert marked(monkeypatch, text, mention, "MESH:D1", long, **steps) == read


def test_marks_become_blanks_where_they_stand():
    before = document("Dizziness (fainting)", "Dizziness (fainting)")
    (after,) = preprocess([before], PUBLISHED["askapatient"])
    assert after.text == after.mentions[0].text == "dizziness  fainting "


def test_what_is_read_is_written_and_read_again(tmp_path):
    gold = GoldMention(0, 3, "A-T", "Disease", "MESH:D1", (), "ataxia telangiectasia")
    before = CorpusDocument("1", "A-T carriers", (gold,))
    write_bioc_json([before], tmp_path / "c.json")
    assert list(read_corpus(tmp_path / "c.json")) == [before]
    nlp = spacy.blank("en")
    assert from_doc(to_doc(before, nlp)) == before
    ((labelled,), _) = label_mentions([before], str)
    assert labelled.mention == Mention("ataxia telangiectasia", "", " carriers")


# Against the files that were given out


def marked_prompt(document, mention):
    """As `create_input` of the released code writes it, cut to no length."""
    parts = document.text[: mention.start], mention.read_as, document.text[mention.end :]
    left, text, right = (part.strip() for part in parts)
    return f"{left} START {text} END {right}".strip()


def test_released_prompts_of_ncbi_disease():
    """All 787, the documents in another order: the released code takes them as the file system
    lists them."""
    pytest.importorskip("pyab3p")
    folder = shared_data("published/ncbi")
    lines = (folder / "dev.source").read_text("utf8").splitlines()
    labels = (folder / "devlabel.txt").read_text("utf8").splitlines()
    documents = read_corpus(shared_data("ncbi-disease/NCBIdevelopset_corpus.txt"))
    steps = replace(PUBLISHED["ncbi-disease-released"], unknown="keep")
    ours = Counter(
        (marked_prompt(document, mention), frozenset(bare(mention.concept_ids)))
        for document in preprocess(documents, steps)
        for mention in document.mentions
    )
    theirs = Counter(
        (json.loads(line)[0].strip(), frozenset(label.split("|")))
        for line, label in zip(lines, labels, strict=True)
    )
    assert sum(theirs.values()) == 787
    assert not ours - theirs
    assert not theirs - ours


def bare(ids):
    return [concept_id.partition(":")[2] for concept_id in split_ids(ids)]


@pytest.mark.parametrize(
    ("split", "file", "mentions", "only_ours", "only_theirs"),
    [
        (
            "train",
            "CDR_TrainingSet.PubTator.txt",
            9285,
            # The files were made of an edition with other offsets here and there; where the parts
            # of a composite have one identifier, it is no composite here.
            {
                "puromycin aminonucleoside": 3,
                "hepatitis b virus": 1,
                "opistothonus, sensory and motor dysfunction": 1,
            },
            {"puromycin aminonucleoside,": 3, "hbsag- positive": 1},
        ),
        (
            "dev",
            "CDR_DevelopmentSet.PubTator.txt",
            9515,
            {"cerebral artery and the venous sinus occlusion": 1},
            {"cerebral artery": 1},
        ),
    ],
)
def test_released_mentions_of_bc5cdr(split, file, mentions, only_ours, only_theirs):
    pytest.importorskip("pyab3p")
    folder = shared_data("published/bc5cdr")
    lines = (folder / f"{split}.target").read_text("utf8").splitlines()
    labels = (folder / f"{split}label.txt").read_text("utf8").splitlines()
    assert len(lines) == mentions
    theirs = Counter(
        (json.loads(line)[0].removesuffix(" is"), label)
        for line, label in zip(lines, labels, strict=True)
    )
    known = {f"MESH:{label}" for label in labels}
    documents = read_corpus(shared_data(f"bc5cdr/{file}"))
    ours = Counter(
        (mention.read_as, mention.concept_ids.partition(":")[2])
        for document in preprocess(documents, PUBLISHED["bc5cdr-released"], known=known)
        for mention in document.mentions
    )
    assert {text: n for (text, _), n in (ours - theirs).items()} == only_ours
    assert {text: n for (text, _), n in (theirs - ours).items()} == only_theirs


def test_released_phrases_of_askapatient():
    folder = shared_data("published/aap")
    lines = (folder / "fold0.dev.source").read_text("utf8").splitlines()
    documents = read_corpus(shared_data("aap/AskAPatient.fold-0.validation.txt"))
    ours = [
        f"START {document.mentions[0].text} END"
        for document in preprocess(documents, PUBLISHED["askapatient-released"])
    ]
    assert ours == [json.loads(line)[0] for line in lines]
    assert len(ours) == 845
