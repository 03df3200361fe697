"""Attributes on spans and documents, across processes and as scispaCy's users read them."""

import pytest
import spacy
from spacy.tokens import Doc, Span
from support.tiny_linker import settings_of

from spacy_angel.linking.decision.writing import set_extensions
from spacy_angel.linking.mentions.reading import abbreviation_replacements

pytestmark = pytest.mark.filterwarnings("ignore:.*W036")
TEXT = "Chronic kidney disease (CKD) is common. CKD is treated."


def detector(make_serializable: bool):
    nlp = spacy.blank("en")
    nlp.add_pipe("angel_abbreviations", config={"make_serializable": make_serializable})
    set_extensions(settings_of())
    return nlp


@pytest.mark.parametrize("make_serializable", [False, True])
def test_abbreviations_are_read_alike_serialised_or_not(make_serializable) -> None:
    doc = detector(make_serializable)(TEXT)
    # scispaCy keeps those of one long form in a set.
    found = sorted(doc._.abbreviations, key=lambda a: a.start)
    assert [(str(a), a.text, a.start, a.end, str(a._.long_form)) for a in found] == [
        ("CKD", "CKD", 4, 5, "Chronic kidney disease"),
        ("CKD", "CKD", 9, 10, "Chronic kidney disease"),
    ]
    assert [TEXT[r.start : r.end] for r in abbreviation_replacements(doc)] == ["CKD", "CKD"]


def test_pairs_are_tuples_after_bytes() -> None:
    set_extensions(settings_of(outputs={"kb_ents": "pairs_of_test"}))
    doc = spacy.blank("en")("renal colic")
    assert doc[0:1]._.pairs_of_test == []
    doc[0:2]._.pairs_of_test = [("MESH:D1", 0.75), ("MESH:D2", 0.25)]
    again = Doc(doc.vocab).from_bytes(doc.to_bytes())
    assert again[0:2]._.pairs_of_test == [("MESH:D1", 0.75), ("MESH:D2", 0.25)]
    assert Span.has_extension("pairs_of_test")
