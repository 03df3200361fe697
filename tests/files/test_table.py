"""Tables: what was written is read again, row by row; what is none is named."""

import gzip

import pytest

from spacy_angel.errors import AngelError
from spacy_angel.files.table import read_table, table_writer

ROWS = [["heart attack", 1, 0.5], ['a "b", c\td', 2, None], [None, None, None]]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".xlsx", ".parquet"])
def test_a_table_is_read_as_it_was_written(suffix, tmp_path):
    path = tmp_path / f"t{suffix}"
    with table_writer(path, {"name": str, "n": int, "p": float}) as write:
        for row in ROWS:
            write(row)
    is_text = suffix in (".csv", ".tsv")
    rows = [["" if v is None else str(v) for v in row] for row in ROWS] if is_text else ROWS
    table = read_table(path)
    assert (table.columns, [*map(list, table.rows)]) == (["name", "n", "p"], rows)


def test_parquet_keeps_the_types_of_its_columns(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"day": pa.array([1], pa.int32()), "s": ["x"]}), tmp_path / "a.parquet")
    table = read_table(tmp_path / "a.parquet")
    columns = {"day": str, "s": str, "p": float}
    with table_writer(tmp_path / "b.parquet", columns, table.schema) as write:
        for row in table.rows:
            write([*row, 0.5])
    with table_writer(tmp_path / "long.parquet", {"n": int}) as write:
        for n in range(10_001):
            write([n])
    assert pq.ParquetFile(tmp_path / "long.parquet").num_row_groups == 2
    assert pq.read_table(tmp_path / "long.parquet")["n"].to_pylist() == list(range(10_001))
    assert pq.read_table(tmp_path / "b.parquet").to_pydict() == {"day": [1], "s": ["x"], "p": [0.5]}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "expected names of columns"),
        ("a.csv", "a,b\n1,2,3\n", "row 2: expected 2 cells as in the first row, found 3"),
        ("a.xlsx", "a,b", "cannot be read as xlsx"),
        ("a.parquet", "a,b", "cannot be read as parquet"),
        ("a.txt", "a", r"Expected a table \(.csv"),
        ("none.csv", None, "there is no such file"),
    ],
)
def test_what_is_no_table_is_refused(name, content, message, tmp_path):
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(AngelError, match=message):
        list(read_table(tmp_path / name).rows)


def test_text_may_be_packed_and_separated_by_semicolons(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress("\ufeffa;b\n1;2,5\n3\n".encode()))
    table = read_table(path)
    assert table.columns == ["a", "b"]
    assert list(table.rows) == [["1", "2,5"], ["3", None]]
    assert table.place("b") == 1
    with pytest.raises(AngelError, match=r"no column 'c'\. Known: a, b"):
        table.place("c")
