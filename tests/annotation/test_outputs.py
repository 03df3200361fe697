"""Tables of links, and one stream of several shards."""

import csv
import io
import json

import pytest

from spacy_angel.annotation.documents import (
    SCORES,
    AnnotatedDocument,
    AnnotatedMention,
    ScoredConcept,
    to_row,
)
from spacy_angel.annotation.outputs import OUTPUT_FORMATS
from spacy_angel.annotation.streams import check_stream_format, shard_writer
from spacy_angel.errors import AngelError

TEXT = 'migraine,\t"aspirin"\nand more'
DOCUMENT = AnnotatedDocument(
    "d,1",
    TEXT,
    (
        AnnotatedMention(0, 8, "migraine", "D", "MESH:D008881", "Migraine Disorders", 0.75),
        AnnotatedMention(8, 23, TEXT[8:23], "B"),
    ),
)


def table(format: str, candidates: bool = False) -> str:
    kind = OUTPUT_FORMATS[format]
    documents = (DOCUMENT, AnnotatedDocument("d2", "x"))
    pieces = [kind.encode(document, None, candidates) for document in documents]
    return kind.join(pieces, candidates).decode("utf8")


def test_a_row_a_mention() -> None:
    assert table("csv") == (
        "doc_id,start,end,text,label,concept_id,name,probability,share\n"
        '"d,1",0,8,migraine,D,MESH:D008881,Migraine Disorders,0.75,\n'
        '"d,1",8,23,",\t""aspirin""\nand",B,,,,\n'
    )
    assert table("tsv").splitlines()[1] == (
        "d,1\t0\t8\tmigraine\tD\tMESH:D008881\tMigraine Disorders\t0.75\t"
    )


@pytest.mark.parametrize(("is_share", "name", "other"), [(0, *SCORES), (1, *SCORES[::-1])])
def test_a_probability_and_a_share_have_columns_of_their_own(is_share, name, other) -> None:
    candidates = (ScoredConcept("A:1", "a", 0.5),)
    mention = AnnotatedMention(0, 1, "x", "", "A:1", "a", 0.5, candidates, is_share=bool(is_share))
    (row,) = to_row(AnnotatedDocument("d", "x", (mention,)), candidates=True)["mentions"]
    for scores in (row, row["candidates"][0]):
        assert (scores[name], scores[other]) == (0.5, None)
    bioc = OUTPUT_FORMATS["bioc_json"].encode(AnnotatedDocument("d", "x", (mention,)), None, False)
    (annotation,) = bioc["passages"][0]["annotations"]
    assert annotation["infons"][name] == "0.5"
    assert other not in annotation["infons"]


@pytest.mark.parametrize(("format", "separator"), [("csv", ","), ("tsv", "\t")])
def test_tables_are_read_as_they_were_written(format, separator) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.read_csv(io.StringIO(table(format)), sep=separator)
    assert frame["text"].tolist() == ["migraine", TEXT[8:23]]
    assert frame["probability"].tolist()[0] == 0.75
    assert frame["concept_id"].isna().tolist() == [False, True]


def test_candidates_are_a_column() -> None:
    candidates = (ScoredConcept("A:1", "a", 0.5), ScoredConcept("A:2", "b", 0.25))
    mention = AnnotatedMention(0, 8, "migraine", candidates=candidates)
    kind = OUTPUT_FORMATS["tsv"]
    piece = kind.encode(AnnotatedDocument("d", "migraine", (mention,)), None, True)
    (row,) = csv.DictReader(io.StringIO(kind.join([piece], True).decode()), delimiter="\t")
    assert [c["concept_id"] for c in json.loads(row["candidates"])] == ["A:1", "A:2"]


def test_shards_follow_each_other_with_one_line_of_names(tmp_path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.csv").write_text("x,y\n3,4\n")
    stream = io.BytesIO()
    write = shard_writer("csv", stream)
    write(tmp_path / "a.csv")
    write(tmp_path / "b.csv")
    assert stream.getvalue() == b"x,y\n1,2\n3,4\n"


def test_formats_of_one_piece_are_no_stream() -> None:
    for format in ("jsonl", "csv", "tsv", "pubtator"):
        check_stream_format(format)
    with pytest.raises(AngelError, match="Take one of jsonl, csv, tsv, pubtator, or give a folder"):
        check_stream_format("parquet")
