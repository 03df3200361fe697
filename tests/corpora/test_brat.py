"""brat standoff: folders as brat keeps them, and that nothing is lost between."""

import re
import shutil
from dataclasses import replace
from urllib.parse import quote

import pytest
from hypothesis import given
from support.corpora import RICH, documents, plain
from support.helpers import ROOT

from spacy_angel.corpora.documents import CorpusDocument, CorpusReport, GoldMention
from spacy_angel.corpora.formats.brat import write_brat
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.errors import AngelError

FOLDER = ROOT / "tests/fixtures/corpora/brat"


def read(path, **options):
    report = CorpusReport()
    return list(read_corpus(path, "brat", report=report, **options)), report


def in_brat(document):
    """What brat keeps of a document."""
    mentions = (
        replace(mention, label=re.sub(r"[^A-Za-z0-9_-]+", "_", mention.label))
        for mention in plain(document).mentions
    )
    return CorpusDocument(document.doc_id, document.text, tuple(mentions))


def pair(folder, text, annotations):
    """A folder with one document."""
    folder.mkdir(exist_ok=True)
    (folder / "1.txt").write_bytes(text.encode("utf8"))
    (folder / "1.ann").write_bytes(annotations.encode("utf8"))
    return folder


def test_a_folder_of_brat_is_read():
    (first, second), report = read(FOLDER)
    assert [(m.text, m.label, m.concept_ids) for m in first.mentions] == [
        ("Fever", "Disease", "MESH:D005334"),
        ("renal or hepatic failure", "Disease", "MESH:D051437|OMIM:161900"),
        ("hepatic failure", "Disease", ""),
        ("gentamicin", "Chemical", ""),
    ]
    assert (first.doc_id, first.text[:7]) == ("5001", "😀 Fever")
    # Two pieces, since there is a line end between them.
    assert second == CorpusDocument(
        "more/5002",
        "Renal\nfailure lasted.",
        (GoldMention(0, 13, "Renal\nfailure", "Disease", "MESH:D051437"),),
    )
    assert report.counts == {
        "documents": 2,
        "mentions": 5,
        "mentions_without_id": 2,
        "discontinuous_mentions": 1,
        "relations_and_notes_left_out": 4,
    }
    assert "5001.ann, line 3: 'renal failure' in pieces" in report.notes[0]


@pytest.mark.parametrize("name", ["5001.ann", "5001.txt"])
def test_one_document_of_a_folder_is_read(name):
    assert read(FOLDER / name)[0] == read(FOLDER)[0][:1]


@pytest.mark.parametrize(
    ("line", "expected", "lost"),
    [
        ("T9\tDisease 0 5", "T1<TAB>type start end<TAB>text", 1),
        ("T9\tDisease 0-5\tFever", "T1<TAB>type start end<TAB>text", 1),
        ("T9\tDisease 0 4\tFever", "expected the mention 'Fever' at 0-4", 1),
        ("N9\tReference T1 D005334\tFever", "N1<TAB>Reference T1 MESH:D005334<TAB>name", 0),
        ("N9\tReference T7 MESH:D1\tFever", "N1<TAB>Reference T1 MESH:D005334<TAB>name", 0),
        ("N9", "N1<TAB>Reference T1 MESH:D005334<TAB>name", 0),
    ],
)
def test_a_fault_is_named_and_costs_nothing_else(tmp_path, line, expected, lost):
    whole = "T1\tDisease 0 5\tFever\nN1\tReference T1 MESH:D005334\t\n"
    folder = pair(tmp_path / "brat", "Fever.", f"{whole}{line}\n")
    with pytest.raises(AngelError, match=rf"1\.ann, line 3: .*{expected}"):
        read(folder)
    (document,), report = read(folder, strict=False)
    assert document.mentions == (GoldMention(0, 5, "Fever", "Disease", "MESH:D005334"),)
    assert (report.counts["faults"], report.counts["mentions_left_out"]) == (1, lost)


@pytest.mark.parametrize("content", [None, b"Fi\xe8vre"])
def test_a_text_that_cannot_be_read_costs_no_other(tmp_path, content):
    shutil.copytree(FOLDER, tmp_path / "brat")
    text = tmp_path / "brat/5001.txt"
    text.unlink() if content is None else text.write_bytes(content)
    with pytest.raises(AngelError, match=r"5001\.txt"):
        read(tmp_path / "brat")
    found, report = read(tmp_path / "brat", strict=False)
    assert [document.doc_id for document in found] == ["more/5002"]
    assert report.counts["documents_left_out"] == 1


# A file of this one byte is a gzip file that was cut.
@given(document=documents().filter(lambda one: one.text != "\x1f" and len(quote(one.doc_id)) < 240))
def test_any_document_there_and_back(tmp_path_factory, document):
    folder = tmp_path_factory.mktemp("x") / "brat"
    write_brat([document], folder)
    assert read(folder)[0] == [in_brat(document)]


def test_the_files_are_as_brat_has_them(tmp_path):
    """https://brat.nlplab.org/standoff.html"""
    write_brat([RICH], tmp_path / "brat")
    folder = tmp_path / "brat"
    assert sorted(path.name for path in folder.iterdir()) == [
        "annotation.conf",
        "notes.txt%3A3.ann",
        "notes.txt%3A3.txt",
    ]
    assert (folder / "notes.txt%3A3.txt").read_text("utf8") == RICH.text
    assert (folder / "notes.txt%3A3.ann").read_text("utf8").splitlines() == [
        "T1\tT116_T123 2 21;22 30\tOcular and auditory toxicity",
        "N1\tReference T1 MESH:D014786\t",
        "N2\tReference T1 MESH:D006311\t",
        "T2\tDisease 32 37\tFever",
        "N3\tReference T2 MESH:D005334+OMIM:1\t",
        "T3\tCell_line 32 37\tFever",
        "N4\tReference T3 NONE:3767\t",
        "T4\tMENTION 43 57\t𝛽-thalassaemia",
        "N5\tReference T4 HGVS:c.1+1G>C\t",
        "T5\tMENTION 64 68\tzeal",
    ]
    assert (folder / "annotation.conf").read_text("utf8").splitlines() == [
        *("[entities]", "T116_T123", "Disease", "Cell_line", "MENTION"),
        *("[relations]", "[events]", "[attributes]"),
    ]


def test_a_folder_with_something_in_it_stays(tmp_path):
    write_brat([RICH], tmp_path / "brat")
    with pytest.raises(AngelError, match="already exists"):
        write_brat([RICH], tmp_path / "brat")


def test_files_are_named_by_the_identifier_and_no_name_is_used_twice(tmp_path):
    ids = ["25763772", "../x", ".hidden", "é", "", "a", "A", "a", "a-2", "x" * 300]
    write_brat([CorpusDocument(each, "Fever.") for each in ids], tmp_path / "brat")
    names = [path.stem for path in (tmp_path / "brat").glob("*.txt")]
    expected = ["25763772", "%2E.%2Fx", "%2Ehidden", "%C3%A9", "document", "a", "A-2", "a-3"]
    assert sorted(names) == sorted([*expected, "a-2-2", "x" * 240])
    found = {document.doc_id for document in read(tmp_path / "brat")[0]}
    assert found >= {"25763772", "../x", ".hidden", "é", "document", "a", "A-2", "a-3"}
