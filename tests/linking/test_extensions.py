"""Attributes on spans and documents."""

import spacy
from spacy.tokens import Doc, Span
from support.tiny_linker import settings_of

from spacy_angel.component.kb_id import attribute_key
from spacy_angel.linking.decision.writing import set_extensions
from spacy_angel.linking.mentions.reading import ABBREVIATIONS


def test_pairs_are_tuples_after_bytes():
    set_extensions(settings_of(outputs={"kb_ents": "pairs_of_test"}))
    doc = spacy.blank("en")("renal colic")
    assert doc[0:1]._.pairs_of_test == []
    doc[0:2]._.pairs_of_test = [("MESH:D1", 0.75), ("MESH:D2", 0.25)]
    again = Doc(doc.vocab).from_bytes(doc.to_bytes())
    assert again[0:2]._.pairs_of_test == [("MESH:D1", 0.75), ("MESH:D2", 0.25)]
    assert Span.has_extension("pairs_of_test")


def test_spacy_keeps_attributes_under_the_keys_that_are_used_here():
    """Fails when spaCy changes where it stores `span._` and `doc._` in `doc.user_data`."""
    Span.set_extension("key_of_test", default=None, force=True)
    Doc.set_extension("key_of_test", default=None, force=True)
    doc = spacy.blank("en")("renal colic")
    doc[0:2]._.key_of_test, doc._.key_of_test = "span", "doc"
    assert doc.user_data[attribute_key(doc[0:2], "key_of_test")] == "span"
    prefix, _, start, end = ABBREVIATIONS
    assert doc.user_data[prefix, "key_of_test", start, end] == "doc"
