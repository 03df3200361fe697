"""What a recogniser learns from partly annotated corpora, with tags written out."""

import json
import re
from dataclasses import replace
from random import Random

import pytest
from support.helpers import SHIPPED_MODEL
from support.tiny_recogniser import LABELS

from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.errors import AngelError
from spacy_angel.recognition.finder import ENCODER_FIELDS, FinderConfig
from spacy_angel.recognition.found import FoundMention
from spacy_angel.recognition.words import WordReader
from spacy_angel.training.models.losses import IGNORE
from spacy_angel.training.recognizer.config import (
    RecognizerConfig,
    RecognizerCorpus,
    RecognizerData,
    RecognizerSettings,
    load_recognizer_config,
)
from spacy_angel.training.recognizer.data import (
    Annotated,
    digit_of,
    make_rows,
    read_texts,
    word_tags,
)
from spacy_angel.training.recognizer.layouts import rewrite_layout
from spacy_angel.training.recognizer.training import count_mentions
from spacy_angel.training.settings.config_tables import OptimizerSettings

READER = WordReader((SHIPPED_MODEL / "tokenizer.json").read_text(encoding="utf8"))
TEXT = "Sorafenib in renal cancer"
X = IGNORE


def annotated(mentions, labels):
    gold = tuple(
        GoldMention(TEXT.index(part), TEXT.index(part) + len(part), part, label)
        for part, label in mentions
    )
    return Annotated(CorpusDocument("1", TEXT, gold), frozenset(labels))


def tags(document):
    (words,) = READER([document.document.text])
    return word_tags(words, document, ("DISEASE", "CHEMICAL")).T.tolist()


def test_labels_that_a_corpus_does_not_annotate_are_open():
    assert tags(annotated([("renal cancer", "DISEASE")], {"DISEASE"})) == [
        [0, 0, 1, 2],
        [X, X, X, X],
    ]
    both = [("renal cancer", "DISEASE"), ("Sorafenib", "CHEMICAL")]
    assert tags(annotated(both, {"DISEASE", "CHEMICAL"})) == [[0, 0, 1, 2], [1, 0, 0, 0]]


def test_what_has_a_question_mark_or_ends_inside_a_word_is_open():
    labels = {"DISEASE", "CHEMICAL"}
    assert tags(annotated([("renal cancer", "DISEASE?")], labels))[0] == [0, 0, X, X]
    assert tags(annotated([("Sora", "CHEMICAL")], labels))[1] == [X, 0, 0, 0]
    # A mention within what is open stays; of two with one label the longer.
    within = [("renal cancer", "DISEASE?"), ("cancer", "DISEASE")]
    assert tags(annotated(within, labels))[0] == [0, 0, X, 1]
    nested = [("cancer", "DISEASE"), ("renal cancer", "DISEASE")]
    assert tags(annotated(nested, labels))[0] == [0, 0, 1, 2]


def config(path):
    labels = {"Disease": "DISEASE", "Gene": "GENE", "Cell": "CELL_TYPE", "Family": "GENE?", "X": ""}
    return RecognizerConfig(
        RecognizerSettings(LABELS, window=40, overlap=8),
        {"tiny": RecognizerCorpus(str(path), labels)},
        OptimizerSettings(1e-3),
        RecognizerData(choose=(0,), test=(1,), epochs=2),
    )


def row(doc_id, text, **mentions):
    found = [
        {"start": text.index(part), "end": text.index(part) + len(part), "label": label}
        for label, part in mentions.items()
    ]
    return json.dumps({"id": doc_id, "text": text, "mentions": found}) + "\n"


def test_articles_are_held_out_by_their_digit(tmp_path):
    ids = [str(10_000_000 + n) for n in range(60)]
    # Copies and parts of an article stay together.
    names = [f"{prefix}{i}{part}" for i in ids for prefix in ("", "PMID-") for part in ("", "#2")]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(row(i, f"Fever {i}.", Disease="Fever") for i in names))
    texts = vars(read_texts(config(path)))
    parts = {name: [a.document.doc_id for a in own] for name, own in texts.items()}
    assert sorted(i for part in parts.values() for i in part) == sorted(names)
    articles = [{re.search(r"\d{8}", i)[0] for i in part} for part in parts.values()]
    assert sum(map(len, articles)) == 60
    assert {digit_of(i) for i in parts["choose"]} == {0}
    assert {digit_of(i) for i in parts["test"]} == {1}


def test_labels_are_those_of_the_recogniser(tmp_path):
    path = tmp_path / "a.jsonl"

    def read(text, **mentions):
        path.write_text(row("n", text, **mentions))
        texts = read_texts(config(path))
        (only,) = texts.train + texts.choose + texts.test
        return only

    text = "patients with Fever, TP53 of the p53 family"
    only = read(text, Disease="Fever", Gene="TP53", Family="p53 family", X="with")
    assert {(m.text, m.label) for m in only.document.mentions} == {
        ("Fever", "DISEASE"),
        ("TP53", "GENE"),
        ("p53 family", "GENE?"),
    }
    assert only.labels == {"DISEASE", "GENE", "CELL_TYPE"}
    only = read("a p53", GENE_OR_GENE_PRODUCT="p53")
    assert [(m.text, m.label) for m in only.document.mentions] == [("p53", "GENE")]
    # The config has to map labels of other kinds.
    with pytest.raises(AngelError, match=r"the label .*'ProteinFamily'.*\[corpora.tiny.labels\]"):
        read("a p53", ProteinFamily="p53")


def test_counts_leave_out_what_is_open_and_what_nobody_annotated():
    mentions = [("renal cancer", "DISEASE"), ("Sorafenib", "CHEMICAL?")]
    text = annotated(mentions, {"DISEASE", "CHEMICAL"})
    found = [
        FoundMention(13, 25, "DISEASE", 0.9),
        FoundMention(19, 25, "DISEASE", 0.9),  # wrong
        FoundMention(0, 9, "CHEMICAL", 0.9),  # open
        FoundMention(10, 12, "CHEMICAL", 0.9),  # wrong
        FoundMention(0, 9, "GENE", 0.9),  # not annotated
    ]
    other = annotated([("renal cancer", "DISEASE")], {"DISEASE"})
    scores = count_mentions([text, other], [found, []])
    counts = {label: (one.tp, one.fp, one.fn) for label, one in scores.items()}
    assert counts == {"DISEASE": (1, 1, 1), "CHEMICAL": (0, 1, 0)}
    assert scores["DISEASE"].fscore == 0.5


def test_config_is_checked(tmp_path):
    file = tmp_path / "a.cfg"
    start = '[recogniser]\nlabels = ["DISEASE"]\n[optimizer]\nlearning_rate = 1e-4\n[corpora]\n'
    file.write_text(start + '[corpora.a]\npath = "a"\n[corpora.a.labels]\nGene = "GENE"\n')
    message = "'GENE' is none of DISEASE; no corpus annotates 'DISEASE'"
    with pytest.raises(AngelError, match=message):
        load_recognizer_config(file)
    file.write_text(start + '[corpora.a]\nfile = "a"\n[corpora.a.labels]\nDisease = "DISEASE"\n')
    with pytest.raises(AngelError, match=r"corpora\.a\.path: .*corpora\.a\.file"):
        load_recognizer_config(file)


def test_layouts_keep_mentions_and_begin_with_the_second_epoch():
    text = "MI, with Fever. Aspirin (ASA, 75 mg) was given; T. cruzi was not found."
    parts = ["MI", "MI", "Fever", "Aspirin (ASA, 75 mg)", "T. cruzi"]
    mentions = [GoldMention(text.index(p), text.index(p) + len(p), p, "DISEASE") for p in parts]
    mentions[0] = replace(mentions[0], label="DISEASE?")
    document = CorpusDocument("1", text, tuple(mentions))
    rewritten = [rewrite_layout(document, Random(seed)) for seed in range(60)]
    for one in rewritten:
        assert [m.text.lower() for m in one.mentions] == [p.lower() for p in parts]
        assert all(one.text[m.start : m.end] == m.text for m in one.mentions)
    rows = "MI | with Fever | Aspirin (ASA, 75 mg) was given | T. cruzi was not found."
    assert {text, text.lower(), text.upper(), rows} < {one.text for one in rewritten}

    texts = [Annotated(document, frozenset({"DISEASE"}))] * 20
    form = FinderConfig(("DISEASE",), 40, 8, dict.fromkeys(ENCODER_FIELDS, 40))

    def cases(share):
        data = RecognizerData(epochs=2, layouts=share)
        return [row.cases.tolist() for row in make_rows(texts, data, form, READER)]

    plain, changed = cases(0), cases(0.5)
    assert plain[:20] == changed[:20]
    assert plain != changed
