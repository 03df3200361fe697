"""displaCy with the right address for every prefix."""

import itertools

import numpy as np
import pytest
import spacy
from spacy import displacy
from spacy.tokens import Span

from spacy_angel.linking.showing.display import (
    COLORS,
    DARK_COLORS,
    KbUrls,
    concept_url,
    render_links,
)
from spacy_angel.linking.showing.page import OTHER_COLORS, PAGE_COLORS


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
        ("NCBIGene:675", "https://www.ncbi.nlm.nih.gov/gene/675"),
        ("NCBITaxon:9606", "https://www.ncbi.nlm.nih.gov/Taxonomy/Browser/wwwtax.cgi?id=9606"),
        ("ICTV:20094000", "https://ictv.global/id/ICTV20094000"),
        ("CVCL_0030", "https://www.cellosaurus.org/CVCL_0030"),
        ("HP:0000369", "https://hpo.jax.org/browse/term/HP:0000369"),
        ("UBERON:0000948", "http://purl.obolibrary.org/obo/UBERON_0000948"),
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
    assert '<span style="font-weight: normal">no link</span>' in html
    assert "background: #ffd4ae" in html
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


# What eyes without the cones for red, or for green, see of linear RGB: Machado, Oliveira and
# Fernandes 2009, severity 1.
EYES = {
    "all cones": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
}
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.072175],
        [0.0193339, 0.119192, 0.9503041],
    ]
)


def linear(color):
    value = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def contrast(first, second):
    """WCAG 2: 1 to 21."""
    darker, lighter = sorted(float(linear(c) @ TO_XYZ[1]) + 0.05 for c in (first, second))
    return lighter / darker


def lab(color, eyes):
    """CIE L*a*b*; a difference of 2.3 is just seen."""
    xyz = TO_XYZ @ np.clip(np.array(EYES[eyes]) @ linear(color), 0, 1) / [0.95047, 1, 1.08883]
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_measures_of_colour_are_those_of_their_definitions():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert lab("#ff0000", "all cones") == pytest.approx([53.24, 80.09, 67.20], abs=0.02)
    red, green = (lab(color, "deuteranopia") for color in ("#c04040", "#708030"))
    assert np.linalg.norm(red - green) < 15  # against 70 to all cones


@pytest.mark.parametrize("place", [0, 1], ids=["light", "dark"])
def test_boxes_are_told_apart_and_read_by_everyone(place):
    colors = [*(COLORS, DARK_COLORS)[place].values(), OTHER_COLORS[place]]
    page, ink, soft = PAGE_COLORS[place]
    assert len(set(colors)) == len(colors) >= 7
    assert min(contrast(color, ink) for color in (*colors, page)) >= 4.5
    assert contrast(page, soft) >= 4.5
    for eyes in EYES:
        pairs = itertools.combinations([page, *colors], 2)
        distances = [np.linalg.norm(lab(one, eyes) - lab(two, eyes)) for one, two in pairs]
        # The first is that of the page and the box of no known type.
        assert sorted(distances)[1] >= 20
