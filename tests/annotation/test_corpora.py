"""Corpora through every input and output format, there and back: offsets stay."""

import csv
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
import spacy
import torch
from support.helpers import shared_data
from support.tiny_annotation import make_pipeline

from spacy_angel.annotation.inputs import infer_format, input_formats, plan_inputs, read_input
from spacy_angel.annotation.outputs import OUTPUT_FORMATS
from spacy_angel.annotation.run import annotate
from spacy_angel.corpora.documents import CorpusDocument, CorpusReport
from spacy_angel.corpora.formats.bioc import to_bioc, write_bioc_json
from spacy_angel.corpora.formats.docbin import write_docbin
from spacy_angel.corpora.formats.pubtator import write_pubtator
from spacy_angel.corpora.registry import FORMATS, read_corpus, write_corpus

torch.set_num_threads(1)

CORPORA = {
    "bc5cdr": ["bc5cdr/CDR_TrainingSet.PubTator.txt", "bc5cdr/CDR_DevelopmentSet.PubTator.txt"],
    "medmentions": ["medmentions/st21pv_train.rebuilt.pubtator.gz"],
}
COUNTS = {"bc5cdr": (1000, 18976), "medmentions": (2635, 121992)}
# Every format has a sixteenth of the documents, each format and each run of CI another one: all of
# them through all formats take minutes.
PARTS = 16
TURN = int(os.environ.get("SPACY_ANGEL_SLOW_TURN", "0"))


@pytest.fixture(scope="module")
def nlp(tmp_path_factory) -> spacy.Language:
    """Keeps the identifiers of the input, so that mentions with one pass without the model."""
    nlp = spacy.load(make_pipeline(tmp_path_factory.mktemp("corpora")))
    linker = nlp.get_pipe("angel_linker")
    linker.settings = linker.settings.changed(overwrite=False)
    return nlp


@pytest.fixture(scope="module", params=CORPORA)
def corpus(request) -> list[CorpusDocument]:
    """Without the parts of composites, which not every format has."""
    files = [shared_data(name) for name in CORPORA[request.param]]
    read = [document for file in files for document in read_corpus(file, strict=False)]
    documents = [replace(d, mentions=tuple(replace(m, parts=()) for m in d.mentions)) for d in read]
    counts = len(documents), sum(len(document.mentions) for document in documents)
    assert counts == COUNTS[request.param]
    return documents


def part_for(corpus: list[CorpusDocument], format: str) -> list[CorpusDocument]:
    place = sorted({*input_formats(), *OUTPUT_FORMATS}).index(format)
    return corpus[(place + TURN) % PARTS :: PARTS]


def read(paths: Sequence[Path]) -> list[CorpusDocument]:
    """All documents of files, strictly; mentions without parts."""
    documents = [
        document
        for source in plan_inputs(paths)
        for _, document in read_input(source, strict=True, report=CorpusReport(), options={})
    ]
    return [replace(d, mentions=tuple(replace(m, parts=()) for m in d.mentions)) for d in documents]


def output(folder: Path) -> list[CorpusDocument]:
    return read(sorted(folder.glob("[0-9]*-*.*")))


# writers of what nothing in the package writes


def write_texts(documents: Sequence[CorpusDocument], path: Path) -> None:
    path.mkdir()
    for number, document in enumerate(documents):
        (path / f"{number:05d}.txt").write_text(document.text, "utf8", newline="")


def write_lines(documents: Sequence[CorpusDocument], path: Path) -> None:
    path.write_text("".join(document.text + "\n" for document in documents), "utf8", newline="")


def to_row(document: CorpusDocument) -> dict:
    keys = ("start", "end", "text", "label")
    mentions = [
        {**{key: getattr(m, key) for key in keys}, "concept_id": m.concept_ids}
        for m in document.mentions
    ]
    values = {"doc_id": document.doc_id, "text": document.text, "mentions": mentions}
    return {**values, "title_end": document.title_end}


def write_jsonl(documents: Sequence[CorpusDocument], path: Path) -> None:
    path.write_text("".join(json.dumps(to_row(d)) + "\n" for d in documents), "utf8")


def write_bigbio(documents: Sequence[CorpusDocument], path: Path) -> None:
    def part(kind: str, text: str, start: int, ids: str = "") -> dict[str, object]:
        normalized = [{"db_name": "", "db_id": one} for one in ids.split("|")]
        offsets = [[start, start + len(text)]]
        return {"type": kind, "text": [text], "offsets": offsets, "normalized": normalized}

    rows = [
        {
            "document_id": d.doc_id,
            "passages": [
                part("title", d.text[: d.title_end], 0),
                part("abstract", d.text[d.title_end :], d.title_end or 0),
            ],
            "entities": [part(m.label, m.text, m.start, m.concept_ids) for m in d.mentions],
        }
        for d in documents
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf8")


def write_parquet(documents: Sequence[CorpusDocument], path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.Table.from_pylist(list(map(to_row, documents))), path)


def write_bioc_xml(documents: Sequence[CorpusDocument], path: Path) -> None:
    root = ElementTree.Element("collection")
    for value in map(to_bioc, documents):
        document = add(root, "document", id=value["id"])
        for given in value["passages"]:
            passage = add(document, "passage", offset=given["offset"], text=given["text"])
            add_infons(passage, given["infons"])
            for mention in given["annotations"]:
                annotation = add(passage, "annotation", text=mention["text"])
                add_infons(annotation, mention["infons"])
                for location in mention["locations"]:
                    attributes = {key: str(number) for key, number in location.items()}
                    ElementTree.SubElement(annotation, "location", attributes)
    ElementTree.ElementTree(root).write(path, "utf-8", xml_declaration=True)


def write_csv(documents: Sequence[CorpusDocument], path: Path) -> None:
    with open(path, "w", encoding="utf8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["doc_id", "text"])
        writer.writerows([document.doc_id, document.text] for document in documents)


def write_pubmed(documents: Sequence[CorpusDocument], path: Path) -> None:
    root = ElementTree.Element("PubmedArticleSet")
    for document in documents:
        citation = add(add(root, "PubmedArticle"), "MedlineCitation", PMID=document.doc_id)
        article = add(citation, "Article", ArticleTitle=document.text[: document.title_end])
        add(article, "Abstract", AbstractText=document.text[document.title_end + 1 :])
    ElementTree.ElementTree(root).write(path, "utf-8", xml_declaration=True)


def add(parent: ElementTree.Element, tag: str, **texts: object) -> ElementTree.Element:
    element = ElementTree.SubElement(parent, tag)
    for name, text in texts.items():
        ElementTree.SubElement(element, name).text = str(text)
    return element


def add_infons(element: ElementTree.Element, infons: dict[str, str]) -> None:
    for key, text in infons.items():
        ElementTree.SubElement(element, "infon", key=key).text = text


def write_label_studio(documents: list[CorpusDocument], path: Path) -> None:
    """As an annotator would hand it back, who agrees with all that was found."""
    write_corpus(documents, path, "label_studio")
    tasks = json.loads(path.read_text("utf8"))
    for task in tasks:
        task["annotations"] = [{"id": 1, "result": p["result"]} for p in task.pop("predictions")]
    path.write_text(json.dumps(tasks), "utf8")


WITH_MENTIONS: dict[str, tuple[str, Callable]] = {
    "jsonl": ("in.jsonl", write_jsonl),
    "bigbio": ("in.jsonl", write_bigbio),
    "parquet": ("in.parquet", write_parquet),
    "pubtator": ("in.txt", write_pubtator),
    "bioc_xml": ("in.xml", write_bioc_xml),
    "bioc_json": ("in.json", write_bioc_json),
    "label_studio": ("in.json", write_label_studio),
    "docbin": (
        "in.spacy",
        write_docbin,
    ),
}
TEXT_ALONE: dict[str, tuple[str, Callable]] = {
    "text": ("texts", write_texts),
    "lines": ("in.txt", write_lines),
    "csv": ("in.csv", write_csv),
    "pubmed": ("in.xml", write_pubmed),
}


# A row a mention: written, not read.
TABLES = {"csv", "tsv"}


def test_no_format_is_forgotten() -> None:
    # What is written as a folder is converted before it is annotated.
    files = {name for name in input_formats() if not FORMATS[name].is_folder}
    # The rest is tested in tests/corpora.
    assert {*WITH_MENTIONS, *TEXT_ALONE, "bigbio", "json", "jats"} == files
    assert {*OUTPUT_FORMATS} - TABLES < {*WITH_MENTIONS}


@pytest.mark.slow
@pytest.mark.parametrize("format", WITH_MENTIONS)
def test_every_input_format_with_mentions(nlp, corpus, tmp_path, format) -> None:
    name, write = WITH_MENTIONS[format]
    corpus = part_for(corpus, format)
    write(corpus, tmp_path / name)
    assert infer_format(tmp_path / name) == format
    manifest = annotate(tmp_path / name, nlp, output=tmp_path / "out", mentions="input")
    assert (manifest["complete"], manifest["counts"]["failed"]) == (True, 0)
    assert_equal(output(tmp_path / "out"), corpus)


@pytest.mark.slow
@pytest.mark.parametrize("format", TEXT_ALONE)
def test_every_input_format_without_mentions(nlp, corpus, tmp_path, format) -> None:
    """What the pipeline finds lies where its recogniser finds it in the text of the corpus."""
    name, write = TEXT_ALONE[format]
    corpus = part_for(corpus, format)
    write(corpus, tmp_path / name)
    named = None if format == "pubmed" else format
    manifest = annotate(tmp_path / name, nlp, output=tmp_path / "out", input_format=named)
    assert (manifest["complete"], manifest["counts"]["failed"]) == (True, 0)
    texts = [d.text if format != "pubmed" else " ".join(d.text.split()) for d in corpus]
    found = output(tmp_path / "out")
    assert [document.text for document in found] == texts
    if format == "pubmed":
        assert [document.doc_id for document in found] == [d.doc_id for d in corpus]
    with nlp.select_pipes(disable="angel_linker"):
        ents = [[(e.start_char, e.end_char, e.text) for e in doc.ents] for doc in nlp.pipe(texts)]
    assert sum(map(len, ents)) > 3
    assert [[(m.start, m.end, m.text) for m in d.mentions] for d in found] == ents


@pytest.mark.slow
@pytest.mark.parametrize("format", sorted({*OUTPUT_FORMATS} - TABLES))
def test_every_output_format(nlp, corpus, tmp_path, format) -> None:
    """Written, read, annotated again: the same documents, and the same bytes."""
    corpus = part_for(corpus, format)
    write_pubtator(corpus, tmp_path / "in.txt")
    settings = {"mentions": "input", "output_format": format, "shard_size": 10_000}
    annotate(tmp_path / "in.txt", nlp, output=tmp_path / "out", **settings)
    assert_equal(output(tmp_path / "out"), corpus)
    (shard,) = (tmp_path / "out").glob("[0-9]*-*.*")
    annotate(shard, nlp, output=tmp_path / "again", **settings)
    assert_equal(output(tmp_path / "again"), corpus)


@pytest.mark.slow
@pytest.mark.parametrize(("format", "separator"), [("csv", ","), ("tsv", "\t")])
def test_tables_have_every_mention(nlp, corpus, tmp_path, format, separator) -> None:
    corpus = part_for(corpus, format)
    write_pubtator(corpus, tmp_path / "in.txt")
    settings = {"mentions": "input", "output_format": format, "shard_size": 10_000}
    annotate(tmp_path / "in.txt", nlp, output=tmp_path / "out", **settings)
    (shard,) = (tmp_path / "out").glob("[0-9]*-*.*")
    with open(shard, encoding="utf8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=separator))
    assert [(row["doc_id"], int(row["start"]), int(row["end"]), row["text"]) for row in rows] == [
        (document.doc_id, mention.start, mention.end, mention.text)
        for document in corpus
        for mention in document.mentions
    ]


@pytest.mark.slow
def test_bioc_as_it_comes(nlp, tmp_path) -> None:
    """BC5CDR's own XML, with its composites and pieces, gives what its PubTator file gives."""
    path = shared_data("bc5cdr/CDR_DevelopmentSet.BioC.xml")
    annotate(path, nlp, output=tmp_path / "out", mentions="input")
    given = read([shared_data("bc5cdr/CDR_DevelopmentSet.PubTator.txt")])
    assert (len(given), sum(len(d.mentions) for d in given)) == (500, 9591)
    assert_equal(output(tmp_path / "out"), given)


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
