"""What a recogniser learns from partly annotated corpora, with tags written out."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from support.helpers import SHIPPED_MODEL
from support.tiny_recogniser import LABELS

from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.errors import AngelError
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
    read_texts,
    word_tags,
)
from spacy_angel.training.recognizer.training import count_mentions
from spacy_angel.training.settings.config_tables import OptimizerSettings

READER = WordReader((SHIPPED_MODEL / "tokenizer.json").read_text(encoding="utf8"))
TEXT = "Sorafenib in renal cancer"
X = IGNORE


def annotated(mentions: list[tuple[str, str]], labels: set[str], text: str = TEXT) -> Annotated:
    gold = tuple(
        GoldMention(text.index(part), text.index(part) + len(part), part, label)
        for part, label in mentions
    )
    return Annotated(CorpusDocument("1", text, gold), frozenset(labels))


def tags(document: Annotated) -> list[list[int]]:
    (words,) = READER([document.document.text])
    return word_tags(words, document, ("DISEASE", "CHEMICAL")).T.tolist()


def test_labels_that_a_corpus_does_not_annotate_are_open() -> None:
    assert tags(annotated([("renal cancer", "DISEASE")], {"DISEASE"})) == [
        [0, 0, 1, 2],
        [X, X, X, X],
    ]
    both = annotated(
        [("renal cancer", "DISEASE"), ("Sorafenib", "CHEMICAL")], {*LABELS, "CHEMICAL"}
    )
    assert tags(both) == [[0, 0, 1, 2], [1, 0, 0, 0]]


def test_what_has_a_question_mark_or_ends_inside_a_word_is_open() -> None:
    labels = {"DISEASE", "CHEMICAL"}
    assert tags(annotated([("renal cancer", "DISEASE?")], labels))[0] == [0, 0, X, X]
    assert tags(annotated([("Sora", "CHEMICAL")], labels))[1] == [X, 0, 0, 0]
    # A mention within what is open stays; of two with one label the longer.
    within = [("renal cancer", "DISEASE?"), ("cancer", "DISEASE")]
    assert tags(annotated(within, labels))[0] == [0, 0, X, 1]
    nested = [("cancer", "DISEASE"), ("renal cancer", "DISEASE")]
    assert tags(annotated(nested, labels))[0] == [0, 0, 1, 2]


def config(path: Path, **corpus: Any) -> RecognizerConfig:
    labels = {"Disease": "DISEASE", "Gene": "GENE", "Cell": "CELL_TYPE", "Family": "GENE?", "X": ""}
    return RecognizerConfig(
        RecognizerSettings(LABELS, window=40, overlap=8),
        {"tiny": RecognizerCorpus(str(path), labels, **corpus)},
        OptimizerSettings(1e-3),
        RecognizerData(choose=(0,), test=(1,), epochs=2),
    )


def write(path: Path, rows: list[tuple[str, str, list[tuple[str, str]]]]) -> Path:
    """rows: id, text, parts of the text with their labels."""
    lines = []
    for doc_id, text, parts in rows:
        mentions = [
            {"start": text.index(part), "end": text.index(part) + len(part), "label": label}
            for part, label in parts
        ]
        lines.append(json.dumps({"id": doc_id, "text": text, "mentions": mentions}))
    path.write_text("\n".join(lines) + "\n", encoding="utf8")
    return path


def test_articles_are_held_out_by_their_digit(tmp_path: Path) -> None:
    ids = [str(10_000_000 + n) for n in range(60)]
    # Copies and parts of an article stay together.
    names = [f"{prefix}{i}{part}" for i in ids for prefix in ("", "PMID-") for part in ("", "#2")]
    rows = [(i, f"Fever {i}.", [("Fever", "Disease")]) for i in names]
    texts = vars(read_texts(config(write(tmp_path / "a.jsonl", rows))))
    parts = {name: [a.document.doc_id for a in own] for name, own in texts.items()}
    assert sorted(i for part in parts.values() for i in part) == sorted(names)
    articles = [{re.search(r"\d{8}", i)[0] for i in part} for part in parts.values()]
    assert sum(map(len, articles)) == 60
    assert {digit_of(i) for i in parts["choose"]} == {0}
    assert {digit_of(i) for i in parts["test"]} == {1}


def test_labels_are_those_of_the_recogniser(tmp_path: Path) -> None:
    rows = [
        (
            "n",
            "patients with Fever, TP53 of the p53 family",
            [
                ("Fever", "Disease"),
                ("TP53", "Gene"),
                ("p53 family", "Family"),
                ("with", "X"),
            ],
        ),
    ]
    settings = config(write(tmp_path / "a.jsonl", rows))
    texts = read_texts(settings)
    (only,) = texts.train + texts.choose + texts.test
    assert {(m.text, m.label) for m in only.document.mentions} == {
        ("Fever", "DISEASE"),
        ("TP53", "GENE"),
        ("p53 family", "GENE?"),
    }
    assert only.labels == {"DISEASE", "GENE", "CELL_TYPE"}
    write(tmp_path / "a.jsonl", [("n", "a p53", [("p53", "GENE_OR_GENE_PRODUCT")])])
    texts = read_texts(settings)
    (only,) = texts.train + texts.choose + texts.test
    assert [(m.text, m.label) for m in only.document.mentions] == [("p53", "GENE")]
    # what another kind is near to is for the config to say
    write(tmp_path / "a.jsonl", [("n", "a p53", [("p53", "ProteinFamily")])])
    with pytest.raises(AngelError, match=r"the label .*'ProteinFamily'.*\[corpora.tiny.labels\]"):
        read_texts(settings)


def test_counts_leave_out_what_is_open_and_what_nobody_annotated() -> None:
    text = annotated(
        [("renal cancer", "DISEASE"), ("Sorafenib", "CHEMICAL?")], {"DISEASE", "CHEMICAL"}
    )
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


def test_config_is_checked(tmp_path: Path) -> None:
    file = tmp_path / "a.cfg"
    start = '[recogniser]\nlabels = ["DISEASE"]\n[optimizer]\nlearning_rate = 1e-4\n[corpora]\n'
    file.write_text(start + '[corpora.a]\npath = "a"\n[corpora.a.labels]\nGene = "GENE"\n')
    with pytest.raises(
        AngelError, match="'GENE' is none of DISEASE; no corpus annotates 'DISEASE'"
    ):
        load_recognizer_config(file)
    file.write_text(start + '[corpora.a]\nfile = "a"\n[corpora.a.labels]\nDisease = "DISEASE"\n')
    with pytest.raises(AngelError, match=r"corpora\.a\.path: .*corpora\.a\.file"):
        load_recognizer_config(file)
