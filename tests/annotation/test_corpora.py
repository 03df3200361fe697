"""Corpora through every output format and back: identifiers, texts and offsets stay."""

import csv
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import spacy
import torch
from support.helpers import shared_data
from support.tiny_annotation import make_pipeline

from spacy_angel.annotation.outputs import OUTPUT_FORMATS
from spacy_angel.annotation.run import annotate
from spacy_angel.corpora.documents import CorpusDocument
from spacy_angel.corpora.formats.pubtator import write_pubtator
from spacy_angel.corpora.registry import read_corpus

torch.set_num_threads(1)

CORPORA = {
    "bc5cdr": ["bc5cdr/CDR_TrainingSet.PubTator.txt", "bc5cdr/CDR_DevelopmentSet.PubTator.txt"],
    "medmentions": ["medmentions/st21pv_train.rebuilt.pubtator.gz"],
}
COUNTS = {"bc5cdr": (1000, 18976), "medmentions": (2635, 121992)}
TABLES = {"csv": ",", "tsv": "\t"}
# Every format has a sixteenth of the documents, each format and each run of CI another one: all of
# them through all formats take minutes.
PARTS = 16
TURN = int(os.environ.get("SPACY_ANGEL_SLOW_TURN", "0"))


@pytest.fixture(scope="module")
def nlp(tmp_path_factory) -> spacy.Language:
    """Keeps the identifiers of the input, so that mentions with one pass without the model."""
    nlp = spacy.load(make_pipeline(tmp_path_factory.mktemp("corpora")))
    linker = nlp.get_pipe("angel_linker")
    linker.settings.decision.overwrite = False
    return nlp


def read(paths: Sequence[Path]) -> list[CorpusDocument]:
    """All documents of files, without the parts of composites, which not every format has."""
    documents = [d for path in paths for d in read_corpus(path, keep_duplicates=True)]
    return [replace(d, mentions=tuple(replace(m, parts=()) for m in d.mentions)) for d in documents]


@pytest.fixture(scope="module", params=CORPORA)
def corpus(request) -> list[CorpusDocument]:
    documents = read([shared_data(name) for name in CORPORA[request.param]])
    counts = len(documents), sum(len(document.mentions) for document in documents)
    assert counts == COUNTS[request.param]
    return documents


def shards(folder: Path) -> list[Path]:
    return sorted(folder.glob("[0-9]*-*.*"))


@pytest.mark.slow
@pytest.mark.parametrize("format", sorted(OUTPUT_FORMATS))
def test_every_output_format(nlp, corpus, tmp_path, format) -> None:
    corpus = corpus[(sorted(OUTPUT_FORMATS).index(format) + TURN) % PARTS :: PARTS]
    write_pubtator(corpus, tmp_path / "in.txt")
    settings = {"mentions": "input", "output_format": format}
    manifest = annotate(tmp_path / "in.txt", nlp, output=tmp_path / "out", **settings)
    assert (manifest["complete"], manifest["counts"]["failed"]) == (True, 0)
    if format in TABLES:
        (shard,) = shards(tmp_path / "out")
        with open(shard, encoding="utf8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter=TABLES[format]))
        found = [(row["doc_id"], int(row["start"]), int(row["end"]), row["text"]) for row in rows]
        assert found == [(d.doc_id, m.start, m.end, m.text) for d in corpus for m in d.mentions]
        return
    assert_equal(read(shards(tmp_path / "out")), corpus)
    annotate(shards(tmp_path / "out"), nlp, output=tmp_path / "again", **settings)
    assert_equal(read(shards(tmp_path / "again")), corpus)


@pytest.mark.slow
def test_bioc_as_it_comes(nlp, tmp_path) -> None:
    """BC5CDR's own XML, with its composites and pieces, gives what its PubTator file gives."""
    path = shared_data("bc5cdr/CDR_DevelopmentSet.BioC.xml")
    annotate(path, nlp, output=tmp_path / "out", mentions="input")
    given = read([shared_data("bc5cdr/CDR_DevelopmentSet.PubTator.txt")])
    assert (len(given), sum(len(d.mentions) for d in given)) == (500, 9591)
    assert_equal(read(shards(tmp_path / "out")), given)


def assert_equal(found: list[CorpusDocument], corpus: list[CorpusDocument]) -> None:
    """Identifiers, texts, titles, offsets, labels; of the concepts those that the corpus names."""
    assert len(found) == len(corpus)
    for a, b in zip(found, corpus, strict=True):
        assert (a.doc_id, a.text, a.title_end) == (b.doc_id, b.text, b.title_end)
        assert len(a.mentions) == len(b.mentions)
        kept = [
            replace(m, concept_ids=n.concept_ids and m.concept_ids)
            for m, n in zip(a.mentions, b.mentions, strict=True)
        ]
        assert kept == list(b.mentions)
