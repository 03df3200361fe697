"""With `overwrite=False` an identifier that stands there shows in both places."""

from collections.abc import Callable

from spacy import Language
from spacy.tokens import Span


def test_a_preset_identifier(make: Callable[..., Language]) -> None:
    nlp = make(overwrite=False)
    doc = nlp.make_doc("aspirin for migraine")
    doc.ents = [Span(doc, 0, 1, label="DRUG", kb_id="MY:1"), Span(doc, 2, 3, label="DISEASE")]
    first, second = nlp.get_pipe("angel_linker")(doc).ents
    assert (first.kb_id_, first._.kb_id) == ("MY:1", "MY:1")
    assert second.kb_id_ == second._.kb_id != ""
