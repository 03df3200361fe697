"""Files from the web: whole or not at all, and never fetched twice."""

import base64
import gzip
import hashlib
import socket

import pytest
from support.server import Page, serving

from spacy_angel.errors import AngelError
from spacy_angel.files.download import NoSuchFile, cache_folder, download

CONTENT = bytes(range(256)) * 1000


@pytest.fixture
def server():
    with serving() as running:
        yield running


@pytest.fixture
def path(tmp_path):
    return tmp_path / "downloads" / "file.obo"


def fetch(server, path, name="/file", **options):
    return download(server.address + name, path, pause=0.0, **options)


def test_a_file_is_fetched_once_and_again_when_it_has_changed(server, path):
    server.pages["/file"] = Page(CONTENT)
    fetched = fetch(server, path)
    assert path.read_bytes() == CONTENT
    assert fetched.modified == "2026-03-01"
    assert fetched.sha256 == hashlib.sha256(CONTENT).hexdigest()
    assert fetched.address == f"{server.address}/file"
    server.pages["/file"] = Page(b"not sent: the mark is the same")
    assert fetch(server, path) == fetched
    server.pages["/file"] = Page(b"new", etag='"two"')
    fetch(server, path)
    assert path.read_bytes() == b"new"
    assert sorted(p.name for p in path.parent.iterdir()) == ["file.obo", "file.obo.json"]


def test_what_broke_off_goes_on_at_once(server, path):
    server.pages["/file"] = Page(CONTENT, breaks_after=[100_000, 50_000])
    fetch(server, path)
    assert path.read_bytes() == CONTENT
    assert [asked for _, asked in server.seen] == [None, "bytes=100000-", "bytes=150000-"]


def test_what_broke_off_too_often_goes_on_when_called_again(server, path):
    server.pages["/file"] = Page(CONTENT, breaks_after=[1000] * 4)
    with pytest.raises(AngelError, match=r"Cannot download.*4,000 bytes are kept"):
        fetch(server, path)
    assert not path.exists()
    fetch(server, path)
    assert path.read_bytes() == CONTENT
    assert server.seen[-1] == ("/file", "bytes=4000-")


def test_a_file_that_changed_in_between_is_fetched_from_its_start(server, path):
    server.pages["/file"] = Page(CONTENT, breaks_after=[1000] * 4)
    with pytest.raises(AngelError):
        fetch(server, path)
    server.pages["/file"] = Page(b"shorter", etag='"two"')
    fetch(server, path)
    assert path.read_bytes() == b"shorter"


def test_a_server_without_parts_or_marks_sends_everything_again(server, path):
    server.pages["/file"] = Page(CONTENT, ranges=False, breaks_after=[1000])
    fetch(server, path)
    assert path.read_bytes() == CONTENT
    server.pages["/file"] = Page(b"plain", etag="", breaks_after=[2])
    assert fetch(server, path).modified == ""
    assert path.read_bytes() == b"plain"


def test_a_wrong_checksum_keeps_nothing_of_it(server, path):
    server.pages["/file"] = Page(b"old")
    fetch(server, path, checksum=f"md5:{hashlib.md5(b'old').hexdigest()}")
    server.pages["/file"] = Page(b"changed on the way", etag='"two"')
    with pytest.raises(AngelError, match=r"the sha256 checksum .*expected 00"):
        fetch(server, path, checksum="sha256:00")
    assert path.read_bytes() == b"old"
    assert not path.with_name("file.obo.part").exists()


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("Content-MD5", "{}"),
        ("x-ms-blob-content-md5", "{}"),
        ("x-goog-hash", "crc32c=AAAAAA==, md5={}"),
    ],
)
def test_a_checksum_that_the_server_tells_is_compared(server, path, header, value):
    told = base64.b64encode(hashlib.md5(CONTENT).digest()).decode()
    server.pages["/file"] = Page(CONTENT, headers={header: value.format(told)})
    fetch(server, path)
    damaged = CONTENT[:-1] + b"?"
    server.pages["/file"] = Page(damaged, etag='"2"', headers={header: value.format(told)})
    with pytest.raises(AngelError, match=r"the md5 checksum"):
        fetch(server, path)
    assert path.read_bytes() == CONTENT
    # no checksum of this file, or none at all
    others = [{header: value.format("AAAA")}, {"x-goog-hash": "md5=x"}, {"Content-MD5": "é?"}]
    others.append({"x-goog-hash": f"md5={told}", "x-goog-stored-content-encoding": "gzip"})
    for i, headers in enumerate(others):
        server.pages["/file"] = Page(damaged, etag=f'"3{i}"', headers=headers)
        fetch(server, path)


def test_a_checksum_of_a_part_is_not_taken_for_that_of_the_file(server, path):
    def told(content):
        return {"Content-MD5": base64.b64encode(hashlib.md5(content).digest()).decode()}

    server.pages["/file"] = Page(CONTENT, breaks_after=[1000] * 4, headers=told(CONTENT))
    with pytest.raises(AngelError, match="Cannot download"):
        fetch(server, path)
    server.pages["/file"].headers = told(CONTENT[4000:])
    fetch(server, path)
    assert path.read_bytes() == CONTENT
    # what the first answer told still holds for what came in parts
    server.pages["/file"] = Page(CONTENT, '"2"', breaks_after=[1000], headers=told(b"another"))
    with pytest.raises(AngelError, match=r"has the .* checksum"):
        fetch(server, path)


def test_a_gzip_file_that_is_not_whole_is_not_kept(server, path):
    packed = gzip.compress(CONTENT)
    server.pages["/file"] = Page(packed[:-9])
    with pytest.raises(AngelError, match=r"/file sent a broken gzip file"):
        fetch(server, path)
    assert not path.exists()
    server.pages["/file"] = Page(packed[:60] + b"?" + packed[61:])
    with pytest.raises(AngelError, match="sent a broken gzip file"):
        fetch(server, path)
    server.pages["/file"] = Page(packed)
    fetch(server, path)
    assert path.read_bytes() == packed


def test_a_file_that_is_not_there_can_be_told_from_other_errors(server, path):
    for status, kind in ((404, NoSuchFile), (410, NoSuchFile), (403, AngelError)):
        server.pages["/file"] = Page(status=status)
        with pytest.raises(AngelError) as caught:
            fetch(server, path)
        assert type(caught.value) is kind


def test_redirects_are_followed(server, path):
    server.pages["/purl"] = Page(redirect="/file")
    server.pages["/file"] = Page(CONTENT)
    assert fetch(server, path, "/purl").address == f"{server.address}/purl"
    assert path.read_bytes() == CONTENT


@pytest.mark.parametrize("status", [403, 404, 500])
def test_an_error_of_the_server_is_told_with_the_address(server, path, status):
    server.pages["/file"] = Page(status=status)
    with pytest.raises(AngelError, match=rf"Cannot download.*/file: it answers {status}.*--file"):
        fetch(server, path)
    assert len(server.seen) == 1


def test_a_web_page_in_place_of_the_file_is_told(server, path):
    server.pages["/file"] = Page(b"\n<!DOCTYPE html><html>Are you human?</html>")
    with pytest.raises(AngelError, match="answers with a web page"):
        fetch(server, path)
    assert not path.exists()


def test_a_slow_server_counts_as_broken_and_goes_on(server, path):
    server.pages["/file"] = Page(CONTENT, pause=0.4)
    with pytest.raises(AngelError, match=r"Cannot download.*bytes are kept"):
        fetch(server, path, timeout=0.1)
    server.pages["/file"].pause = 0.05
    fetch(server, path, timeout=5)
    assert path.read_bytes() == CONTENT


def test_without_a_connection_the_address_is_told(path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with pytest.raises(
        AngelError, match=rf"Cannot download.*http://127.0.0.1:{port}/hp.obo.*--file"
    ):
        download(f"http://127.0.0.1:{port}/hp.obo", path, pause=0.0)


def test_a_key_is_neither_told_nor_stored(server, path):
    name = "/file?url=x&apiKey=SECRET"
    with pytest.raises(AngelError) as caught:
        fetch(server, path, name)
    assert "SECRET" not in str(caught.value)
    server.pages["/file"] = Page(CONTENT)
    fetch(server, path, name)
    assert "SECRET" not in path.with_name("file.obo.json").read_text()
    assert server.seen[-1][0].endswith("SECRET")


def test_the_cache_folder_can_be_named(monkeypatch, tmp_path):
    monkeypatch.setenv("SPACY_ANGEL_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("SPACY_ANGEL_CACHE")
    assert cache_folder().name == "spacy-angel"
