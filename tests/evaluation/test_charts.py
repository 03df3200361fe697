import re
from xml.dom import minidom

from spacy_angel.evaluation.charts import (
    bar_chart,
    line_chart,
    margin_chart,
    pair_chart,
    picture,
)


def heights(chart):
    return [float(value) for value in re.findall(r'class="bar[^>]* height="([\d.]+)"', chart)]


def test_bars_are_as_high_as_their_share():
    bars = [("a", 50.0, 60.0, "1 of 2"), ("none", None, None, "0 of 0"), ("b", 25.0, 25.0, "")]
    chart = bar_chart("A & B", bars)
    half, quarter = heights(chart)
    assert half == 2 * quarter > 0
    assert "A &amp; B" in chart
    assert "lenient 60.0 %" in chart
    assert ">50.0</text>" in chart
    assert "0 of 0" in chart


def test_the_figure_stands_clear_of_the_lenient_line():
    """Over the bar, or over the line where that is close above the bar."""

    def figure_and_line(lenient):
        chart = bar_chart("", [("", 50.0, lenient, "")])
        (figure,) = re.findall(r'class="value" x="[\d.]+" y="([\d.]+)"', chart)
        (line,) = re.findall(r'class="lenient".*?y1="([\d.]+)"', chart)
        return float(figure), float(line)

    figure, line = figure_and_line(55.0)
    assert figure < line  # further up
    figure, line = figure_and_line(90.0)
    assert figure > line


def test_margins_below_nothing_hang_down():
    margins = [
        {"low": 0.0, "high": 0.1, "pairs": 3, "mean": -1.5, "below": 66.7},
        {"low": 0.1, "high": 0.2, "pairs": 0, "mean": None, "below": None},
        {"low": 0.2, "high": 0.3, "pairs": 1, "mean": 3.0, "below": 0.0},
    ]
    chart = margin_chart("m", margins)
    down, up = heights(chart)
    assert up == 2 * down > 0
    assert chart.count('class="bar bad"') == 1
    assert "66.7 %" in chart
    assert "0.2–0.3" in chart


def test_lines_fall_as_their_figures_do():
    lines = {"typo": [(0, 90.0), (1, 40.0), (2, 24.0)], "<ocr>": [(0, 90.0), (1, 70.0)]}
    chart = line_chart("Noise", lines, "edits")
    typo, ocr = (
        [tuple(map(float, point.split(","))) for point in points.split()]
        for points in re.findall(r'points="([^"]+)"', chart)
    )
    assert typo[0] == ocr[0]
    assert [x for x, _ in typo[:2]] == [x for x, _ in ocr]
    (_, first), (_, second), (_, third) = typo
    assert round((second - first) / (third - second), 2) == round(50 / 16, 2)
    assert "&lt;ocr&gt;" in chart
    assert "typo, 2: 24.0 %" in chart
    assert ">edits</text>" in chart


def test_the_axis_begins_below_the_lowest_point():
    assert ">75</text>" in line_chart("", {"a": [(10, 99.0), (20, 83.0)]})
    assert ">0</text>" not in line_chart("", {"a": [(10, 99.0), (20, 83.0)]})
    assert ">50</text>" in line_chart("", {"a": [(10, 74.9)]})
    assert ">75</text>" in line_chart("", {"a": [(10, 100.0)]})


def test_two_systems_stand_side_by_side():
    groups = [("0.0-0.2", 40.0, 80.0, 6, 2), ("0.2-0.4", None, None, 0, 0)]
    chart = pair_chart("Figure 4", ["A: <one>", "B: two"], groups)
    first, second = heights(chart)
    assert second == 2 * first > 0
    assert "A: &lt;one&gt;: 40.0 %" in chart
    assert "6 / 2" in chart
    assert "0 / 0" in chart


def test_lines_that_are_not_per_cent_have_nothing_in_reach():
    chart = line_chart("", {"a": [(0.05, -1.5), (0.15, 3.0)]}, in_per_cent=False)
    assert ">-1.5</text>" in chart
    assert ">3</text>" in chart
    assert ">100</text>" not in chart
    assert ">0</text>" in line_chart("", {"a": [(0, 2.0), (1, 3.0)]}, in_per_cent=False)


def test_a_picture_is_a_file_of_its_own():
    chart = line_chart("Noise & more", {"<typo>": [(0, 90.0), (1, 40.0)]}, "edits")
    svg = minidom.parseString(picture(chart)).documentElement
    assert svg.namespaceURI == "http://www.w3.org/2000/svg"
    texts = [text.firstChild.data for text in svg.getElementsByTagName("text") if text.firstChild]
    assert {"<typo>", "edits", "100"} <= set(texts)
    assert len(svg.getElementsByTagName("polyline")) == 1
