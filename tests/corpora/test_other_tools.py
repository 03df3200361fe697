"""Files as other tools write them, and faults of them that do not make a file unreadable."""

import json

import pytest
import spacy

from spacy_angel.corpora.docs import to_doc
from spacy_angel.corpora.documents import CorpusDocument, CorpusReport, GoldMention
from spacy_angel.corpora.registry import (
    infer_format,
    read_corpus,
    writable_formats,
    write_corpus,
)
from spacy_angel.errors import AngelError, AngelWarning

TEXT = "Gout and fever."


def write(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, encoding="utf8", newline="")
    return path


def found(path, report=None):
    return [
        (mention.text, mention.label, mention.concept_ids)
        for document in read_corpus(path, report=report)
        for mention in document.mentions
    ]


def bioc(whole, /, **annotation):
    return {"id": "1", "passages": [{"offset": 0, "text": whole, "annotations": [annotation]}]}


def located(start, end, text, **infons):
    place = {"offset": start, "length": end - start}
    return {"text": text, "locations": [place], "infons": infons}


OUTSIDE = CorpusDocument("77", TEXT, (GoldMention(9, 40, "fever"), GoldMention(0, 4, "Gout")))


@pytest.mark.parametrize("format", writable_formats())
def test_writers_skip_mentions_that_end_beyond_the_text(tmp_path, format):
    with pytest.warns(AngelWarning, match="9-40 of document 77"):
        write_corpus([OUTSIDE], tmp_path / "out", format)
    (document,) = read_corpus(tmp_path / "out", format, strict=False, **only(format))
    assert [mention.text for mention in document.mentions] == ["Gout"]


def only(format):
    return {"results": "predictions"} if format == "label_studio" else {}


def test_a_doc_skips_mentions_that_end_beyond_the_text():
    with pytest.warns(AngelWarning, match="9-40 of document 77"):
        assert len(to_doc(OUTSIDE, spacy.blank("en")).spans["gold"]) == 1


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", f"77|t|{TEXT}\n77|a|\n77\t9\t40\tfever\tDisease\tD1\n"),
        ("a.json", bioc(TEXT, **located(9, 40, "fever")) | {"id": "77"}),
        ("a.jsonl", {"id": 77, "text": TEXT, "mentions": [{"start": 9, "end": 40}]}),
        ("a.jsonl", {"id": 77, "text": TEXT, "entities": [[9, 40, "X"]]}),
    ],
)
def test_readers_skip_mentions_that_end_beyond_the_text(tmp_path, name, content):
    report = CorpusReport()
    with pytest.warns(AngelWarning, match="9-40 of document 77"):
        assert found(write(tmp_path, name, content), report) == []
    assert report.counts["mentions_outside_text"] == 1


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        # doccano, of two versions
        ("a.jsonl", {"text": TEXT, "label": [[0, 4, "DISO"]]}, ("Gout", "DISO", "")),
        (
            "a.jsonl",
            {
                "text": TEXT,
                "entities": [{"id": 4, "label": "X", "start_offset": 0, "end_offset": 4}],
            },
            ("Gout", "X", ""),
        ),
        # Prodigy
        (
            "a.jsonl",
            {"text": TEXT, "spans": [{"start": 9, "end": 14, "label": "X"}], "answer": "accept"},
            ("fever", "X", ""),
        ),
        # spaCy
        (
            "a.json",
            {"text": TEXT, "ents": [{"start": 0, "end": 4, "label": "X", "kb_id": "D006073"}]},
            ("Gout", "X", "MESH:D006073"),
        ),
        # Label Studio, JSON-MIN
        (
            "a.json",
            [{"text": TEXT, "label": [{"start": 0, "end": 4, "text": "Gout", "labels": ["X"]}]}],
            ("Gout", "X", ""),
        ),
        # PubAnnotation
        (
            "a.json",
            {
                "text": TEXT,
                "denotations": [{"id": "T1", "span": {"begin": 0, "end": 4}, "obj": "X"}],
                "attributes": [{"id": "A1", "subj": "T1", "pred": "id", "obj": "MESH:D006073"}],
            },
            ("Gout", "X", "MESH:D006073"),
        ),
        # BERN2
        (
            "a.json",
            {
                "text": TEXT,
                "annotations": [
                    {
                        "id": ["mesh:D006073", "mesh:D1"],
                        "mention": "Gout",
                        "obj": "disease",
                        "span": {"begin": 0, "end": 4},
                    }
                ],
            },
            ("Gout", "disease", "MESH:D006073|MESH:D1"),
        ),
        # BioC: a list of collections, other names of identifiers, no location, normalized text
        (
            "a.json",
            [{"documents": [bioc(TEXT, **located(0, 4, "Gout", type="X", MESH_ID="D006073"))]}],
            ("Gout", "X", "MESH:D006073"),
        ),
        (
            "a.json",
            bioc("TGF-β up", **located(0, 8, "TGF-beta", **{"Entrez Gene ID": "7040"})),
            ("TGF-β", "", "NCBIGene:7040"),
        ),
        # PubTator: dbSNP's number as tmVar 3 has it
        (
            "a.txt",
            "1|t|V600E\n1|a|\n1\t0\t5\tV600E\tMutation\ttmVar:p|SUB|V|600|E;RS#:113488022\n",
            ("V600E", "Mutation", "rs113488022"),
        ),
    ],
)
def test_files_of_other_tools_are_read(tmp_path, name, content, expected):
    assert found(write(tmp_path, name, content)) == [expected]


def test_what_says_nothing_of_the_text_is_counted(tmp_path):
    report = CorpusReport()
    document = bioc(TEXT, infons={"identifier": "MESH:D1"})
    assert found(write(tmp_path, "a.json", document), report) == []
    assert report.counts["annotations_without_location"] == 1
    row = {"text": TEXT, "spans": [{"start": 0, "end": 4}], "answer": "reject"}
    assert found(write(tmp_path, "a.jsonl", row), report) == []
    assert report.counts["rejected_documents"] == 1
    row = {"text": TEXT, "labels": ["POSITIVE"], "label": 1, "spans": None}
    assert found(write(tmp_path, "a.jsonl", row)) == []
    row = {"text": TEXT, "ents": [{"start": 0, "end": 4, "labels": [7]}]}
    with pytest.raises(AngelError, match="as an annotation tool lists them"):
        found(write(tmp_path, "a.jsonl", row))


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("a.jsonl", {"text": TEXT, "entities": [{"first": 0, "last": 4}]}),
        ("a.jsonl", {"text": TEXT, "ner": [{"startChar": 0, "length": 4}]}),
        ("a.jsonl", {"text": TEXT, "found": [[0, 4, "Disease"]]}),
        ("a.json", [[TEXT, {"entities": [[0, 4, "Disease"]]}]]),
    ],
)
def test_mentions_in_an_unknown_form_are_refused(tmp_path, name, row):
    path = write(tmp_path, name, row)
    with pytest.raises(AngelError, match=r"seems to hold mentions|an object with a text was"):
        list(read_corpus(path, name[2:]))
    row = {"text": TEXT, "tokens": [{"start": 0, "end": 4}], "spans": [], "sources": [{"id": 7}]}
    assert found(write(tmp_path, "a.jsonl", row)) == []


@pytest.mark.parametrize(
    ("text", "start", "end", "unit"),
    [("Fièvre, ménisque", 9, 18, "bytes"), ("😀 fever", 3, 8, "UTF-16 units")],
)
def test_offsets_that_count_no_characters_are_told(tmp_path, text, start, end, unit):
    mention = text.split()[-1]
    path = write(
        tmp_path, "a.json", bioc("x" + text + " it is.", **located(start + 1, end + 1, mention))
    )
    with pytest.raises(AngelError, match=f"The offsets count {unit} of the text"):
        found(path)


def test_brat_with_line_ends_of_windows_notes_and_a_name_twice(tmp_path):
    lines = (
        "T1\tX 6 10\tGout\r\nT1\tX 0 5\tFever\r\n#1\tAnnotatorNotes T1\tC0018099, HP:0001997\r\n"
    )
    write(tmp_path, "b/1.ann", lines + "#2\tAnnotatorNotes T1\tis this right?\r\n")
    write(tmp_path, "b/1.txt", "Fever\r\nGout\r\n")
    report = CorpusReport()
    assert found(tmp_path / "b", report) == [
        ("Gout", "X", "UMLS:C0018099|HP:0001997"),
        ("Fever", "X", ""),
    ]
    assert report.counts["repeated_names"] == 1
    assert report.counts["relations_and_notes_left_out"] == 1


JATS = """<!DOCTYPE article PUBLIC "x" "y.dtd"><article><front><article-meta>
<article-id pub-id-type="pmid">7</article-id><title-group><article-title>On <italic>TERT</italic>
</article-title></title-group><abstract><title>Aim</title><p>To ask.</p></abstract></article-meta>
</front><body><sec><title>Methods</title><p>We <b>did</b>.</p><table><p>1</p></table></sec></body>
</article>"""


def test_articles_of_pubmed_central_are_read(tmp_path):
    path = write(tmp_path, "a.nxml", JATS)
    assert infer_format(path) == "jats"
    text = "On TERT Aim\nTo ask.\nMethods\nWe did."
    expected = CorpusDocument("7", text, title_end=7)
    assert list(read_corpus(path)) == [expected]
    whole = JATS.partition("<article>")[2]
    path = write(tmp_path, "set.xml", f"<pmc-articleset><article>{whole}</pmc-articleset>")
    assert list(read_corpus(path)) == [expected]


def test_pubmed_with_lines_in_bold_and_an_abstract_from_elsewhere(tmp_path):
    article = (
        "<PubmedArticle><MedlineCitation><PMID>{}</PMID><Article><ArticleTitle>{}</ArticleTitle>"
        "{}</Article>{}</MedlineCitation></PubmedArticle>"
    )
    bold = (
        "<Abstract><AbstractText><b>Age: 7</b><b>Gout</b> H<sub>2</sub>O</AbstractText></Abstract>"
    )
    other = '<OtherAbstract Language="{}"><AbstractText>{}</AbstractText></OtherAbstract>'
    others = other.format("fre", "La goutte.") + other.format("eng", "Gout.")
    articles = article.format(1, "A", bold, others) + article.format(2, "", "", others)
    path = write(tmp_path, "a.xml", f"<PubmedArticleSet>{articles}</PubmedArticleSet>")
    assert [(document.text, document.title_end) for document in read_corpus(path)] == [
        ("A Age: 7 Gout H2O", 1),
        ("Gout.", None),
    ]
