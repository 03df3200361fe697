"""The service as a process of its own: its address, its end, requests that nobody would write."""

import re
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
import requests
from support.tiny_linker import TEXT
from typer.testing import CliRunner

from spacy_angel.cli.app import app
from spacy_angel.service import serving
from spacy_angel.service.app import make_app
from spacy_angel.service.guards import Access


def test_another_address_without_a_token_is_refused_before_anything_is_opened():
    result = CliRunner().invoke(app, ["serve", "no_such_pipeline", "--host", "0.0.0.0"])
    assert result.exit_code == 1
    assert "--token-file" in result.stderr


def test_an_extra_that_is_not_installed_is_reported_in_one_line(monkeypatch):
    monkeypatch.setattr("spacy_angel.cli.options.find_spec", lambda name: None)
    for command in ("serve", "mcp"):
        result = CliRunner().invoke(app, [command])
        assert result.exit_code == 1
        assert f"pip install 'spacy-angel[{command}]'" in result.stderr


async def small_app(scope, receive, send):
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x"})


def test_a_port_that_is_taken_is_reported(caplog):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(SystemExit):
            serving.Server(small_app, "127.0.0.1", other.getsockname()[1]).run()


def test_heads_that_never_end_are_closed_and_do_not_stop_the_service(start, monkeypatch):
    monkeypatch.setattr(serving, "MAX_CONNECTIONS", 4)
    monkeypatch.setattr(serving, "HEAD_SECONDS", 3.0)
    address = start(small_app)
    host, port = address.removeprefix("http://").split(":")
    half_open = [socket.create_connection((host, int(port)), 60) for _ in range(12)]
    for connection in half_open:
        with suppress(ConnectionError):
            connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n")
    assert requests.get(address, timeout=60).text == "x"
    for connection in half_open:
        with suppress(ConnectionResetError):
            assert connection.recv(100) == b""
        connection.close()
    assert requests.get(address, timeout=60).text == "x"


@pytest.fixture
def process(nlp, tmp_path):
    nlp.to_disk(tmp_path / "pipeline")
    command = ["-m", "spacy_angel", "serve", str(tmp_path / "pipeline"), "--port", "0"]
    with subprocess.Popen(
        [sys.executable, *command], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


def address_of(process):
    for line in process.stderr:
        if found := re.match(r"http://127\.0\.0\.1:\d+", line):
            return found[0]
    raise AssertionError("it ended")


@pytest.mark.slow
def test_a_process_that_is_told_to_stop_answers_what_was_asked(process):
    address = address_of(process)
    body = {"documents": [{"text": f"{TEXT} {i}"} for i in range(40)]}
    assert requests.post(f"{address}/link", json=body, timeout=120).status_code == 200

    def ask(i):
        return requests.post(f"{address}/link", json=body, timeout=120)

    # A client that goes away costs nobody an answer.
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as gone:
        gone.sendall(b"POST /link HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 999\r\n\r\n{")
    with ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(ask, i) for i in range(8)]
        waiting = "spacy_angel_waiting_requests 8.0"
        while waiting not in requests.get(f"{address}/metrics", timeout=60).text:
            assert not all(answer.done() for answer in answers), "they were too fast to be stopped"
        process.send_signal(signal.SIGTERM)
        assert [len(a.result().json()["documents"]) for a in answers] == [40] * 8
    process.wait(60)
    printed = process.stdout.read() + process.stderr.read()
    assert "Traceback" not in printed
    assert "heart" not in printed
    with pytest.raises(requests.ConnectionError):
        ask(0)


@pytest.mark.slow
def test_no_request_that_fits_the_description_ends_in_a_server_error(service):
    schemathesis = pytest.importorskip("schemathesis", reason="needs schemathesis")
    from hypothesis import HealthCheck, Phase, given, settings

    app = make_app(service, Access(hosts=frozenset()))
    described = schemathesis.openapi.from_asgi("/openapi.json", app)
    checks = list(HealthCheck)
    for operation in (result.ok() for result in described.get_all_operations()):

        @given(case=operation.as_strategy())
        @settings(max_examples=700, phases=[Phase.generate], suppress_health_check=checks)
        def ask(case):
            answer = case.call()
            assert answer.status_code < 500, answer.text

        ask()
