"""Tables of links."""

import csv
import io
import json

import pytest

from spacy_angel.annotation.outputs import OUTPUT_FORMATS, AnnotatedDocument
from spacy_angel.corpora.documents import CorpusDocument, GoldMention

TEXT = 'migraine,\t"aspirin"\nand more'
NIL = {"name": None, "probability": None, "share": None}
DOCUMENT = AnnotatedDocument(
    CorpusDocument(
        "d,1",
        TEXT,
        (GoldMention(0, 8, "migraine", "D", "MESH:D008881"), GoldMention(8, 23, TEXT[8:23], "B")),
    ),
    [{**NIL, "name": "Migraine Disorders", "probability": 0.75}, NIL],
    "in.txt",
)


def table(format: str) -> str:
    kind = OUTPUT_FORMATS[format]
    documents = (DOCUMENT, AnnotatedDocument(CorpusDocument("d2", "x"), []))
    pieces = [kind.encode(document) for document in documents]
    return kind.join(pieces, False).decode("utf8")


def test_a_row_a_mention() -> None:
    assert table("csv") == (
        "input,doc_id,start,end,text,label,concept_id,name,probability,share\n"
        'in.txt,"d,1",0,8,migraine,D,MESH:D008881,Migraine Disorders,0.75,\n'
        'in.txt,"d,1",8,23,",\t""aspirin""\nand",B,,,,\n'
    )
    assert table("tsv").splitlines()[1] == (
        "in.txt\td,1\t0\t8\tmigraine\tD\tMESH:D008881\tMigraine Disorders\t0.75\t"
    )


@pytest.mark.parametrize(("format", "separator"), [("csv", ","), ("tsv", "\t")])
def test_tables_are_read_as_they_were_written(format, separator) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.read_csv(io.StringIO(table(format)), sep=separator)
    assert frame["text"].tolist() == ["migraine", TEXT[8:23]]
    assert frame["probability"].tolist()[0] == 0.75
    assert frame["concept_id"].isna().tolist() == [False, True]


def test_candidates_are_a_column() -> None:
    candidates = [
        {"concept_id": name, "name": "a", "probability": None, "share": 0.5} for name in "AB"
    ]
    document = CorpusDocument("d", "migraine", (GoldMention(0, 8, "migraine"),))
    kind = OUTPUT_FORMATS["tsv"]
    piece = kind.encode(AnnotatedDocument(document, [{**NIL, "candidates": candidates}]))
    (row,) = csv.DictReader(io.StringIO(kind.join([piece], True).decode()), delimiter="\t")
    assert json.loads(row["candidates"]) == candidates

