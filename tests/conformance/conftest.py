"""What a user of spaCy expects, a file a promise; each test has the user's code."""

from collections.abc import Callable

import pytest
from spacy import Language
from support.tiny_linker import make_vocabulary, pipeline


@pytest.fixture(scope="session")
def tiny_model(model: str) -> str:
    return model


@pytest.fixture(scope="session")
def tiny_vocabulary(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Without namesakes."""
    return make_vocabulary(tmp_path_factory.mktemp("conformance") / "kb")


@pytest.fixture
def make(model: str, vocabulary: str) -> Callable[..., Language]:
    """A pipeline with a tiny linker; settings as for add_pipe."""

    def made(**config: object) -> Language:
        nlp = pipeline()
        nlp.add_pipe("angel_linker", config={"model": model, "vocabulary": vocabulary, **config})
        return nlp

    return made
