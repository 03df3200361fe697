"""A service of a tiny pipeline; its tests need the extras `serve` and `mcp`."""

import threading
import time
from importlib.util import find_spec

import pytest
from support.tiny_linker import make_pipeline

from spacy_angel.service.core import Service
from spacy_angel.service.limits import Limits

if not all(map(find_spec, ("fastapi", "uvicorn", "prometheus_client", "mcp"))):
    collect_ignore_glob = ["test_*.py"]
LIMITS = Limits(max_bytes=20_000, max_documents=20, max_waiting=4, max_characters=2000)


SECRET = "Kreszenzia Obermoser"


def until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


@pytest.fixture(scope="session")
def nlp(model, vocabulary):
    return make_pipeline(model, vocabulary, rerank=True)


@pytest.fixture
def service(nlp):
    service = Service(nlp, nlp.get_pipe("angel_linker"), LIMITS)
    yield service
    service.close()


@pytest.fixture
def start():
    """Starts an application in a thread; returns its address."""

    def start(app):
        from spacy_angel.service.serving import Server

        server = Server(app, "127.0.0.1", 0)
        threading.Thread(target=server.run, daemon=True).start()
        until(lambda: server.started)
        return server.address

    return start
