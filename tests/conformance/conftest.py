"""What a user of spaCy expects; each test has the user's code."""

import pytest
from support.tiny_linker import make_vocabulary


@pytest.fixture(scope="session")
def tiny_vocabulary(tmp_path_factory):
    """A vocabulary without homonyms."""
    return make_vocabulary(tmp_path_factory.mktemp("conformance") / "kb")
