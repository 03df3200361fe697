"""Pieces and lines: gzip, encodings, line ends, and the limits that hold for every reader."""

import gzip

import pytest

from spacy_angel.errors import AngelError
from spacy_angel.files import reading as files_reading
from spacy_angel.files.faults import FileReading
from spacy_angel.files.reading import numbered_lines, open_binary, pieces


def write(folder, data, name="file"):
    path = folder / name
    path.write_bytes(data)
    return path


def lines(path, strict=True, fallback=None):
    return list(numbered_lines(path, FileReading(str(path), strict), fallback))


def test_only_a_line_feed_ends_a_line(tmp_path):
    text = "\ufeffone\r\ntwo\u2028still two\rand this\n\nfour"
    for data in (text.encode(), gzip.compress(text.encode())):
        reading = FileReading("x")
        path = write(tmp_path, data)
        assert list(numbered_lines(path, reading)) == [
            (1, "one"),
            (2, "two\u2028still two\rand this"),
            (3, ""),
            (4, "four"),
        ]
        assert reading.report.counts == {"unfinished_last_lines": 1}
        assert reading.report.position == len(data)


def test_a_line_in_another_encoding(tmp_path):
    path = write(tmp_path, b"good\nna\xefve\nend\n")
    with pytest.raises(AngelError, match=r"file, line 2: expected UTF-8 .* 0xef at column 3"):
        lines(path)
    assert lines(path, strict=False) == [(1, "good"), (3, "end")]
    assert lines(path, fallback="latin1")[1] == (2, "naïve")


def test_a_line_that_is_too_long_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(files_reading, "MAX_LINE_BYTES", 2**17)
    path = write(tmp_path, b"a\n" + b"b" * 2**19 + b"\nc\n" + b"d" * 2**18)
    with pytest.raises(AngelError, match="file, line 2: the line has more than 131072 bytes"):
        lines(path)
    reading = FileReading("x", strict=False)
    assert list(numbered_lines(path, reading)) == [(1, "a"), (3, "c")]
    assert reading.report.counts == {"faults": 2, "unfinished_last_lines": 1}
    whole = write(tmp_path, b"b" * (2**17 - 1) + b"\n")
    assert [len(line) for _, line in lines(whole)] == [2**17 - 1]


def test_the_name_does_not_make_a_gzip_file(tmp_path):
    assert open_binary(write(tmp_path, b"plain", "file.gz")).read() == b"plain"
    assert open_binary(write(tmp_path, gzip.compress(b"packed"), "file.txt")).read() == b"packed"
    with pytest.raises(AngelError, match="none cannot be read: No such file"):
        open_binary(tmp_path / "none")


def test_what_unpacks_without_end_is_refused(tmp_path):
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb") as file:
        for _ in range(100):
            file.write(b"0" * 2**20 + b"\n")
    with pytest.raises(AngelError, match=r"bomb\.gz, line 64: .* over 300 times"):
        list(pieces(path))
