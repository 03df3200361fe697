"""displaCy with the right address for every prefix."""

import pytest
import spacy
from spacy import displacy
from spacy.tokens import Span

from spacy_angel.linking.display import KbUrls, concept_url, render_links


@pytest.mark.parametrize(
    ("concept_id", "url"),
    [
        ("MESH:D003920", "https://meshb.nlm.nih.gov/record/ui?ui=D003920"),
        ("OMIM:222100", "https://omim.org/entry/222100"),
        ("UMLS:C0011849", "https://uts.nlm.nih.gov/uts/umls/concept/C0011849"),
        (
            "SNOMEDCT:73211009",
            "https://browser.ihtsdotools.org/?perspective=full&conceptId1=73211009",
        ),
        ("DOID:9351", "http://purl.obolibrary.org/obo/DOID_9351"),
        ("MESH:<D&1>", "https://meshb.nlm.nih.gov/record/ui?ui=%3CD%261%3E"),
        ("rs113488022", "https://www.ncbi.nlm.nih.gov/snp/rs113488022"),
        ("NM_000546.5:c.215C>G", ""),
        ("p.Val600Glu", ""),
        ("HOUSE:12", ""),
        ("MESH:", ""),
        ("NIL", ""),
        ("", ""),
    ],
)
def test_addresses(concept_id, url):
    assert concept_url(concept_id) == url


def test_own_address():
    assert concept_url("HOUSE:12", {"HOUSE": "https://a.example/{prefix}/{code}"}) == (
        "https://a.example/HOUSE/12"
    )


@pytest.fixture
def doc():
    for name in ("kb_id", "other_id"):
        if not Span.has_extension(name):
            Span.set_extension(name, default="")
    doc = spacy.blank("en")("diabetes mellitus & <pain> after aspirin")
    doc.ents = [Span(doc, 0, 2, label="DISEASE"), Span(doc, len(doc) - 1, len(doc), label="DRUG")]
    doc.spans["found"] = [Span(doc, 0, 2, label="DISEASE"), Span(doc, 0, 1, label="WORD")]
    doc[0:2]._.kb_id = "MESH:D003920"
    doc[0:2]._.other_id = "SNOMEDCT:73211009"
    doc[0:1]._.kb_id = "HOUSE:<1>"
    doc.ents[1]._.kb_id = "NIL"
    return doc


def test_entities(doc):
    html = render_links(doc)
    assert 'href="https://meshb.nlm.nih.gov/record/ui?ui=D003920">MESH:D003920</a>' in html
    assert html.count("href=") == 1
    assert "NIL" not in html
    assert "&lt;pain&gt;" in html
    assert not html.startswith("<!DOCTYPE")


def test_attribute_of_another_linker_on_a_page(doc):
    html = render_links([doc, doc], kb_id_attr="other_id", page=True)
    assert html.startswith("<!DOCTYPE")
    assert html.count("perspective=full&amp;conceptId1=73211009") == 2
    assert "MESH" not in html


def test_overlapping_spans(doc):
    html = render_links(doc, span_key="found")
    assert "ui=D003920" in html
    assert 'href="#">HOUSE:&lt;1&gt;</a>' in html


def test_displacy_itself_fills_in_the_addresses(doc):
    doc.ents = [Span(doc, 0, 2, label="DISEASE", kb_id="MESH:D003920")]
    doc.spans["sc"] = [Span(doc, 0, 1, label="WORD", kb_id="HOUSE:1")]
    options = {"kb_url_template": KbUrls()}
    html = displacy.render(doc, style="ent", jupyter=False, options=options)
    assert 'href="https://meshb.nlm.nih.gov/record/ui?ui=D003920"' in html
    html = displacy.render(doc, style="span", jupyter=False, options=options)
    assert 'href="#"' in html
