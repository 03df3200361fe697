"""scispaCy's linker, which writes `_.kb_ents` as well, does not silently replace ours."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest
from scispacy.linking import EntityLinker
from spacy import Language
from spacy.tokens import Span


def test_one_warning_says_so(make: Callable[..., Language]) -> None:
    nlp = make()
    before = Span.get_extension("kb_ents")
    try:
        # Opens nothing: a candidate generator is given.
        EntityLinker(nlp, candidate_generator=SimpleNamespace(kb=None))
        with pytest.warns(UserWarning, match=r"span\._\.kb_ents again.*setting outputs\.kb_ents"):
            doc = nlp("aspirin")
        assert doc.ents[0]._.kb_ents[0][0] == "MESH:D001241"
    finally:
        _, _, getter, setter = before
        Span.set_extension("kb_ents", getter=getter, setter=setter, force=True)
