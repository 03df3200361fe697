"""Who may ask: addresses, tokens, and what browsers say of other pages."""

import pytest
from fastapi.testclient import TestClient

from spacy_angel.errors import AngelError
from spacy_angel.service.app import make_app
from spacy_angel.service.guards import OPEN_PATHS, access_for

TOKEN = "correct-horse-battery-staple"


@pytest.fixture
def ask(service):
    def ask(access, address="http://127.0.0.1:8000"):
        return TestClient(make_app(service, access), base_url=address)

    return ask


@pytest.fixture
def token_file(tmp_path):
    path = tmp_path / "token"
    path.write_text(TOKEN + "\n")
    return path


def status(client, path="/metrics", **headers):
    return client.get(path, headers=headers).status_code


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", ""])
def test_another_address_needs_a_token(host, token_file):
    with pytest.raises(AngelError, match="--token-file"):
        access_for(host, None, [])
    assert access_for(host, token_file, []).token == TOKEN


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.0.1", "::1", "localhost"])
def test_this_machine_needs_none(host):
    assert access_for(host, None, []).token is None


@pytest.mark.parametrize("content", ["", "two words of a secret", "\u00e4" * 20, "a" * 9])
def test_a_token_that_is_none_is_refused(content, tmp_path):
    path = tmp_path / "token"
    path.write_text(content, "utf8")
    with pytest.raises(AngelError, match="one line of 16 or more"):
        access_for("127.0.0.1", path, [])


def test_the_token_opens_what_the_page_does_not_show(ask, token_file):
    client = ask(access_for("0.0.0.0", token_file, []), "http://angel.example")
    assert {status(client, path) for path in OPEN_PATHS} == {200}
    assert status(client) == 401
    for wrong in ("", "Bearer", f"Bearer {TOKEN}x", f"Basic {TOKEN}", TOKEN, "Bearer \u00e4"):
        assert status(client, authorization=wrong.encode("latin1")) == 401
    assert status(client, authorization=f"Bearer {TOKEN}") == 200
    assert client.post("/link", json={"text": "a"}).status_code == 401
    assert 'id="token"' in client.get("/").text


def test_a_page_that_made_its_name_lead_here_is_refused(ask):
    access = access_for("127.0.0.1", None, ["angel.example"])
    for name in ("127.0.0.1:8000", "localhost", "[::1]:9", "LOCALHOST:1", "angel.example:443"):
        assert status(ask(access), host=name) == 200
    evil = ("evil.example", "127.0.0.1.evil.example", "localhost@evil.example:80")
    for name in (*evil, "[::2]", "[", ""):
        for path in ("/metrics", "/"):
            assert status(ask(access), path, host=name) == 421


def test_another_page_is_refused(ask):
    client = ask(access_for("127.0.0.1", None, []))
    assert status(client, origin="http://127.0.0.1:8000") == 200
    for origin in ("http://evil.example", "null", "http://127.0.0.1:9000", "http://localhost:8000"):
        assert status(client, origin=origin) == 403
        answer = client.post("/link", json={"text": "a"}, headers={"origin": origin})
        assert answer.status_code == 403


def test_answers_say_that_they_are_for_nobody_else(ask):
    headers = ask(access_for("127.0.0.1", None, [])).get("/health").headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert not [name for name in headers if name.startswith("access-control")]
