import json
from collections import Counter
from dataclasses import replace

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from support.helpers import shared_data

from spacy_angel.corpora.composites import first_part, parts_in_place
from spacy_angel.corpora.docs import from_doc, to_doc
from spacy_angel.corpora.documents import CorpusDocument, CorpusReport, GoldMention
from spacy_angel.corpora.formats.bioc import write_bioc_json
from spacy_angel.corpora.preprocessing import (
    PUBLISHED,
    Preprocessing,
    drop_auxiliary_omim,
    overlapping,
    preprocess,
    read_marked,
    spell_out_parts,
)
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.corpora.text_changes import (
    blank_punctuation,
    expand_abbreviations,
    lowercase,
    replace_spans,
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


def test_spans_are_replaced_and_everything_moves():
    before = document("An APC gene. The APC.", "APC gene", ("APC", 17), title_end=12)
    after = replace_spans(before, [(3, 6, "polyposis"), (17, 20, "polyposis")])
    assert after.text == "An polyposis gene. The polyposis."
    assert [(m.start, m.end) for m in after.mentions] == [(3, 17), (23, 32)]
    assert texts(after) == ["polyposis gene", "polyposis"]
    assert after.title_end == 18
    assert replace_spans(before, []) == before


def test_abbreviations_are_expanded_as_whole_words_in_mentions():
    before = document("APC and APC2, the APC tumour.", "APC tumour")
    after, number = expand_abbreviations(before, [APC])
    assert after.text == "APC and APC2, the adenomatous polyposis coli tumour."
    assert texts(after) == ["adenomatous polyposis coli tumour"]
    assert number == 1
    after, number = expand_abbreviations(before, [APC], "text")
    assert after.text.startswith("adenomatous polyposis coli and APC2, the adenomatous")
    assert (sound(after), number) == (True, 2)


def test_a_mention_that_holds_both_forms_stays():
    text = "adenomatous polyposis coli (APC) tumour"
    assert expand_abbreviations(document(text, text), [APC], "text")[0].text == text
    inside = document(text, "APC")
    assert texts(expand_abbreviations(inside, [APC])[0]) == ["adenomatous polyposis coli"]


def test_a_short_form_with_a_mention_boundary_inside_stays():
    before = document("B-cell leukaemia", "B")
    assert expand_abbreviations(before, [("B-cell", "bursa cell")], "text") == (before, 0)


def test_the_longest_short_form_and_the_first_long_form_count():
    before = document("FAP1 FAP", "FAP1", ("FAP", 5))
    pairs = [("FAP", "familial polyposis"), ("FAP1", "polyposis one"), ("FAP", "other")]
    assert texts(expand_abbreviations(before, pairs)[0]) == ["polyposis one", "familial polyposis"]


def test_punctuation_of_nested_and_of_bare_mentions():
    before = document("a + (X-Y) Z", "(X-Y) Z", "X-Y", "+")
    after, stayed = blank_punctuation(before)
    assert after.text == "a + x y z"
    assert texts(after) == ["x y z", "x y", "+"]
    assert stayed == 1


def test_auxiliary_omim_ids():
    mention = GoldMention(0, 1, "x", "", "MESH:C535918|OMIM:115470")
    assert drop_auxiliary_omim(mention).concept_ids == "MESH:C535918"
    for ids in ("OMIM:612446|OMIM:610102", "MESH:D1+MESH:D2", "OMIM:1", ""):
        assert drop_auxiliary_omim(replace(mention, concept_ids=ids)).concept_ids == ids
    mixed = replace(mention, concept_ids="OMIM:1+MESH:D1+MESH:D2")
    assert drop_auxiliary_omim(mixed).concept_ids == "MESH:D1+MESH:D2"


def test_composites_are_split_before_their_punctuation_goes():
    before = document("Breast/ovarian Tumours of APC", "Breast/ovarian Tumours", ids="D1|D2")
    steps = Preprocessing(punctuation=True, spelling=True)
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


def test_overlapping_mentions():
    one, two, three, four = document(
        "cystic fibrosis and sleep", "cystic fibrosis", "cystic", "sleep", ("fibrosis and", 7)
    ).mentions
    mentions = [two, one, three, four]
    assert overlapping(mentions, keep_longest=True) == {two, four}
    assert overlapping(mentions, keep_longest=False) == {one, two, four}
    assert overlapping([one, three], keep_longest=True) == set()


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


def test_the_output_records_the_steps():
    settings = Preprocessing(composites="drop", lowercase=True)
    (after,) = preprocess([document("Fever", "Fever")], settings)
    assert after.steps == ("composites=drop", "lowercase")
    (after,) = preprocess([after], Preprocessing(punctuation=True))
    assert after.steps == ("composites=drop", "lowercase", "punctuation")
    assert Preprocessing().steps == ()
    assert PUBLISHED["ncbi-disease-train"].steps == (
        "abbreviations=ab3p",
        "expand=mentions",
        "auxiliary_omim=drop",
        "composites=drop",
        "lowercase",
        "punctuation",
        "spelling",
        "unknown=drop",
    )


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
    after, _ = blank_punctuation(before)
    assert sound(after)
    alone = CorpusDocument("1", before.text, before.mentions[:1])
    for mention in blank_punctuation(alone)[0].mentions:
        name = normalize_name(mention.text)
        assert mention.text == name or not name or "İ" in mention.text
    for old, new in zip(before.mentions, after.mentions, strict=True):
        assert normalize_name(new.text) == normalize_name(old.text)
        assert new.text
        assert new.text == new.text.strip()
    lost = overlapping(before.mentions, keep_longest=True)
    kept = [m for m in set(before.mentions) if m not in lost]
    assert not overlapping(kept, keep_longest=False)


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


def marked(text, mention, ids, long=(), **steps):
    """What is read in the mention's place."""
    at = text.index(mention)
    gold = GoldMention(at, at + len(mention), mention, "", ids)
    before = CorpusDocument("1", text, (gold,))
    settings = Preprocessing(marked_only=True, **steps)
    after = read_marked(before, settings, long, CorpusReport())
    assert after.text == text
    assert after.mentions[0].text == mention
    return after.mentions[0].read_as


@pytest.mark.parametrize(
    ("mention", "long", "steps", "read"),
    [
        # as in the released files, document and mention given in the test below
        ("A-T", [("A-T", "ataxia telangiectasia")], {"expand": "words"}, "ataxia telangiectasia"),
        ("SJS  type", [("SJS", "S J")], {"expand": "words", "punctuation": True}, "s j type"),
        ("PAH-deficient", [("PAH", "p h")], {"expand": "words"}, "PAH-deficient"),
        ("APC", [("APC", "first"), ("APC", "second")], {"expand": "words"}, "first"),
        ("SJS type", [("SJS", "S J")], {"expand": "whole"}, "SJS type"),
        ("SJS", [("SJS", "S J")], {"expand": "whole", "lowercase": True}, "s j"),
        ("A-T", [], {"expand": "words", "punctuation": True}, "a t"),
        ("Tumours", [], {"expand": "words", "lowercase": True, "spelling": True}, "tumors"),
        ("renal hamartomas", [], {"expand": "words", "composites": "first"}, "renal"),
    ],
)
def test_only_the_marked_mention_changes(mention, long, steps, read):
    steps = {"abbreviations": "ab3p", **steps}
    assert marked(f"SJS (a A-T) {mention} b", mention, "MESH:D1|MESH:D2", long, **steps) == read


@pytest.mark.parametrize(
    ("mention", "first"),
    [
        ("breast and ovarian cancers", "breast cancers"),
        ("retinal, cerebellar and spinal tumors", "retinal, cerebellar and spinal tumors"),
        ("combined subtotal deficiencies of C6 and C7", "combined subtotal deficiencies of C6"),
        ("C6 or C7 deficiency", "C6 deficiency"),
        ("breast and 79 ovarian cancer", "breast ovarian cancer"),
        ("PLP-associated disease", "PLP-associated"),
        ("HPRT-APRT-deficient", "HPRT-APRT-deficient"),
        ("inherited disorder of skeletal muscle", "inherited disorder of skeletal muscle"),
    ],
)
def test_first_part_of_a_composite(mention, first):
    assert first_part(mention, 2) == first
    assert first_part("breast, ovarian, or other cancers", 3) == "breast cancers"


@pytest.mark.parametrize(
    ("mention", "parts", "found"),
    [
        ("simvastatin ezetimibe", ("simvastatin", "ezetimibe"), ["simvastatin", "ezetimibe"]),
        ("renal and hepatic toxicity", ("renal t", "hepatic t"), ["renal", "hepatic toxicity"]),
        ("renal or hepatic", ("renal", "hepatic"), ["renal", "hepatic"]),
        ("a and b and c", ("x", "y"), ["a", "b"]),
        ("renal, hepatic toxicity", ("renal toxicity", "hepatic toxicity"), []),
        ("choreoathetosis", (), []),
    ],
)
def test_parts_of_a_composite_in_place(mention, parts, found):
    assert [mention[start:end] for start, end in parts_in_place(mention, parts)] == found


def test_composites_become_mentions_of_their_parts():
    text = "no renal and hepatic toxicity, no choreoathetosis"
    parts = ("renal toxicity", "hepatic toxicity")
    one = GoldMention(3, 29, text[3:29], "Disease", "MESH:D1|MESH:D2", parts)
    two = GoldMention(34, 49, text[34:49], "Disease", "MESH:D3|MESH:D4")
    report = CorpusReport()
    (after,) = preprocess(
        [CorpusDocument("1", text, (one, two))], Preprocessing(composites="split"), report=report
    )
    assert after.mentions == (
        GoldMention(3, 8, "renal", "Disease", "MESH:D1"),
        GoldMention(13, 29, "hepatic toxicity", "Disease", "MESH:D2"),
    )
    assert report.counts == {"composites_split": 1, "composites_left_out": 1}


def test_marks_become_blanks_where_they_stand():
    before = document("Dizziness (fainting)", "Dizziness (fainting)")
    (after,) = preprocess([before], PUBLISHED["askapatient"])
    assert after.text == after.mentions[0].text == "dizziness  fainting "


@pytest.mark.parametrize(
    "steps",
    [
        {"composites": "first"},
        {"expand": "whole", "abbreviations": "ab3p"},
        {"marked_only": True, "abbreviations": "ab3p"},
        {"marked_only": True, "blank_marks": True},
    ],
)
def test_steps_that_do_not_go_together(steps):
    with pytest.raises(AngelError, match="cannot be combined"):
        Preprocessing(**steps)


def test_what_is_read_is_written_and_read_again(tmp_path):
    gold = GoldMention(0, 3, "A-T", "Disease", "MESH:D1", (), "ataxia telangiectasia")
    before = CorpusDocument("1", "A-T carriers", (gold,), steps=("marked_only",))
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
