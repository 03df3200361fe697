"""Tables of links."""

import csv
import io
import json

import pytest

from spacy_angel.annotation.outputs import OUTPUT_FORMATS

NIL = {"concept_id": None, "name": None, "probability": None, "share": None}
LINK = NIL | {"concept_id": "MESH:D008881", "name": "Migraine Disorders", "probability": 0.75}
TEXT = 'migraine,\t"aspirin"\nand more'
MENTIONS = [
    {"start": 0, "end": 8, "text": "migraine", "label": "D", **LINK},
    {"start": 8, "end": 23, "text": TEXT[8:23], "label": "B", **NIL},
]
ROWS = [
    {"input": "in.txt", "doc_id": "d,1", "title_end": None, "text": TEXT, "mentions": MENTIONS},
    {"input": "in.txt", "doc_id": "d2", "title_end": None, "text": "x", "mentions": []},
]


def test_a_row_a_mention():
    assert OUTPUT_FORMATS["csv"](ROWS, False, False).decode() == (
        "input,doc_id,start,end,text,label,concept_id,name,probability,share\n"
        'in.txt,"d,1",0,8,migraine,D,MESH:D008881,Migraine Disorders,0.75,\n'
        'in.txt,"d,1",8,23,",\t""aspirin""\nand",B,,,,\n'
    )


@pytest.mark.parametrize(("format", "separator"), [("csv", ","), ("tsv", "\t")])
def test_tables_are_read_as_they_were_written(format, separator):
    pd = pytest.importorskip("pandas")
    frame = pd.read_csv(io.BytesIO(OUTPUT_FORMATS[format](ROWS, False, False)), sep=separator)
    assert frame["text"].tolist() == ["migraine", TEXT[8:23]]
    assert frame["probability"].tolist()[0] == 0.75
    assert frame["concept_id"].isna().tolist() == [False, True]


def test_candidates_are_a_column():
    candidates = [LINK, LINK | {"concept_id": "A"}]
    row = ROWS[0] | {"mentions": [MENTIONS[0] | {"candidates": candidates}]}
    table = OUTPUT_FORMATS["tsv"]([row], True, False).decode()
    (found,) = csv.DictReader(io.StringIO(table), delimiter="\t")
    assert json.loads(found["candidates"]) == candidates


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_what_a_note_says_of_a_mention_is_in_columns(format):
    pd = pytest.importorskip("pandas")
    said = {"negated": True, "uncertain": False, "historical": False, "hypothetical": False}
    row = ROWS[0] | {"mentions": [MENTIONS[0] | said | {"experiencer": "family"}]}
    data = io.BytesIO(OUTPUT_FORMATS[format]([row], False, True))
    if format == "csv":
        (found,) = pd.read_csv(data).to_dict("records")
    else:
        ((found,),) = pd.read_parquet(data)["mentions"]
    assert {name: found[name] for name in said} == said
    assert found["experiencer"] == "family"
