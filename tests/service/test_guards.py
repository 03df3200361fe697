"""Who may ask: addresses, tokens, and what browsers say of other pages."""

import asyncio

import pytest
from fastapi.testclient import TestClient

from spacy_angel.errors import AngelError
from spacy_angel.service.app import OPEN_PATHS, make_app
from spacy_angel.service.guards import Access, Guard, access_for
from spacy_angel.service.limits import Limits
from spacy_angel.service.metrics import Metrics

TOKEN = "correct-horse-battery-staple"


@pytest.fixture
def ask(service):
    def make(access, address="http://127.0.0.1:8000"):
        app = make_app(service, access, Metrics())
        return TestClient(app, base_url=address)

    return make


@pytest.fixture
def token_file(tmp_path):
    path = tmp_path / "token"
    path.write_text(TOKEN + "\n")
    return path


def status(client, path="/metrics", **headers):
    return client.get(
        path, headers={k.replace("_", "-"): v for k, v in headers.items()}
    ).status_code


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", ""])
def test_another_address_needs_a_token(host, token_file):
    with pytest.raises(AngelError, match="--token-file"):
        access_for(host, None, [], [])
    assert access_for(host, token_file, [], []).token == TOKEN


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.0.1", "::1", "localhost"])
def test_this_machine_needs_none(host):
    assert access_for(host, None, [], []).token is None


@pytest.mark.parametrize("content", ["", "short", "two words of a secret", "\u00e4" * 20, "a" * 9])
def test_a_token_that_is_none_is_refused(content, tmp_path):
    path = tmp_path / "token"
    path.write_text(content, "utf8")
    with pytest.raises(AngelError, match="one line of 16 or more"):
        access_for("127.0.0.1", path, [], [])


def test_the_token_opens_what_the_page_does_not_show(ask, token_file):
    client = ask(access_for("0.0.0.0", token_file, [], OPEN_PATHS), "http://angel.example")
    assert {status(client, path) for path in OPEN_PATHS} == {200}
    assert status(client) == 401
    for wrong in ("", "Bearer", f"Bearer {TOKEN}x", f"Basic {TOKEN}", TOKEN, "Bearer \u00e4"):
        assert status(client, authorization=wrong.encode("latin1")) == 401
    assert status(client, authorization=f"Bearer {TOKEN}") == 200
    assert client.post("/link", json={"text": "a"}).status_code == 401
    assert 'id="token"' in client.get("/").text


def test_a_page_that_made_its_name_lead_here_is_refused(ask):
    access = access_for("127.0.0.1", None, ["angel.example"], OPEN_PATHS)
    for name in ("127.0.0.1:8000", "localhost", "[::1]:9", "LOCALHOST:1", "angel.example:443"):
        assert status(ask(access), host=name) == 200
    evil = ("evil.example", "127.0.0.1.evil.example", "localhost@evil.example:80")
    for name in (*evil, "[::2]", "[", ""):
        for path in ("/metrics", "/"):
            assert status(ask(access), path, host=name) == 421


def test_another_page_is_refused(ask):
    client = ask(access_for("127.0.0.1", None, [], OPEN_PATHS))
    assert status(client, origin="http://127.0.0.1:8000") == 200
    for origin in ("http://evil.example", "null", "http://127.0.0.1:9000", "http://localhost:8000"):
        assert status(client, origin=origin) == 403
        answer = client.post("/link", json={"text": "a"}, headers={"origin": origin})
        assert answer.status_code == 403
    assert status(client, sec_fetch_site="same-origin") == 200
    assert status(client, sec_fetch_site="cross-site") == 403
    assert status(client, sec_fetch_site="cross-site", sec_fetch_mode="navigate") == 403
    # a link to the page may stand anywhere, an image of it may not
    assert status(client, "/", sec_fetch_site="cross-site", sec_fetch_mode="navigate") == 200
    assert status(client, "/", sec_fetch_site="cross-site", sec_fetch_mode="no-cors") == 403


def test_answers_say_that_they_are_for_nobody_else(ask):
    headers = ask(access_for("127.0.0.1", None, [], OPEN_PATHS)).get("/health").headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert not [name for name in headers if name.startswith("access-control")]


def test_only_so_many_bytes_are_held_at_a_time():
    limits = Limits(max_bytes=100)
    goes_on = asyncio.Event()
    n_asked = 0

    async def waits(scope, receive, send):
        nonlocal n_asked
        n_asked += 1
        assert len((await receive())["body"]) == 100
        await goes_on.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body"})

    guard = Guard(waits, Access(), limits)

    async def ask(size):
        """RETURNS (int): the status."""
        answered = []
        pieces = [
            {"type": "http.request", "body": bytes(size - 60), "more_body": True},
            {"type": "http.request", "body": bytes(60)},
        ]

        async def receive():
            return pieces.pop(0)

        async def send(message):
            answered.append(message.get("status"))

        headers = [(b"host", b"127.0.0.1")]
        await guard({"type": "http", "path": "/link", "headers": headers}, receive, send)
        return answered[0]

    async def run():
        waiting = [asyncio.create_task(ask(100)) for _ in range(32)]
        while n_asked < 32:
            await asyncio.sleep(0)
        refused = [await ask(100), await ask(101)]
        goes_on.set()
        return refused, await asyncio.gather(*waiting), await ask(100), await ask(101)

    # What is refused is counted no longer than it is there; a large one is told by its own size.
    assert asyncio.run(run()) == ([429, 429], [200] * 32, 200, 413)
