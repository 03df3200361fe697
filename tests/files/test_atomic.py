"""Nothing half written is ever seen under a file's or folder's name."""

from contextlib import suppress

from spacy_angel.files.atomic import (
    replacing_folder,
    replacing_path,
)


class Interrupted(Exception):
    """What stops the writing half way."""


def test_what_a_library_writes_appears_whole(tmp_path):
    with replacing_path(tmp_path / "new folder" / "file") as temporary:
        assert temporary.name.startswith(".file.")
        assert not temporary.exists()
        temporary.write_bytes(b"one")
    with replacing_path(tmp_path / "folder") as temporary:
        temporary.mkdir()
        (temporary / "a").touch()
    with suppress(Interrupted), replacing_path(tmp_path / "other") as temporary:
        temporary.mkdir()
        (temporary / "a").touch()
        raise Interrupted
    files = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")}
    assert files == {"new folder", "new folder/file", "folder", "folder/a"}


def test_a_folder_keeps_what_is_not_ours(tmp_path):
    path = tmp_path / "folder"
    path.mkdir()
    for name in ("ours", "theirs", "both"):
        (path / name).write_text("before", encoding="utf8")
    with suppress(Interrupted), replacing_folder(path, lambda entry: True) as new:
        (new / "ours").touch()
        raise Interrupted
    assert {entry.name for entry in path.iterdir()} == {"ours", "theirs", "both"}
    with replacing_folder(path, lambda entry: entry.name == "ours") as new:
        (new / "both").write_text("after", encoding="utf8")
    contents = {entry.name: entry.read_text(encoding="utf8") for entry in path.iterdir()}
    assert contents == {"theirs": "before", "both": "after"}
    assert list(tmp_path.iterdir()) == [path]
