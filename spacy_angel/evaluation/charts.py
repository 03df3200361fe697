"""Charts as inline SVG: they need no library and no network, and they print."""

import html
from collections.abc import Mapping, Sequence
from typing import Any

_WIDTH = 520
_LEFT = 34  # room for the figures of the axis
_TOP, _HEIGHT = 20, 150  # of the plot
_BASE = _TOP + _HEIGHT
_FIGURE = 22  # room for a figure over a bar


def escape(value: Any) -> str:
    """value (Any): a text, or what has one. RETURNS (str): as it may stand in a page."""
    return html.escape(str(value))


def bar_chart(title: str, bars: Sequence[tuple[str, float | None, float | None, str]]) -> str:
    """A chart of accuracies.

    title (str): above the chart.
    bars (Sequence[tuple[str, float | None, float | None, str]]): name, strict and lenient accuracy
        in per cent (None: no mentions), note under the name.
    RETURNS (str): a figure element; strict as a bar, lenient as a line.
    """
    parts = _grid(0, 100)
    step, wide = _columns(len(bars), 0.66)
    for number, (name, strict, lenient, note) in enumerate(bars):
        x = 46 + step * number
        if strict is not None and lenient is not None:
            y, line = _height(strict, 0, 100), _height(lenient, 0, 100)
            # Over the bar; over the line where that would run through the figure.
            label = line if y - _FIGURE < line < y else y
            parts += [
                f'<rect class="bar" x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" rx="3" '
                f'height="{_BASE - y:.1f}"><title>strict {strict:.1f} %</title></rect>'
                f'<line class="lenient" x1="{x - 4:.1f}" x2="{x + wide + 4:.1f}" y1="{line:.1f}" '
                f'y2="{line:.1f}"><title>lenient {lenient:.1f} %</title></line>',
                _text("value", x + wide / 2, label - 6, f"{strict:.1f}"),
            ]
        parts += [
            _text("name", x + wide / 2, _BASE + 17, name),
            _text("note", x + wide / 2, _BASE + 33, note),
        ]
    return _figure(title, _BASE + 42, parts)


def margin_chart(title: str, margins: Sequence[Mapping[str, Any]]) -> str:
    """Figure 3: log-probability of the top positive minus the negatives', by similarity.

    title (str): above the chart.
    margins (Sequence[Mapping[str, Any]]): `analyses.Margin` as dictionaries.
    RETURNS (str): a figure element.
    """
    step, wide = _columns(len(margins), 0.7)
    values = [m["mean"] for m in margins if m["mean"] is not None] or [0.0]
    high, low = max(*values, 0.0), min(*values, 0.0)
    scale = _HEIGHT / max(high - low, 1e-9)
    zero = _TOP + high * scale
    parts = [_tick(zero, "0")]
    for number, margin in enumerate(margins):
        x = 46 + step * number
        if (mean := margin["mean"]) is not None:
            kind = "bar" if mean >= 0 else "bar bad"
            figure = zero - mean * scale + (-6 if mean >= 0 else 14)
            parts += [
                f'<rect class="{kind}" x="{x:.1f}" y="{zero - max(mean, 0) * scale:.1f}" '
                f'width="{wide:.1f}" rx="3" height="{abs(mean) * scale:.1f}">'
                f"<title>{margin['below']:.1f} % of the negatives are more probable</title></rect>",
                _text("value", x + wide / 2, figure, f"{mean:.1f}"),
            ]
        limits = f"{margin['low']:.1f}–{margin['high']:.1f}"
        parts += [
            _text("note", x + wide / 2, _BASE + 31, limits),
            _text("note", x + wide / 2, _BASE + 47, f"{margin['pairs']:,}"),
        ]
    return _figure(title, _BASE + 54, parts)


def line_chart(
    title: str, lines: Mapping[str, Sequence[tuple[float, float]]], below: str = ""
) -> str:
    """Per cent over another figure, a line each.

    title (str): above the chart.
    lines (Mapping[str, Sequence[tuple[float, float]]]): points of each line by its name; x in any
        unit, y in per cent.
    below (str): what x is.
    RETURNS (str): a figure element; the axis begins at the multiple of 25 below the lowest point.
    """
    xs = sorted({x for points in lines.values() for x, _ in points})
    lowest = min((y for points in lines.values() for _, y in points), default=0.0)
    low = min(75, 25 * int(lowest // 25))
    parts = _grid(low, 100)
    span = max(xs[-1] - xs[0], 1e-9) if xs else 1.0

    def across(x: float) -> float:
        return 56 + (_WIDTH - 90) * (x - xs[0]) / span

    for number, (name, points) in enumerate(lines.items()):
        colour = f"hsl({210 + 137 * number} 62% 46%)"
        path = " ".join(f"{across(x):.1f},{_height(y, low, 100):.1f}" for x, y in points)
        parts.append(f'<polyline class="line" stroke="{colour}" points="{path}"/>')
        for x, y in points:
            parts.append(
                f'<circle cx="{across(x):.1f}" cy="{_height(y, low, 100):.1f}" r="3.5" '
                f'fill="{colour}"><title>{escape(name)}, {x:g}: {y:.1f} %</title></circle>'
            )
    parts += [_text("note", across(x), _BASE + 17, f"{x:g}") for x in xs]
    parts.append(_text("note", _WIDTH / 2, _BASE + 34, below))
    legend = "".join(
        f'<span><i style="background:hsl({210 + 137 * number} 62% 46%)"></i>{escape(name)}</span>'
        for number, name in enumerate(lines)
    )
    return _figure(title, _BASE + 40, parts, f'<div class="legend">{legend}</div>')


def _grid(low: float, high: float) -> list[str]:
    values = [low + (high - low) * quarter / 4 for quarter in range(5)]
    return [_tick(_height(value, low, high), f"{value:g}") for value in values]


def _tick(y: float, label: str) -> str:
    return (
        f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text class="tick" x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>'
    )


def _height(value: float, low: float, high: float) -> float:
    return _BASE - _HEIGHT * (value - low) / (high - low)


def _columns(number: int, share: float) -> tuple[float, float]:
    """Distance and width of bars."""
    step = (_WIDTH - 44) / max(number, 5)
    return step, step * share


def _text(kind: str, x: float, y: float, text: str) -> str:
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{escape(text)}</text>'
    )


def _figure(title: str, height: float, parts: Sequence[str], legend: str = "") -> str:
    """The title as text, which wraps on a narrow screen; there the chart is moved sideways."""
    return (
        f'<figure><figcaption>{escape(title)}</figcaption>{legend}<div class="wide">'
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {height:g}" role="img" '
        f'aria-label="{escape(title)}">{"".join(parts)}</svg></div></figure>'
    )
