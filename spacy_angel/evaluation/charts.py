"""Charts as inline SVG: they need no library and no network, and they print.

One has 3 kB; of matplotlib, with text as text, 9 kB, and 174 MB are to be installed for it.
"""

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

_WIDTH = 520
_LEFT = 34  # room for the figures of the axis
_TOP, _HEIGHT = 20, 150  # of the plot
_BASE = _TOP + _HEIGHT
_FIGURE = 22  # room for a figure over a bar
# Of a chart in a file of its own; in a page it has the page's.
_STYLE = (
    "text{font:12px sans-serif}.tick,.note{fill:#5d6878;font-size:11px}.grid{stroke:#dfe4ea}"
    ".line{fill:none;stroke-width:2}.bar{fill:#2f6fb0}.bad{fill:#b3362b}"
    ".lenient{stroke:#d9822b;stroke-width:2.5}"
)


def escape(value: Any) -> str:
    """value (Any): a text, or what has one. RETURNS (str): as it may stand in a page."""
    return html.escape(str(value))


def as_figure(value: float | None, digits: int = 1) -> str:
    """value (float | None), digits (int): behind the point. RETURNS (str): as tables show it."""
    return "–" if value is None else f"{value:,.{digits}f}"


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
                _bar("bar", x, y, wide, _BASE - y, f"strict {strict:.1f} %"),
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
            note = f"{margin['below']:.1f} % of the negatives are more probable"
            figure = zero - mean * scale + (-6 if mean >= 0 else 14)
            parts += [
                _bar(kind, x, zero - max(mean, 0) * scale, wide, abs(mean) * scale, note),
                _text("value", x + wide / 2, figure, f"{mean:.1f}"),
            ]
        limits = f"{margin['low']:.1f}–{margin['high']:.1f}"
        parts += [
            _text("note", x + wide / 2, _BASE + 31, limits),
            _text("note", x + wide / 2, _BASE + 47, f"{margin['pairs']:,}"),
        ]
    return _figure(title, _BASE + 54, parts)


def pair_chart(
    title: str,
    names: Sequence[str],
    groups: Sequence[tuple[str, float | None, float | None, int, int]],
) -> str:
    """Two systems side by side.

    title (str): above the chart.
    names (Sequence[str]): of the two.
    groups (Sequence[tuple[str, float | None, float | None, int, int]]): name, accuracy of each in
        per cent (None: no mentions), errors of each.
    RETURNS (str): a figure element; below the groups stand the errors.
    """
    parts = _grid(0, 100)
    step, wide = _columns(len(groups), 0.36)
    for number, (name, *accuracies, first_errors, second_errors) in enumerate(groups):
        x = 46 + step * number
        for side, accuracy in enumerate(accuracies):
            if accuracy is not None:
                left, y = x + side * (wide + 2), _height(accuracy, 0, 100)
                note, fill = f"{names[side]}: {accuracy:.1f} %", _colour(side)
                parts += [
                    _bar("bar", left, y, wide, _BASE - y, note, f' style="fill:{fill}"'),
                    _text("value", left + wide / 2, y - 6, f"{accuracy:.1f}"),
                ]
        parts += [
            _text("name", x + wide, _BASE + 17, name),
            _text("note", x + wide, _BASE + 33, f"{first_errors:,} / {second_errors:,}"),
        ]
    return _figure(title, _BASE + 42, parts, _legend(names))


def line_chart(
    title: str,
    lines: Mapping[str, Sequence[tuple[float, float]]],
    below: str = "",
    *,
    in_per_cent: bool = True,
) -> str:
    """A figure over another one, a line each.

    title (str): above the chart.
    lines (Mapping[str, Sequence[tuple[float, float]]]): points x, y of each line by its name.
    below (str): what x is.
    in_per_cent (bool): y goes to 100, from the multiple of 25 below the lowest point; else from
        the lowest to the highest point, 0 among them.
    RETURNS (str): a figure element.
    """
    xs = sorted({x for points in lines.values() for x, _ in points})
    ys = [y for points in lines.values() for _, y in points] or [0.0]
    if in_per_cent:
        low, high, unit = min(75.0, 25 * (min(ys) // 25)), 100.0, " %"
    else:
        low, high, unit = min(*ys, 0.0), max(*ys, 0.0), ""
        high = max(high, low + 1e-9)
    parts = _grid(low, high)
    span = max(xs[-1] - xs[0], 1e-9) if xs else 1.0

    def across(x: float) -> float:
        return 56 + (_WIDTH - 90) * (x - xs[0]) / span

    for number, (name, points) in enumerate(lines.items()):
        places = [(across(x), _height(y, low, high)) for x, y in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline class="line" stroke="{_colour(number)}" points="{path}"/>')
        parts += [
            f'<circle cx="{u:.1f}" cy="{v:.1f}" r="3.5" fill="{_colour(number)}">'
            f"<title>{escape(name)}, {x:g}: {y:.1f}{unit}</title></circle>"
            for (x, y), (u, v) in zip(points, places, strict=True)
        ]
    parts += [_text("note", across(x), _BASE + 17, f"{x:g}") for x in xs]
    parts.append(_text("note", _WIDTH / 2, _BASE + 34, below))
    return _figure(title, _BASE + 40, parts, _legend(list(lines)))


def picture(figure: str) -> bytes:
    """figure (str): of one of these functions. RETURNS (bytes): an SVG file of its own, with its
    legend."""
    start, end = figure.index("<svg"), figure.index("</svg>")
    body = figure[start:end].replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    opening, _, rest = body.partition(">")
    names = re.findall(r"<span><i[^>]*></i>(.*?)</span>", figure)
    legend = "".join(
        f'<text x="{_LEFT + 120 * number}" y="10" fill="{_colour(number)}">{name}</text>'
        for number, name in enumerate(names)
    )
    return f"{opening}><style>{_STYLE}</style>{legend}{rest}</svg>\n".encode()


def _colour(number: int) -> str:
    return f"hsl({210 + 137 * number} 62% 46%)"


def _legend(names: Sequence[str]) -> str:
    spans = (
        f'<span><i style="background:{_colour(number)}"></i>{escape(name)}</span>'
        for number, name in enumerate(names)
    )
    return f'<div class="legend">{"".join(spans)}</div>'


def _grid(low: float, high: float) -> list[str]:
    values = [low + (high - low) * quarter / 4 for quarter in range(5)]
    return [_tick(_height(value, low, high), f"{value:.3g}") for value in values]


def _tick(y: float, label: str) -> str:
    return (
        f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text class="tick" x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>'
    )


def _height(value: float, low: float, high: float) -> float:
    return _BASE - _HEIGHT * (value - low) / (high - low)


def _bar(
    kind: str, x: float, y: float, wide: float, height: float, note: str, style: str = ""
) -> str:
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" rx="3" '
        f'height="{height:.1f}"{style}><title>{escape(note)}</title></rect>'
    )


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
