"""A tiny model and vocabulary, made once for all promises."""

import pytest
from support import models, tiny_linker


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory) -> str:
    return str(models.make_trained_model(tmp_path_factory.mktemp("conformance") / "model"))


@pytest.fixture(scope="session")
def tiny_vocabulary(tmp_path_factory) -> str:
    return tiny_linker.make_vocabulary(tmp_path_factory.mktemp("conformance") / "kb")
