"""A service of a tiny pipeline; its tests need the extras `serve` and `mcp`."""

import pytest
from support.tiny_linker import make_pipeline

from spacy_angel.service.core import Service
from spacy_angel.service.limits import Limits

LIMITS = Limits(
    max_bytes=20_000, max_documents=20, max_mentions=30, max_waiting=4, max_characters=2000
)


@pytest.fixture(scope="session")
def nlp(model, vocabulary):
    return make_pipeline(model, vocabulary, rerank=True)


@pytest.fixture
def service(nlp):
    service = Service(nlp, nlp.get_pipe("angel_linker"), LIMITS)
    yield service
    service.close()
