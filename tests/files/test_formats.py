"""Formats by name and content, and those of other packages."""

from pathlib import Path

import pytest

from spacy_angel.errors import AngelError
from spacy_angel.files.formats import Format, Formats, checked_options

GROUP = "spacy_angel_test_formats"


def read_letters(path: Path, reading: object, upper: bool = False, kinds: str = ""):
    yield path


LETTERS = Format("letters.v1", read_letters, lambda path, head: head.startswith("letters"))
EMPTY = Format("empty", read_letters, lambda path, head: path.suffix == ".empty")


def test_a_format_and_its_options() -> None:
    assert LETTERS.options == ("upper", "kinds")
    given = {"upper": "yes", "kinds": "a"}
    assert checked_options(read_letters, given, "letters.v1") == {"upper": True, "kinds": "a"}
    with pytest.raises(AngelError, match=r"letters\.v1 has no option case\. Its options: upper"):
        checked_options(read_letters, {"case": 1}, "letters.v1")
    with pytest.raises(AngelError, match="Its options: prefix, upper, kinds"):
        checked_options(read_letters, {"case": 1}, "letters.v1", ["prefix"])


def test_formats_by_name_and_content(tmp_path: Path) -> None:
    formats = Formats("letter", GROUP, [LETTERS, EMPTY])
    assert list(formats) == ["letters.v1", "empty"]
    assert formats.named("letters") is formats.named("letters.v1") is LETTERS
    with pytest.raises(AngelError, match=r"no letter format 'brat'. Known: letters\.v1, empty"):
        formats.named("brat")
    (tmp_path / "a").write_text("\ufeff\n letters", encoding="utf8")
    (tmp_path / "b").write_text("numbers")
    (tmp_path / "c").write_text(" \n")
    (tmp_path / "d.empty").touch()
    (tmp_path / "e").write_bytes("letters".encode("utf-16"))
    assert formats.of(tmp_path / "a") is LETTERS
    assert formats.of(tmp_path / "d.empty") is EMPTY
    assert formats.recognized(tmp_path / "b") is None
    for name, message in {
        "b": r"Cannot tell the letter format of .*b\. .*letters\.v1, empty",
        "c": "c is empty; expected a letter",
        "e": "e is UTF-16",
        "": "Cannot tell the letter format",
    }.items():
        with pytest.raises(AngelError, match=message):
            formats.of(tmp_path / name)
