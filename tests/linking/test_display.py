"""The table and the page of links, and displaCy with the address of every identifier."""

import re

import pytest
import spacy
from spacy import displacy
from spacy.tokens import Span
from support.tiny_linker import blocks, pipeline

from spacy_angel.linking.showing.display import KbUrls, concept_url, link_rows, write_page


@pytest.mark.parametrize(
    ("concept_id", "url"),
    [
        ("MESH:D003920", "https://meshb.nlm.nih.gov/record/ui?ui=D003920"),
        ("UMLS:C0011849", "https://uts.nlm.nih.gov/uts/umls/concept/C0011849"),
        ("DOID:9351", "http://purl.obolibrary.org/obo/DOID_9351"),
        ("NCBITaxon:9606", "https://www.ncbi.nlm.nih.gov/Taxonomy/Browser/wwwtax.cgi?id=9606"),
        ("CVCL_0030", "https://www.cellosaurus.org/CVCL_0030"),
        ("MESH:<D&1>", "https://meshb.nlm.nih.gov/record/ui?ui=%3CD%261%3E"),
        ("rs113488022", "https://www.ncbi.nlm.nih.gov/snp/rs113488022"),
        *((concept_id, "") for concept_id in ("p.Val600Glu", "HOUSE:12", "MESH:", "NIL", "")),
    ],
)
def test_addresses(concept_id, url):
    assert concept_url(concept_id) == url


def test_displacy_links_to_the_addresses():
    doc = spacy.blank("en")("diabetes mellitus after aspirin")
    doc.ents = [
        Span(doc, 0, 2, label="DISEASE", kb_id="MESH:D003920"),
        Span(doc, 3, 4, label="DRUG", kb_id="HOUSE:1"),
    ]
    urls = KbUrls({"HOUSE": "https://a.example/{prefix}/{code}"})
    html = displacy.render(doc, style="ent", jupyter=False, options={"kb_url_template": urls})
    assert 'href="https://a.example/HOUSE/1"' in html
    assert 'href="#"' in html


@pytest.fixture(params=[None, "found"])
def linked(model, vocabulary, request):
    """RETURNS (tuple[Doc, AngelLinker]): entities or overlapping spans, one of them unlinked."""
    nlp = pipeline()
    config = {"model": model, "vocabulary": vocabulary, "span_key": request.param}
    linker = nlp.add_pipe("angel_linker", config=blocks(**config, labels_discard=["<i>"]))
    doc = nlp.make_doc("the patient took aspirin & <pain>")
    doc.ents = [Span(doc, 3, 4, label="DRUG"), Span(doc, 5, len(doc), label="<i>")]
    doc.spans["found"] = [*doc.ents, Span(doc, 2, 4, label="<i>")][: 2 if not request.param else 3]
    return linker(nlp.get_pipe("sentencizer")(doc)), linker


def test_rows(linked):
    first, second, *_ = link_rows(*linked)
    assert first[:4] == ("aspirin", "DRUG", "MESH:D001241", "Aspirin")
    assert all(re.fullmatch(r"-?\d+\.\d\d", figure) for figure in first[4:])
    assert second == ("<pain>", "<i>", "NIL", "", "", "")


def test_the_page_has_the_links_and_their_explanations(linked, tmp_path):
    doc, linker = linked
    write_page(doc, linker, tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text("utf8")
    assert 'href="https://meshb.nlm.nih.gov/record/ui?ui=D001241"' in html
    assert f"MESH:D001241 · Aspirin: {linker.explain(doc.ents[0]).why}</summary>" in html
    assert "&lt;pain&gt;" in html
    assert not re.search(r"<pain>|<i>|src=|<link|<script|@import|url\(", html)
