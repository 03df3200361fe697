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


def second(*annotations):
    passages = [{"offset": 0, "text": "Age"}, {"offset": 2, "text": TEXT}]
    return {"id": "1", "passages": [passages[0], passages[1] | {"annotations": annotations}]}


NCBI_GENE = ("Gout", "", "NCBIGene:7")
PLACES = [(9, 40), (-3, 4), (4, 0), (4, 4), (4, 5)]
OUTSIDE = CorpusDocument(
    "77", TEXT, (*(GoldMention(*place, "fever") for place in PLACES), GoldMention(0, 4, "Gout"))
)


@pytest.mark.parametrize("format", writable_formats())
def test_writers_skip_mentions_without_text(tmp_path, format):
    with pytest.warns(AngelWarning, match="9-40 of document 77"):
        write_corpus([OUTSIDE], tmp_path / "out", format)
    (document,) = read_corpus(tmp_path / "out", format, strict=False, **only(format))
    assert [mention.text for mention in document.mentions] == ["Gout"]


def only(format):
    return {"results": "predictions"} if format == "label_studio" else {}


def test_a_doc_skips_mentions_without_text():
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


SPAN = {"start": 0, "end": 4}
X = {**SPAN, "label": "X"}


def row(**fields):
    return {"text": TEXT, **fields}


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        # doccano, of three versions
        ("a.jsonl", row(label=[[0, 4, "X"]]), ("Gout", "X", "")),
        (
            "a.jsonl",
            row(entities=[{"id": 4, "label": "X", "start_offset": 0, "end_offset": 4}]),
            ("Gout", "X", ""),
        ),
        (
            "a.jsonl",
            row(annotations=[{"label": 2, "start_offset": 0, "end_offset": 4}]),
            ("Gout", "2", ""),
        ),
        # Prodigy; spaCy and its span groups; Argilla; MedCAT; Hugging Face
        ("a.jsonl", row(spans=[X], answer="accept"), ("Gout", "X", "")),
        ("a.json", row(ents=[X | {"kb_id": "D006073"}]), ("Gout", "X", "MESH:D006073")),
        ("a.json", row(ents=[], spans={"sc": [X]}), ("Gout", "X", "")),
        ("a.jsonl", row(annotation=[["X", 0, 4, 0.9]]), ("Gout", "X", "")),
        ("a.json", row(entities={"0": SPAN | {"cui": "C0018099"}}), ("Gout", "", "UMLS:C0018099")),
        ("a.jsonl", row(entities=[SPAN | {"entity_group": "X"}]), ("Gout", "X", "")),
        # Label Studio: JSON-MIN, CSV, and lines
        ("a.json", [row(label=[SPAN | {"text": "Gout", "labels": ["X"]}])], ("Gout", "X", "")),
        (
            "a.csv",
            f'text,label\n{TEXT},"[{{""start"": 0, ""end"": 4, ""labels"": [""X""]}}]"\n',
            ("Gout", "X", ""),
        ),
        (
            "a.jsonl",
            {"data": row(), "annotations": [{"result": [{"type": "labels", "value": SPAN}]}]},
            ("Gout", "", ""),
        ),
        # Other names of identifiers, and identifiers of OBO as addresses
        ("a.json", [row(mentions=[X | {"cui": "C0018099"}])], ("Gout", "X", "UMLS:C0018099")),
        (
            "a.json",
            row(ents=[[0, 4, "X", "http://purl.obolibrary.org/obo/HP_0001997"]]),
            ("Gout", "X", "HP:0001997"),
        ),
        # PubAnnotation
        (
            "a.json",
            row(
                denotations=[{"id": "T1", "span": {"begin": 0, "end": 4}, "obj": "X"}],
                attributes=[
                    {"subj": "T1", "pred": "id", "obj": "MESH:D006073"},
                    {"subj": "T1", "pred": "negated", "obj": False},
                ],
            ),
            ("Gout", "X", "MESH:D006073"),
        ),
        # BERN2
        (
            "a.json",
            row(annotations=[{"id": ["mesh:D006073", "CUI-less"], "obj": "X", "span": SPAN}]),
            ("Gout", "X", "MESH:D006073"),
        ),
        # BioC: a list of collections, other names of identifiers, no text, normalized text
        (
            "a.json",
            [{"documents": [bioc(TEXT, **located(0, 4, "Gout", type="X", MESH_ID="D006073"))]}],
            ("Gout", "X", "MESH:D006073"),
        ),
        (
            "a.json",
            bioc(TEXT, **located(0, 4, None, normalized=["D006073", "OMIM:1"])),
            ("Gout", "", "MESH:D006073|OMIM:1"),
        ),
        (
            "a.json",
            bioc(TEXT, **located(0, 4, "Gout", hpo="HP:0001997")),
            ("Gout", "", "HP:0001997"),
        ),
        (
            "a.json",
            bioc("TGF-β up", **located(0, 8, "TGF-beta", **{"Entrez Gene ID": "7040"})),
            ("TGF-β", "", "NCBIGene:7040"),
        ),
        ("a.json", bioc("in Sjögren", **located(3, 11, "Sjo\u0308gren")), ("Sjögren", "", "")),
        # Mentions that count from a passage whose offset is taken; the name of the vocabulary
        ("a.json", second(located(0, 4, "Gout", identifier=7, database="ncbi_gene")), NCBI_GENE),
        ("a.json", second(located(2, 6, "Gout", NCBI_Gene_ID="7"), located(-9, 4, "")), NCBI_GENE),
        # Offsets, labels, and identifiers of other kinds; a title without an abstract
        (
            "a.jsonl",
            row(mentions=[{"start": 0.0, "end": "4", "label": ["X"]}, {"start": None}]),
            ("Gout", "X", ""),
        ),
        (
            "a.jsonl",
            {"PMID": 1, "Title": TEXT, "mentions": [{"offset": 0, "length": 4, "cui": [7]}]},
            ("Gout", "", "7"),
        ),
        (
            "a.json",
            {"documents": [row(ents=[SPAN | {"obj": "MESH:D1"}])]},
            ("Gout", "MESH:D1", "MESH:D1"),
        ),
        ("a.txt", "1|t|Gout\n1\t0\t4\tGout\n", ("Gout", "", "")),
        # PubTator: dbSNP's number as tmVar 3 has it, or the name in HGVS; further columns
        (
            "a.txt",
            "1|t|V600E\n1|a|\n1\t0\t5\tV600E\tMutation\ttmVar:p|SUB|V|600|E;RS#:113488022\n",
            ("V600E", "Mutation", "rs113488022"),
        ),
        (
            "a.txt",
            "1|t|35G>A\n1|a|\n1\t0\t5\t35G>A\tX\tc|SUB|G|35|A;HGVS:c.35G>A;Gene:1\t\t0.9\n"
            "1\tchem_gene:affects^binding\tD1\t2\n",
            ("35G>A", "X", "c.35G>A"),
        ),
    ],
)
def test_files_of_other_tools_are_read(tmp_path, name, content, expected):
    documents = read_corpus(write(tmp_path, name, content), strict=False)
    mentions = [mention for document in documents for mention in document.mentions]
    assert [(one.text, one.label, one.concept_ids) for one in mentions] == [expected]


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


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("a.jsonl", {"text": TEXT, "entities": [{"first": 0, "last": 4}]}),
        ("a.jsonl", {"text": TEXT, "ner": [{"startChar": 0, "length": 4}]}),
        ("a.jsonl", {"text": TEXT, "found": [[0, 4, "Disease"]]}),
        ("a.json", [[TEXT, {"entities": [[0, 4, "Disease"]]}]]),
        ("a.json", {"text": TEXT, "tracks": [{"denotations": [{"begin": 0, "end": 4}]}]}),
        ("a.jsonl", {"text": TEXT, "matches": [[{"start": 0, "end": 4}]]}),
        ("a.jsonl", {"text": TEXT, "entities": {"start": [0], "end": [4]}}),
        ("a.csv", "text,entities\nGout,\"[{'start': 0, 'end': 4}]\"\n"),
    ],
)
def test_mentions_in_an_unknown_form_are_refused(tmp_path, name, row):
    path = write(tmp_path, name, row)
    with pytest.raises(AngelError, match=r"seems to hold mentions|an object with a text was"):
        list(read_corpus(path, name[2:]))
    row = {"text": TEXT, "tokens": [{"start": 0, "end": 4}], "spans": [], "sources": [{"id": 7}]}
    row |= {"meta": {"start": 1, "end": 9}, "attributes": ["x1"], "labels": {"toxic": 0}}
    assert found(write(tmp_path, "a.jsonl", row)) == []


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ({"projects": [{"documents": [{"text": TEXT, "annotations": []}]}]}, "MedCATtrainer"),
        ([{"tokens": ["Gout"], "ner_tags": [1]}], "tokens with tags"),
        ("Gout\tNN\tB-Disease\nand\tCC\tO\n", "tokens with tags"),
        ([{"source": "MED", "extId": "7", "annotations": [{"exact": "Gout"}]}], "Europe PMC"),
        ("%PDF-1.4", "PDF"),
        ("#FORMAT=WebAnno TSV 3.3\n\n\n#Text=Gout\n1-1\t0-4\tGout\t_\n", "INCEpTION"),
    ],
)
def test_formats_that_cannot_be_read_are_named(tmp_path, content, name):
    with pytest.raises(AngelError, match=f"looks like .*{name}.* Convert it to one of"):
        read_corpus(write(tmp_path, "a.tsv", content))
    with pytest.raises(AngelError, match=r"the field text, .* found doc, note"):
        found(write(tmp_path, "a.json", {"doc": 1, "note": TEXT}))


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
    lines += "T2\tX 0 5\tFever\r\nA1\tCUI T2 D005334\r\n"
    write(tmp_path, "b/1.ann", lines + "#2\tAnnotatorNotes T1\tis this right?\r\n")
    write(tmp_path, "b/1.txt", "\ufeffFever\r\nGout\r\n")
    report = CorpusReport()
    assert found(tmp_path / "b", report) == [
        ("Gout", "X", "UMLS:C0018099|HP:0001997"),
        ("Fever", "X", ""),
        ("Fever", "X", "MESH:D005334"),
    ]
    assert report.counts["repeated_names"] == 1
    assert report.counts["relations_and_notes_left_out"] == 1


JATS = """<!DOCTYPE article PUBLIC "x" "y.dtd"><article><front><article-meta>
<article-id pub-id-type="pmid">7</article-id><title-group><article-title>On <italic>TERT</italic>
</article-title></title-group><abstract><title>Aim</title><p>To ask.</p></abstract></article-meta>
</front><body><sec><title>Methods</title><p>&beta;<b>-gal</b><sup><xref>1</xref></sup> in<list>
<list-item><p>a</p></list-item><list-item><p>b</p></list-item></list><table><td>1</td></table></p>
<table><p>1</p></table></sec></body></article>"""


def test_articles_of_pubmed_central_are_read(tmp_path):
    path = write(tmp_path, "a.nxml", JATS)
    assert infer_format(path) == "jats"
    text = "On TERT Aim\nTo ask.\nMethods\nβ-gal 1 in a b"
    expected = CorpusDocument("7", text, title_end=7)
    assert list(read_corpus(path)) == [expected]
    whole = JATS.partition("<article>")[2]
    for root, end in (("pmc-articleset xmlns='x:y'", ""), ("OAI-PMH", "<GetRecord><metadata>")):
        start, close = f"<{root}>{end}<article>", end[:1] and "</metadata></GetRecord>"
        path = write(tmp_path, "set.xml", f"{start}{whole}{close}</{root.split()[0]}>")
        assert list(read_corpus(path)) == [expected]


def test_pubmed_with_lines_in_bold_and_an_abstract_from_elsewhere(tmp_path):
    article = (
        "<PubmedArticle><MedlineCitation><PMID>{}</PMID><Article><ArticleTitle>{}</ArticleTitle>"
        "{}</Article>{}</MedlineCitation></PubmedArticle>"
    )
    bold = (
        "<Abstract><AbstractText><b>Age: 7</b><b>Gout</b> H<sub>2</sub>O</AbstractText></Abstract>"
    )
    other = '<OtherAbstract Language="{}"><AbstractText Label="UNLABELLED">{}</AbstractText>'
    other += "</OtherAbstract>"
    others = other.format("fre", "La goutte.") + other.format("eng", "Gout.")
    articles = article.format(1, "A", bold, others) + article.format(2, "", "", others)
    path = write(tmp_path, "a.xml", f"<PubmedArticleSet>{articles}</PubmedArticleSet>")
    assert [(document.text, document.title_end) for document in read_corpus(path)] == [
        ("A Age: 7 Gout H2O", 1),
        ("Gout.", None),
    ]
