import gzip
import json
import subprocess
import sys
import tracemalloc
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.helpers import ROOT, shared_data

from spacy_angel.corpora.docs import from_doc, to_doc
from spacy_angel.corpora.documents import CorpusDocument, CorpusReport, GoldMention
from spacy_angel.corpora.formats.bioc import to_bioc, write_bioc_json
from spacy_angel.corpora.formats.docbin import write_docbin
from spacy_angel.corpora.formats.pubtator import format_pubtator, write_pubtator
from spacy_angel.corpora.registry import infer_format, read_corpus
from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.names.identifiers import normal_ids

FIXTURES = ROOT / "tests/fixtures/corpora"
FILES = {
    "NCBItrainset_corpus.txt": "pubtator",
    "CDR_sample.PubTator.txt": "pubtator",
    "corpus_pubtator.txt": "pubtator",
    "biored.pubtator": "pubtator",
    "bioc.xml": "bioc_xml",
    "bioc.json": "bioc_json",
    "AskAPatient.fold-0.test.txt": "askapatient",
    "cometa/train.csv": "cometa",
    "label_studio.json": "label_studio",
    "brat": "brat",
}


def read(name, **options):
    report = CorpusReport()
    return list(read_corpus(FIXTURES / name, report=report, **options)), report


def ids(document):
    return [(mention.text, mention.concept_ids) for mention in document.mentions]


def write(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf8"))
    return path


@pytest.mark.parametrize(("name", "format"), FILES.items())
def test_the_format_is_told_from_the_file(name, format):
    assert infer_format(FIXTURES / name) == format


@pytest.mark.parametrize(
    ("raw", "prefix", "expected"),
    [
        ("D003920", "", "MESH:D003920"),
        ("C535342", "", "MESH:C535342"),
        ("C0011849", "", "UMLS:C0011849"),
        ("mesh:D003920", "", "MESH:D003920"),
        ("OMIM:222100 ", "", "OMIM:222100"),
        ("604370", "MESH", "OMIM:604370"),
        ("222100", "SNOMEDCT", "SNOMEDCT:222100"),
        ("C123456", "NCIT", "NCIT:C123456"),
        ("3767", "", "3767"),
        (" D015862+D058499", "", "MESH:D015862+MESH:D058499"),
        ("C535918|OMIM:115470", "", "MESH:C535918|OMIM:115470"),
        ("D003920,C563425", "", "MESH:D003920|MESH:C563425"),
        ("-1", "", ""),
        ("-1|D003920", "", "MESH:D003920"),
        ("NIL", "MESH", ""),
    ],
)
def test_ids_in_normal_form(raw, prefix, expected):
    assert normal_ids(raw, prefix) == expected


def test_ncbi_disease_and_its_faults():
    documents, report = read("NCBItrainset_corpus.txt")
    assert [d.doc_id for d in documents] == ["1001", "1002"]
    assert documents[0].text[: documents[0].title_end].endswith("BRCA1 mutations.")
    assert ids(documents[0]) == [
        ("Breast or ovarian cancer", "MESH:D001943|MESH:D010051"),
        ("Hereditary breast and ovarian cancer", "MESH:D061325"),
        ("HBOC", "MESH:D061325"),
        ("HBOC", "MESH:D061325"),
        ("cat eye syndrome", "MESH:C535918|OMIM:115470"),
    ]
    assert ids(documents[1]) == [
        ("Malignant tumour of the liver", "MESH:D008113+MESH:D018198"),
        ('Wilms " plus " tumour', "OMIM:194070"),
    ]
    assert report.counts == {
        "documents": 2,
        "mentions": 7,
        "duplicate_documents": 1,
        "duplicate_mentions": 5,
        "offsets_repaired": 1,
    }
    assert any("1002" in note and "line 13" in note for note in report.notes)
    assert len(read("NCBItrainset_corpus.txt", keep_duplicates=True)[0]) == 3


def test_bc5cdr_relations_missing_ids_and_individual_mentions():
    (document,), report = read("CDR_sample.PubTator.txt")
    assert ids(document) == [
        ("Ocular and auditory toxicity", "MESH:D014786|MESH:D006311"),
        ("[3H]-testine", ""),
        ("Deferoxamine", "MESH:D003676"),
        ("toxicity", "MESH:D064420"),
    ]
    assert document.mentions[0].parts == ("Ocular toxicity", "auditory toxicity")
    assert report.counts["relation_rows"] == 2
    assert report.counts["mentions_without_id"] == 1


def test_bioc_xml_reads_the_same_as_pubtator():
    (document,), report = read("bioc.xml")
    assert document == read("CDR_sample.PubTator.txt")[0][0]
    assert report.counts["individual_mentions"] == 2


def test_bioc_json_of_pubtator():
    documents, _ = read("bioc.json", prefix={"Gene": "NCBIGene", "Species": "NCBITaxon"})
    assert [d.doc_id for d in documents] == ["4001", "4002"]
    assert documents[0].text == "KCNJ11 and neonatal diabetes. Seen in mice, étude."
    assert documents[0].title_end == 29
    assert ids(documents[0]) == [
        ("KCNJ11", "NCBIGene:3767"),
        ("neonatal diabetes", "MESH:D003920"),
        ("mice", "NCBITaxon:10090"),
    ]


def test_medmentions_with_its_pmid_list():
    documents, _ = read("corpus_pubtator.txt")
    assert [d.doc_id for d in documents] == ["3001", "3002"]
    assert documents[0].mentions[0] == GoldMention(0, 5, "DCTN4", "T116,T123", "UMLS:C4308010")
    assert documents[0].mentions[1].text == "Naïve T cells"
    pmids = FIXTURES / "corpus_pubtator_pmids_dev.txt"
    listed, report = read("corpus_pubtator.txt", pmids=pmids)
    assert [d.doc_id for d in listed] == ["3002"]
    assert report.counts["documents_outside_list"] == 1
    assert report.counts["ids_not_found"] == 1
    assert "3999" in report.notes[0]


def test_askapatient_in_latin1():
    documents, report = read("AskAPatient.fold-0.test.txt")
    assert [d.text for d in documents] == ["dislocating", "Arthrotec", "can´t remember"]
    assert [m.concept_ids for d in documents for m in d.mentions] == [
        "SNOMEDCT:108367008",
        "SNOMEDCT:3384011000036100",
        "SNOMEDCT:247592009",
    ]
    assert documents[0].doc_id == "AskAPatient.fold-0.test.txt:1"
    assert report.counts["latin1_lines"] == 1


def test_cometa_marks_the_first_occurrence():
    documents, report = read("cometa/train.csv")
    assert [(d.doc_id, d.text) for d in documents] == [
        ("7", "My Stomach ache is back, stomach ache again"),
        ("8", 'brain fog I feel "foggy" all day'),
        ("9", "off my meds"),
    ]
    spans = [(d.mentions[0].start, d.mentions[0].end) for d in documents]
    assert spans == [(3, 15), (0, 9), (7, 11)]
    assert documents[0].mentions[0].concept_ids == "SNOMEDCT:271681002"
    assert report.counts["terms_not_in_example"] == 1


def test_reading_imports_no_spacy():
    code = (
        "import sys; from spacy_angel.corpora.registry import read_corpus; "
        f"assert len(list(read_corpus({str(FIXTURES / 'bioc.xml')!r}))) == 1; "
        "assert 'spacy' not in sys.modules and 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# Faults


GOOD = "1|t|Fever\n1|a|And pain.\n1\t0\t5\tFever\tDisease\tD005334\n\n"


@pytest.mark.parametrize(
    ("text", "line", "lost"),
    [
        ("2|t|Ache\n2|a|x\n2\t0\t3\tAche\tDisease\tD1\n", 3, "mentions_left_out"),
        ("2|t|Ache\n2|a|x\n2\t0\t4\n", 3, "mentions_left_out"),
        ("2|t|Ache\n2|a|x\n2\tO\t4\tAche\n2\t1O\t4\tAche\tDisease\tD1\n", 4, "mentions_left_out"),
        ("2|t|Ache\n2|a|x\n7\t0\t4\tAche\tDisease\tD1\n", 3, "mentions_left_out"),
        ("2|a|Ache\n", 1, ""),
        ("2|t|Ache\n2|a|x\nhello\n", 3, ""),
        (b"2|t|Ache \xff\n2|a|x\n", 1, ""),
    ],
)
def test_a_fault_is_named_and_costs_nothing_else(tmp_path, text, line, lost):
    text = text if isinstance(text, bytes) else text.encode()
    path = write(tmp_path, "x.txt", GOOD.encode() + text + b"\n" + GOOD.replace("1", "3").encode())
    with pytest.raises(AngelError, match=rf"x\.txt, line {4 + line}:"):
        list(read_corpus(path, "pubtator"))
    report = CorpusReport()
    documents = list(read_corpus(path, "pubtator", strict=False, report=report))
    assert {"1", "3"} <= {d.doc_id for d in documents}
    assert all(d.mentions for d in documents if d.doc_id in "13")
    assert report.counts["faults"] >= 1
    assert not lost or report.counts[lost] >= 1


def test_an_option_that_the_format_does_not_have():
    with pytest.raises(AngelError, match=r"pubtator has no option results.*pmids"):
        read_corpus(FIXTURES / "CDR_sample.PubTator.txt", results="predictions")


def test_a_last_line_without_its_end_is_noted(tmp_path):
    report = CorpusReport()
    path = write(tmp_path, "x.txt", GOOD.rstrip("\n")[:-4])
    (document,) = read_corpus(path, report=report)
    assert document.mentions[0].concept_ids == "D00"  # a cut that cannot be seen in the line itself
    assert report.counts["unfinished_last_lines"] == 1
    assert "x.txt, line 3" in report.notes[0]


def test_the_same_id_with_another_text_is_read_and_reported(tmp_path):
    path = write(tmp_path, "x.txt", GOOD + GOOD.replace("And pain.", "No pain."))
    report = CorpusReport()
    assert len(list(read_corpus(path, report=report))) == 2
    assert report.counts["repeated_ids"] == 1
    assert report.counts["duplicate_documents"] == 0


@pytest.mark.parametrize("name", [n for n in FILES if (FIXTURES / n).is_file()])
def test_a_cut_gzip_file_is_named(tmp_path, name):
    packed = gzip.compress((FIXTURES / name).read_bytes())
    whole = write(tmp_path, "whole.gz", packed)
    expected, _ = read(name, format=FILES[name])
    found = list(read_corpus(whole, FILES[name]))
    assert [d.mentions for d in found] == [d.mentions for d in expected]
    cut = write(tmp_path, "cut.gz", packed[: len(packed) // 2])
    with pytest.raises(AngelError, match=r"cut\.gz, line \d+"):
        list(read_corpus(cut, FILES[name]))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda d: d.pop("id"), "id: Field required"),
        (lambda d: d.update(passages=3), "passages: Input should be a valid list"),
        (lambda d: d["passages"].append(None), "passages.2: Input should be a valid dictionary"),
        (lambda d: d["passages"][0].update(offset=-4), "offset: Input should be greater"),
        (lambda d: d["passages"][0].update(text="\ud800"), "hex escape"),
    ],
)
def test_a_malformed_bioc_document_is_left_out(tmp_path, change, problem):
    good = to_bioc(read("CDR_sample.PubTator.txt")[0][0])
    bad = json.loads(json.dumps(good))
    change(bad)
    lines = [json.dumps(d) for d in (good, bad, {**good, "id": "9"})]
    path = write(tmp_path, "x.json", "\n".join(lines))
    with pytest.raises(AngelError, match=rf"x\.json, line 2.*{problem}"):
        list(read_corpus(path))
    report = CorpusReport()
    documents = list(read_corpus(path, strict=False, report=report))
    assert [d.doc_id for d in documents] == ["2001", "9"]
    assert report.counts["documents_left_out"] == 1


def test_discontinuous_mentions_are_taken_whole_and_counted(tmp_path):
    document = to_bioc(CorpusDocument("1", "renal and hepatic failure"))
    locations = [{"offset": 0, "length": 5}, {"offset": 18, "length": 7}]
    document["passages"][0]["annotations"] = [
        {"id": "0", "infons": {}, "text": "renal failure", "locations": locations}
    ]
    report = CorpusReport()
    path = write(tmp_path, "x.json", json.dumps([document]))
    (found,) = read_corpus(path, report=report)
    assert found.mentions == (GoldMention(0, 25, "renal and hepatic failure"),)
    assert report.counts["discontinuous_mentions"] == 1


def test_askapatient_and_cometa_name_the_line(tmp_path):
    path = write(tmp_path, "a.txt", "1\tterm\tphrase\n2\tterm\n")
    with pytest.raises(AngelError, match=r"a\.txt, line 2"):
        list(read_corpus(path))
    assert len(list(read_corpus(path, strict=False))) == 1
    rows = (FIXTURES / "cometa/train.csv").read_text()
    path = write(tmp_path, "c.csv", rows + "10\tcut\tx")
    with pytest.raises(AngelError, match=r"c\.csv, line 5.*3 columns"):
        list(read_corpus(path))
    assert len(list(read_corpus(path, strict=False))) == 3
    path = write(tmp_path, "q.csv", rows + '10\t"open\tx\t1\tx\t1\tx\n')
    with pytest.raises(AngelError, match=r"q\.csv, line 5"):
        list(read_corpus(path))
    path = write(tmp_path, "h.csv", "Term\tExample\n")
    with pytest.raises(AngelError, match="General SNOMED ID"):
        list(read_corpus(path, "cometa"))


def test_wrong_paths_and_formats(tmp_path):
    with pytest.raises(AngelError, match="cannot be read"):
        list(read_corpus(tmp_path / "none.txt"))
    with pytest.raises(AngelError, match="no such file"):
        list(read_corpus(tmp_path / "none.txt", "pubtator"))
    with pytest.raises(AngelError, match="Cannot tell the corpus format"):
        list(read_corpus(tmp_path))
    with pytest.raises(AngelError, match="'conll'"):
        list(read_corpus(FIXTURES / "bioc.xml", "conll"))
    with pytest.raises(AngelError, match=r"x\.spacy is not a spaCy DocBin"):
        list(read_corpus(write(tmp_path, "x.spacy", b"nothing")))


def test_a_docbin_that_unpacks_without_end_is_refused(tmp_path):
    path = write(tmp_path, "x.spacy", zlib.compress(bytes(2**27)))
    with pytest.raises(AngelError, match=r"x\.spacy: .* over 300 times"):
        list(read_corpus(path))


# There and back

SPACES = " \t\n\r\u00a0\u2028"
TEXTS = st.text(st.characters(codec="utf-8") | st.sampled_from("abc|t|a|-()" + SPACES), max_size=40)


@st.composite
def documents(draw, text=TEXTS):
    text = draw(text)
    words = [at for at, c in enumerate(text) if not c.isspace()]
    mentions = []
    for _ in range(draw(st.integers(0, 3)) if words else 0):
        start, end = sorted(draw(st.tuples(st.sampled_from(words), st.sampled_from(words))))
        label = draw(st.sampled_from(["", "Disease", "T047,T191"]))
        concept_ids = draw(
            st.sampled_from(["", "MESH:D003920", "MESH:D1|OMIM:2", "UMLS:C1+UMLS:C2"])
        )
        mentions.append(GoldMention(start, end + 1, text[start : end + 1], label, concept_ids))
    title_end = draw(st.none() | st.integers(0, len(text)))
    return CorpusDocument("7", text, tuple(mentions), title_end)


def outline(document):
    places = [(m.start, m.end, m.label, m.concept_ids) for m in document.mentions]
    return document.doc_id, sorted(places)


@pytest.mark.parametrize(
    ("format", "write", "changed"),
    [("pubtator", write_pubtator, "\t\n\r"), ("bioc_json", write_bioc_json, "")],
)
@settings(max_examples=200, deadline=None)
@given(document=documents())
def test_documents_there_and_back(tmp_path_factory, format, write, changed, document):
    path = tmp_path_factory.mktemp("x") / "x"
    write([document, document], path)
    found = list(read_corpus(path, format, keep_duplicates=True))
    assert [outline(d) for d in found] == [outline(document)] * 2
    text = document.text.translate(dict.fromkeys(map(ord, changed), " "))
    assert [d.text for d in found] == [text] * 2


@pytest.fixture(scope="module")
def nlp():
    import spacy

    return spacy.blank("en")


@settings(max_examples=100, deadline=None)
@given(document=documents())
def test_docs_there_and_back(nlp, document):
    doc = to_doc(document, nlp)
    assert from_doc(doc) == document
    spans = [(span.start_char, span.end_char) for span in doc.spans["gold"]]
    assert spans == [(m.start, m.end) for m in document.mentions]
    if document.mentions:
        assert doc.ents


def test_docbin_there_and_back(tmp_path):
    expected = [
        document
        for name in ("NCBItrainset_corpus.txt", "CDR_sample.PubTator.txt", "corpus_pubtator.txt")
        for document in read(name)[0]
    ]
    write_docbin(expected[:2], tmp_path / "a.spacy")
    write_docbin(expected[2:], tmp_path / "b.spacy")
    assert list(read_corpus(tmp_path)) == expected


def test_doc_ents_are_the_longest_and_keep_their_ids(nlp):
    document = read("corpus_pubtator.txt")[0][0]
    doc = to_doc(document, nlp)
    assert [(e.text, e.label_, e.kb_id_) for e in doc.ents] == [
        ("DCTN4", "T116,T123", "UMLS:C4308010"),
        ("Naïve T cells", "T025", "UMLS:C0001234"),
        ("Pseudomonas aeruginosa (Pa) infection", "T047", "UMLS:C0854135"),
        ("cystic fibrosis", "T047", "UMLS:C0010674"),
    ]
    assert len(doc.spans["gold"]) == 5
    assert doc.user_data["doc_id"] == "3001"
    doc.spans["sc"] = list(doc.spans.pop("gold"))[:2]
    doc.set_ents([])
    assert len(from_doc(doc).mentions) == 2


def test_an_id_that_would_break_pubtator_is_refused():
    for doc_id in ("", "a|b", "a\tb", "a\nb"):
        with pytest.raises(AngelError, match="BioC JSON"):
            format_pubtator(CorpusDocument(doc_id, "text"))


# The corpora themselves

CORPORA = [
    ("ncbi-disease/NCBItrainset_corpus.txt", 593, 5145),
    ("ncbi-disease/NCBIdevelopset_corpus.txt", 100, 787),
    ("bc5cdr/CDR_TrainingSet.PubTator.txt", 500, 9385),
    ("bc5cdr/CDR_DevelopmentSet.PubTator.txt", 500, 9591),
    ("bc5cdr/CDR_DevelopmentSet.BioC.xml", 500, 9591),
    ("aap/AskAPatient.fold-0.test.txt", 867, 867),
    ("aap/AskAPatient.fold-0.train.txt", 15612, 15612),
]


@pytest.mark.parametrize(("name", "documents", "mentions"), CORPORA)
def test_figures_of_the_corpora(name, documents, mentions):
    path = shared_data(name)
    report = CorpusReport()
    found = sum(len(d.mentions) for d in read_corpus(path, report=report))
    counts = report.counts
    assert counts["documents"] + counts["duplicate_documents"] == documents
    assert found + counts["duplicate_mentions"] == mentions
    assert counts["faults"] == 0


@pytest.mark.slow
def test_medmentions_streams_in_bounded_memory():
    """All documents together take 38 MB; a stream holds one of them and a digest of each."""
    path = shared_data("medmentions/st21pv_train.rebuilt.pubtator.gz")
    report = CorpusReport()
    tracemalloc.start()
    try:
        mentions = sum(len(document.mentions) for document in read_corpus(path, report=report))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert mentions == 121992
    assert report.counts == {"documents": 2635, "mentions": 121992}
    assert peak < 2_000_000
