"""benchmarks/nil_prior.py: what its pictures show."""

import runpy
from xml.dom import minidom

import pytest
from support.helpers import ROOT

NAMES = runpy.run_path(str(ROOT / "benchmarks/nil_prior.py"))
First = NAMES["First"]


def test_right_links_are_lost_at_the_threshold_that_lets_few_false_ones_through() -> None:
    outside = [First(p / 10, False, False) for p in range(10)]
    inside = [First(p, True, True) for p in (0.95, 0.85, 0.45, 0.05)]
    lost = dict(NAMES["loss"]([*outside, *inside, First(0.99, False, True)]))
    # The highest probability outside is 0.9, so for no false link one right one of five is left.
    assert lost[0] == pytest.approx(60)
    assert (lost[10], lost[20], lost[50]) == (40, 40, 20)


def test_a_bin_of_few_mentions_is_not_shown() -> None:
    ten = [First(0.9, place < 8, True) for place in range(10)]
    assert NAMES["bins"]([*ten, *[First(0.5, True, True)] * 9]) == [(pytest.approx(90), 80)]


def test_charts_of_several_ontologies_are_one_picture() -> None:
    found = {system: [First(0.9, True, True), First(0.2, False, False)] for system in ("a", "b")}
    charts = NAMES["charts_of"]("CL", {0.0: found, NAMES["HOLES"]: found})
    root = minidom.parseString(NAMES["stacked"](charts)).documentElement
    assert [part.getAttribute("y") for part in root.childNodes if part.nodeName == "svg"] == [
        "0",
        "224",
    ]
