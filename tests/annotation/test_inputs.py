"""Readers of large document sets: true formats in small, and what is wrong in them."""

import gzip
import json
import os
from pathlib import Path

import pytest
from support.helpers import ROOT

from spacy_angel.annotation.inputs import plan_inputs, read_input
from spacy_angel.corpora.documents import CorpusDocument, CorpusReport
from spacy_angel.corpora.formats import text
from spacy_angel.errors import AngelError, AngelWarning

PUBMED = """\
<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE PubmedArticleSet SYSTEM "http://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_240101.dtd">
<PubmedArticleSet>
  <PubmedArticle>
    <MedlineCitation Status="MEDLINE" Owner="NLM">
      <PMID Version="1">1</PMID>
      <Article PubModel="Print">
        <Journal><Title>Biochemical medicine</Title></Journal>
        <ArticleTitle>Formate assays: <i>in vivo</i> CO<sub>2</sub>
          &amp; more.</ArticleTitle>
        <Abstract>
          <AbstractText Label="BACKGROUND" NlmCategory="BACKGROUND">First part.</AbstractText>
          <AbstractText Label="EMPTY"/>
          <AbstractText>Second  part.</AbstractText>
          <CopyrightInformation>Copyright 2024.</CopyrightInformation>
        </Abstract>
      </Article>
    </MedlineCitation>
    <PubmedData>
      <ReferenceList><Reference><ArticleIdList><ArticleId IdType="pubmed">99</ArticleId>
      </ArticleIdList></Reference></ReferenceList>
    </PubmedData>
  </PubmedArticle>
  <PubmedArticle>
    <MedlineCitation><PMID Version="2">2</PMID>
      <Article><ArticleTitle>[Title only.]</ArticleTitle></Article>
    </MedlineCitation>
  </PubmedArticle>
  <PubmedArticle><MedlineCitation><Article/></MedlineCitation></PubmedArticle>
  <PubmedBookArticle><BookDocument><PMID>3</PMID><Book><BookTitle>Gout</BookTitle></Book></BookDocument></PubmedBookArticle>
  <DeleteCitation><PMID Version="1">4</PMID></DeleteCitation>
</PubmedArticleSet>
"""


def read(path, format=None, **options):
    report = CorpusReport()
    documents = []
    for source in plan_inputs([path], format, options):
        pairs = read_input(source, report=report, options=options)
        documents += [document for _, document in pairs]
    return documents, report


def test_pubmed_articles(tmp_path):
    path = tmp_path / "pubmed24n0001.xml.gz"
    path.write_bytes(gzip.compress(PUBMED.encode()))
    documents, report = read(path)
    assert documents == [
        CorpusDocument(
            "1",
            "Formate assays: in vivo CO2 & more. BACKGROUND: First part. Second part.",
            title_end=35,
        ),
        CorpusDocument("2", "[Title only.]", title_end=13),
        CorpusDocument("3", "Gout", title_end=4),
    ]
    assert report.counts["documents_left_out"] == 1
    assert report.counts["withdrawn_lists"] == 1
    assert 0 < report.position <= path.stat().st_size
    assert any("line 29: the article that ends here has no PMID" in n for n in report.notes)


def test_pubmed_that_is_cut_gives_what_came_before(tmp_path):
    path = tmp_path / "cut.xml"
    path.write_text(PUBMED[:1400], "utf8")
    (source,) = plan_inputs([path])
    assert source.format == "pubmed"
    documents = read_input(source, report=CorpusReport(), options={})
    assert next(documents)[1].doc_id == "1"
    with pytest.raises(AngelError, match="the XML is broken or cut"):
        list(documents)
    packed = tmp_path / "cut.xml.gz"
    packed.write_bytes(gzip.compress(PUBMED.encode())[:-30])
    with pytest.raises(AngelError, match="is cut or damaged"):
        read(packed)
    other = tmp_path / "other.xml"
    other.write_text("<articles></articles>")
    with pytest.raises(AngelError, match="should start with `<PubmedArticleSet>`"):
        read(other, "pubmed")


def test_plain_text_is_a_document_and_a_folder_of_them_an_input(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "MAX_TEXT_BYTES", 100)
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "b.txt").write_text("second\ntext\n", "utf8")
    (folder / "a.txt").write_text("\ufeff[**first**]", "utf8")
    (folder / "a.docx").write_bytes(b"PK\x03\x04")
    (folder / "c.txt").write_bytes(b"\xff\xfe broken")
    (folder / "d.txt").write_text("x" * 101)
    (folder / ".hidden").write_text("x")
    (folder / "a.txt.md5").write_text("x")
    with pytest.warns(AngelWarning, match="1 folders, or files of no known format.*: a.docx"):
        documents, report = read(folder)
    expected = [CorpusDocument("a", "[**first**]"), CorpusDocument("b", "second\ntext\n")]
    assert documents == expected
    assert report.counts["documents_left_out"] == 2
    assert "c.txt" in report.notes[0]
    assert "UTF-8" in report.notes[0]
    assert "d.txt is longer than 100 bytes" in report.notes[1]


ROWS = [
    {"doc_id": "x", "text": "heart attack", "mentions": [{"start": 0, "end": 5, "label": "L"}]},
    {"pmid": 7, "title": "Title.", "abstract": "Abstract."},
    {"text": "no id"},
]


def test_jsonl(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    lines = [json.dumps(row) for row in ROWS]
    lines += ["[1]", '{"id": 1}', '{"text": 5}', '{"text": "\\ud800"}', "{", '{"text": "x", "m']
    lines += ['{"id": "\\udc00", "text": "x"}']
    lines += ['{"id": "y", "text": "x", "mentions": [{"start": 0, "end": 9}]}', ""]
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    with pytest.warns(AngelWarning, match="0-9 of document y"):
        documents, report = read(path)
    assert [(d.doc_id, d.text, d.title_end) for d in documents] == [
        ("x", "heart attack", None),
        ("7", "Title. Abstract.", 6),
        ("a.jsonl.gz:3", "no id", None),
        ("y", "x", None),
    ]
    (mention,) = documents[0].mentions
    assert (mention.start, mention.end, mention.text, mention.label) == (0, 5, "heart", "L")
    assert report.counts["documents_left_out"] == 7
    assert report.counts["mentions_outside_text"] == 1
    assert any("line 4: not a document: " in note for note in report.notes)


@pytest.mark.parametrize(
    "wrong",
    [
        {"mentions": 3},
        {"mentions": {"start": 0}},
        {"id": {"x": 1}},
        {"other": [[[]]] * 20, "text": None},
    ],
)
def test_values_of_wrong_kinds_spoil_their_document_only(tmp_path, wrong):
    path = tmp_path / "a.jsonl"
    rows = [{"id": 1, "text": "heart attack"}, {"id": 2, "text": "heart attack", **wrong}]
    nested = '{"text": "x", "deep": ' + "[" * 9000 + "]" * 9000 + "}\n"
    number = '{"text": "x", "id": ' + "1" * 5000 + "}\n"
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows, rows[0]]) + nested + number)
    documents, report = read(path)
    assert [document.doc_id for document in documents] == ["1", "1"]
    assert report.counts["documents_left_out"] == 3
    assert "line 2: not a document" in report.notes[0]
    assert "recursion limit" in report.notes[1]
    assert "out of range" in report.notes[2]


def test_lines_and_the_end_of_the_title(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one\n\n two \u2028 still\n", "utf8")
    documents, _ = read(path, "lines")
    expected = [("a.txt:1", "one"), ("a.txt:3", " two \u2028 still")]
    assert [(d.doc_id, d.text) for d in documents] == expected
    rows = [{"text": "Nine char", "title_end": end} for end in (4, 4.0, 0, 9, 10, -1, 4.5, "4")]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    documents, report = read(path, "jsonl")
    assert not report.notes
    assert [d.title_end for d in documents] == [4, 4, 0, 9, None, None, None, None]


def test_fields_by_name(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": 1, "key": "k", "body": "b"}\n{"body": "no key"}\n')
    documents, report = read(path, id_field="key", text_field="body")
    assert [(d.doc_id, d.text) for d in documents] == [("k", "b")]
    assert "the field key is missing" in report.notes[0]
    with pytest.raises(AngelError, match=r"no option pages\. Its options: prefix, id_field"):
        read(path, pages="1")


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "table"
    columns = {key: [row.get(key) for row in ROWS] for key in ("doc_id", "pmid", "text")}
    columns |= {key: [row.get(key) for row in ROWS] for key in ("title", "abstract", "mentions")}
    pq.write_table(pa.table(columns), path)
    documents, report = read(path)
    assert [(d.doc_id, d.text, len(d.mentions)) for d in documents] == [
        ("x", "heart attack", 1),
        ("7", "Title. Abstract.", 0),
        ("table:3", "no id", 0),
    ]
    assert report.position == path.stat().st_size
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(AngelError, match="not a Parquet file, or damaged"):
        read(path, "parquet")


def test_what_is_not_read_in_a_folder_is_named_in_a_warning(tmp_path):
    folder = tmp_path / "texts"
    (folder / "more").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / "a.txt").write_text("first", "utf8")
    (folder / "b.txt").symlink_to(folder / "a.txt")
    (folder / "c.txt").symlink_to(folder / "gone.txt")
    # Opened, it would wait for ever.
    os.mkfifo(folder / "d.txt")
    (folder / "e.jsonl").write_text('{"text": "x"}')
    (folder / "f.png").write_bytes(b"migraine")
    with pytest.warns(UserWarning, match=r"not read: c\.txt, d\.txt, more, f\.png"):
        table, notes = plan_inputs([folder])
    assert (table.format, notes.format) == ("jsonl", "text")
    assert [Path(path).name for path in notes.paths] == ["a.txt", "b.txt"]


def test_what_is_missing_is_told(tmp_path):
    with pytest.raises(AngelError, match="no such file"):
        plan_inputs([tmp_path / "nothing"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(AngelError, match="contains no files"):
        plan_inputs([tmp_path / "empty"])
    with pytest.raises(AngelError, match="There is no input format 'cometa'"):
        plan_inputs([tmp_path], "cometa")
    (tmp_path / "h").write_text("nothing known")
    with pytest.raises(AngelError, match=r"Cannot tell the corpus format of .*/h\. Give --f"):
        plan_inputs([tmp_path / "h"])


def test_a_folder_that_is_one_corpus_is_to_be_converted_first():
    folder = ROOT / "tests/fixtures/corpora/brat"
    with pytest.raises(AngelError, match=r"is a brat corpus.*spacy-angel corpus .*brat -o"):
        plan_inputs([folder])
    (document,), _ = read(folder / "5001.ann")
    assert (document.doc_id, len(document.mentions)) == ("5001", 4)
