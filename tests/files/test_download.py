"""Files from the web: whole and right, or not at all."""

import hashlib
from datetime import datetime, timezone

import pytest
from support.server import Page, serving

from spacy_angel.errors import AngelError
from spacy_angel.files.download import NoSuchFile, download

CONTENT = bytes(range(256)) * 1000


@pytest.fixture
def server():
    with serving() as running:
        yield running


@pytest.fixture
def path(tmp_path):
    return tmp_path / "downloads" / "file.obo"


def fetch(server, path, name="/file", **options):
    return download(server.address + name, path, **options)


def test_a_file_is_fetched_and_replaced(server, path):
    server.pages["/file"] = Page(CONTENT)
    fetch(server, path)
    assert path.read_bytes() == CONTENT
    assert str(datetime.fromtimestamp(path.stat().st_mtime, timezone.utc))[:10] == "2026-03-01"
    server.pages["/file"] = Page(b"new")
    fetch(server, path)
    assert path.read_bytes() == b"new"
    assert [p.name for p in path.parent.iterdir()] == ["file.obo"]


def test_what_broke_off_is_not_kept(server, path):
    server.pages["/file"] = Page(CONTENT, breaks_after=[1000])
    with pytest.raises(AngelError, match="Cannot download"):
        fetch(server, path)
    assert list(path.parent.iterdir()) == []
    server.pages["/file"] = Page(CONTENT, pause=0.5)
    with pytest.raises(AngelError, match="Cannot download"):
        fetch(server, path, timeout=0.1)
    fetch(server, path)
    assert path.read_bytes() == CONTENT


def test_a_wrong_checksum_keeps_nothing_of_it(server, path):
    server.pages["/file"] = Page(b"old")
    fetch(server, path, checksum=f"md5:{hashlib.md5(b'old').hexdigest()}")
    server.pages["/file"] = Page(b"changed on the way")
    with pytest.raises(AngelError, match=r"the sha256 checksum .*expected 00"):
        fetch(server, path, checksum="sha256:00")
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize(
    ("status", "kind"),
    [(404, NoSuchFile), (500, AngelError)],
)
def test_an_error_of_the_server_is_told_with_the_address(server, path, status, kind):
    server.pages["/file"] = Page(status=status)
    message = rf"Cannot download.*/file: the server answers {status}.*--file"
    with pytest.raises(AngelError, match=message) as caught:
        fetch(server, path)
    assert type(caught.value) is kind
    assert len(server.seen) == 1


def test_a_web_page_in_place_of_the_file_is_told(server, path):
    server.pages["/file"] = Page(b"\n<!DOCTYPE html><html>Are you human?</html>")
    with pytest.raises(AngelError, match="answers with a web page"):
        fetch(server, path)
    assert not path.exists()


def test_a_key_is_not_told(server, path):
    name = "/file?url=x&apiKey={key}"
    with pytest.raises(AngelError) as caught:
        fetch(server, path, name, key="SECRET")
    assert "SECRET" not in str(caught.value)
    server.pages["/file"] = Page(CONTENT)
    fetch(server, path, name, key="SECRET")
    assert server.seen[-1].endswith("SECRET")
