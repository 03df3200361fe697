"""The picture of an explanation: its bars are the figures, and texts cannot break out of it."""

from dataclasses import replace
from xml.etree import ElementTree

from spacy_angel.linking.showing.explanation import (
    ExplainedConcept,
    FeatureShare,
    LinkExplanation,
    RunnerUp,
)
from spacy_angel.linking.showing.picture import explanation_svg

FEATURES = (FeatureShare("confidence", -1.0, 2.0, -2.0), FeatureShare("edits", 0.5, 2.0, 1.0))
EXPLAINED = LinkExplanation(
    "<MI> & more",
    "DISEASE",
    "M:1",
    "Why.",
    concepts=(ExplainedConcept("M:1", "Infarction", 0.9, (("mi", -0.1),), (), "", FEATURES),),
    link_features=FEATURES[1:],
    runner_up=RunnerUp("M:2", 0.5, 1.0, (FeatureShare("edits", 0.1, 2.0, 0.2),)),
)
SVG = "{http://www.w3.org/2000/svg}"


def test_each_feature_has_a_bar_as_long_as_what_it_adds_on_its_side() -> None:
    root = ElementTree.fromstring(explanation_svg(EXPLAINED))
    bars = [
        (float(bar.get("x", "")), float(bar.get("width", ""))) for bar in root.iter(f"{SVG}rect")
    ]
    # from the middle, 380, at most 190 to either side
    assert bars == [(190.0, 190.0), (380.0, 95.0), (380.0, 95.0), (380.0, 19.0)]
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts == [
        *("Why M:1 comes first (nats)", "confidence", "-2.00", "edits", "+1.00"),
        *("Why it is thought right, or not (nats)", "edits", "+1.00"),
        *("What M:2 lacks (nats)", "edits", "+0.20"),
    ]


def test_what_stands_in_a_text_is_text() -> None:
    svg = explanation_svg(EXPLAINED)
    (title,) = ElementTree.fromstring(svg).iter(f"{SVG}title")
    assert title.text == "Why “<MI> & more” is linked to M:1"


def test_without_features_there_is_no_picture() -> None:
    assert explanation_svg(replace(EXPLAINED, concepts=())) == ""
    bare = replace(EXPLAINED.concepts[0], features=())
    assert (
        explanation_svg(replace(EXPLAINED, concepts=(bare,), link_features=(), runner_up=None))
        == ""
    )
