"""The table and the page of links."""

import re

import pytest
from spacy.tokens import Span
from support.tiny_linker import blocks, pipeline

from spacy_angel.linking.showing.display import link_table, write_page


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


def test_the_table_has_a_line_per_mention(linked):
    _, _, first, second, *_ = link_table(*linked).splitlines()
    assert re.fullmatch(r"aspirin +DRUG +MESH:D001241 +Aspirin +\d\.\d\d +-\d+\.\d\d *", first)
    assert second.split() == ["<pain>", "<i>", "NIL"]


def test_the_page_has_the_links_and_their_explanations(linked, tmp_path):
    doc, linker = linked
    write_page(doc, linker, tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text("utf8")
    assert 'href="https://bioregistry.io/MESH:D001241"' in html
    assert "“aspirin” (DRUG) → MESH:D001241 Aspirin</summary>" in html
    assert linker.explain(doc.ents[0]).why in html
    assert "&lt;pain&gt;" in html
    assert not re.search(r"<pain>|<i>|src=|<link|<script|@import|url\(", html)
