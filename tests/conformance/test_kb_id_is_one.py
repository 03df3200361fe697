"""`span._.kb_id` and `span.kb_id_` agree, whoever sets which."""

from collections.abc import Callable

import pytest
from spacy import Language
from spacy.tokens import Doc, Span
from support.tiny_linker import TEXT


@pytest.mark.parametrize("span_key", [None, "mine"])
def test_whichever_is_set(make: Callable[..., Language], span_key: str | None) -> None:
    def mentions(doc: Doc) -> list[Span]:
        return list(doc.ents if span_key is None else doc.spans[span_key])

    nlp = make(span_key=span_key)
    doc = nlp.make_doc(TEXT)
    for name in nlp.pipe_names[:-1]:
        doc = nlp.get_pipe(name)(doc)
    if span_key is not None:
        doc.spans[span_key] = list(doc.ents)
    doc = nlp.get_pipe("angel_linker")(doc)
    first = mentions(doc)[0]
    assert first._.kb_id == first.kb_id_ != ""
    first._.kb_id = "MY:1"
    assert {first.kb_id_, first._.kb_id} == {"MY:1"}
    assert {mentions(doc)[0].kb_id_, mentions(doc)[0]._.kb_id} == {"MY:1"}
    first.kb_id_ = "MY:2"
    assert first._.kb_id == "MY:2"
    again = Span(doc, first.start, first.end, label=first.label, kb_id="MY:3")
    if span_key is None:
        doc.ents = [again, *doc.ents[1:]]
    else:
        doc.spans[span_key] = [again]
    for one in (doc, Doc(nlp.vocab).from_bytes(doc.to_bytes())):
        assert {mentions(one)[0].kb_id_, mentions(one)[0]._.kb_id} == {"MY:3"}
