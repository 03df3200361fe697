"""Documents as rows of CSV and TSV files."""

import csv

import pytest

from spacy_angel.corpora.documents import CorpusReport
from spacy_angel.corpora.registry import infer_format, read_corpus
from spacy_angel.errors import AngelError


def read(path, content, **options):
    path.write_text(content, encoding="utf8", newline="")
    return [(document.doc_id, document.text) for document in read_corpus(path, **options)]


@pytest.mark.parametrize("separator", ["\t", ",", ";"])
def test_a_document_a_row(tmp_path, separator):
    lines = [["doc_id", "other", "text"], ["1", "x", '"migraine'], ["", "", "a\nb, c; d\te"]]
    path = tmp_path / "in.csv"
    with open(path, "w", newline="") as file:
        csv.writer(file, delimiter=separator).writerows(lines)
    assert infer_format(path) == "csv"
    found = [(d.doc_id, d.text) for d in read_corpus(path)]
    assert found == [("1", '"migraine'), ("in.csv:3", "a\nb, c; d\te")]


def test_title_and_abstract_and_named_columns(tmp_path):
    path = tmp_path / "in.tsv"
    assert read(path, "pmid\ttitle\tabstract\n7\tOne\tTwo\n8\t\tTwo\n") == [
        ("7", "One Two"),
        ("8", "Two"),
    ]
    content = "NOTE_ID,NOTE\n1,migraine\n"
    options = {"id_field": "NOTE_ID", "text_field": "NOTE"}
    assert read(path, content, **options) == [("1", "migraine")]


def test_faults_cost_a_row(tmp_path):
    path, report = tmp_path / "in.csv", CorpusReport()
    path.write_text("doc_id,text\n1,a\n2\n3,\n4,b\n")
    assert [d.doc_id for d in read_corpus(path, strict=False, report=report)] == ["1", "4"]
    assert report.counts["documents_left_out"] == 2
    with pytest.raises(AngelError, match=r"in.csv, line 3: .* 2 columns were expected, 1 came"):
        list(read_corpus(path))


def test_a_table_of_mentions_is_no_documents(tmp_path):
    with pytest.raises(AngelError, match="found a table of mentions"):
        read(tmp_path / "links.csv", "doc_id,start,end,text\n1,0,8,migraine\n")


def test_quotes_that_do_not_close_are_told(tmp_path):
    assert read(tmp_path / "in.tsv", 'id\ttext\n1\t"cold" hands\n') == [("1", '"cold" hands')]
    with pytest.raises(AngelError, match="line 2: the separated values are broken"):
        read(tmp_path / "in.csv", 'doc_id,text\n1,"cut\n2,b\n')
