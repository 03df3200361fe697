"""The page a person reads: tables, charts and every mention, in one file that needs no network."""

import html
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from ..errors import AngelError, Errors
from ..files.atomic import replacing

METRICS = "metrics.json"
PREDICTIONS = "predictions.jsonl"
REPORT = "report.html"

# Mentions on a page: some ten megabytes, which a browser opens at once. Of more, evenly spaced
# ones are shown, wrong ones first.
MAX_MENTIONS = 4000

# Without these a line of `predictions.jsonl` comes from elsewhere, or from another version.
_NEEDED = frozenset({"doc_id", "start", "mention", "label", "annotated", "gold", "strict_rank"})

_CHART_WIDTH = 520
_FIGURE = 22  # room for a figure over a bar

_TITLES = {
    "similarity": "By similarity of mention and gold name (tf-idf, figure 4)",
    "words": "By words of the mention",
    "ambiguity": "By concepts that have the mention as a name",
    "seen_mention": "By mention seen in training",
    "seen_concept": "By concept seen in training",
}


def read_predictions(directory: Path) -> Iterator[dict[str, Any]]:
    """directory (Path): folder that `evaluate` wrote. RETURNS (Iterator[dict[str, Any]]): the lines
    of `predictions.jsonl`. RAISES (AngelError): there is none, or a line is not of that kind."""
    path = directory / PREDICTIONS
    if not path.is_file():
        raise AngelError(Errors.E509.format(file=PREDICTIONS, path=directory))
    with open(path, encoding="utf8") as file:
        for number, line in enumerate(file, 1):
            try:
                record = json.loads(line)
                known = record.keys() >= _NEEDED
            except (ValueError, AttributeError):
                known = False
            if not known:
                raise AngelError(Errors.E514.format(path=path, line=number))
            yield record


def write_report(directory: Path) -> None:
    """Write `report.html` from `metrics.json` and `predictions.jsonl` beside it.

    directory (Path): folder of an evaluation.
    RAISES (AngelError): one of the two is missing.
    """
    if not (directory / METRICS).is_file():
        raise AngelError(Errors.E509.format(file=METRICS, path=directory))
    metrics = json.loads((directory / METRICS).read_text(encoding="utf8"))
    wrong: list[int] = []
    right: list[int] = []
    for at, record in enumerate(read_predictions(directory)):
        (right if record["strict_rank"] == 1 else wrong).append(at)
    shown = _spaced(wrong, MAX_MENTIONS)
    shown |= _spaced(right, MAX_MENTIONS - len(shown))
    records = (r for at, r in enumerate(read_predictions(directory)) if at in shown)
    run = metrics["run"]
    sections = [
        _cards(metrics),
        _section("Accuracy", _accuracy_table(metrics)),
        _section("Where it is right", _charts(metrics)),
        _section("Linking decisions", _linking_table(metrics)),
        _browser(records, len(shown), len(wrong) + len(right), _BROWSER),
        _section("This run", f'<div id="run">{_run_table(metrics)}</div>'),
    ]
    title = f"{Path(run['pipeline']).name} on {Path(run['corpus']).name}"
    _write_page(directory / REPORT, title, "Entity linking evaluation", sections)


def write_comparison(
    comparison: Mapping[str, Any],
    pairs: Iterable[tuple[dict[str, Any], dict[str, Any]]],
    directory: Path,
) -> None:
    """Write `report.html` of two systems side by side.

    comparison (Mapping[str, Any]): as `comparison.compare` gives it.
    pairs (Iterable[tuple[dict[str, Any], dict[str, Any]]]): predictions of both, mention by
        mention; those on which the systems differ are shown.
    directory (Path): folder to write to.
    """
    keys = ("found", "linked", "strict_rank", "lenient_rank", "concepts")
    differing = ({**a, "other": {k: b[k] for k in keys}} for a, b in pairs if _differ(a, b))
    records = list(islice(differing, MAX_MENTIONS))
    names = [Path(name).name for name in comparison["systems"]]
    sections = [
        _section("Accuracy at 1", _comparison_table(comparison, names)),
        _browser(records, len(records), len(records), _COMPARED, names),
    ]
    _write_page(directory / REPORT, " against ".join(names), "Comparison of two systems", sections)


def _differ(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    """Another first concept, or right and wrong."""
    first = [[concept["id"] for concept in one["concepts"][:1]] for one in (a, b)]
    return first[0] != first[1] or (a["strict_rank"] == 1) != (b["strict_rank"] == 1)


def bar_chart(title: str, bars: Sequence[tuple[str, float | None, float | None, str]]) -> str:
    """A chart of accuracies as inline SVG.

    title (str): above the chart.
    bars (Sequence[tuple[str, float | None, float | None, str]]): name, strict and lenient accuracy
        in per cent (None: no mentions), note under the name.
    RETURNS (str): a figure element; strict as a bar, lenient as a line.
    """
    step, height, top = (_CHART_WIDTH - 44) / max(len(bars), 5), 150, 20
    wide = step * 0.66
    parts = []
    for tick in (0, 25, 50, 75, 100):
        y = top + height * (1 - tick / 100)
        parts.append(f'<line class="grid" x1="34" x2="{_CHART_WIDTH}" y1="{y:g}" y2="{y:g}"/>')
        parts.append(f'<text class="tick" x="28" y="{y + 4:g}" text-anchor="end">{tick}</text>')
    for number, (name, strict, lenient, note) in enumerate(bars):
        x = 46 + step * number
        middle = x + wide / 2
        if strict is not None and lenient is not None:
            y = top + height * (1 - strict / 100)
            line = top + height * (1 - lenient / 100)
            # Over the bar; over the line where that would run through the figure.
            label = line if y - _FIGURE < line < y else y
            parts.append(
                f'<rect class="bar" x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" rx="3" '
                f'height="{top + height - y:.1f}"><title>strict {strict:.1f} %</title></rect>'
                f'<line class="lenient" x1="{x - 4:.1f}" x2="{x + wide + 4:.1f}" y1="{line:.1f}" '
                f'y2="{line:.1f}"><title>lenient {lenient:.1f} %</title></line>'
                f'<text class="value" x="{middle:.1f}" y="{label - 6:.1f}" '
                f'text-anchor="middle">{strict:.1f}</text>'
            )
        base = top + height
        parts.append(
            f'<text class="name" x="{middle:.1f}" y="{base + 17}" text-anchor="middle">'
            f"{_escape(name)}</text>"
            f'<text class="note" x="{middle:.1f}" y="{base + 33}" text-anchor="middle">'
            f"{_escape(note)}</text>"
        )
    return _figure(title, top + height + 42, parts)


def margin_chart(title: str, margins: Sequence[Mapping[str, Any]]) -> str:
    """Figure 3: log-probability of the top positive minus the negatives', by similarity.

    title (str): above the chart.
    margins (Sequence[Mapping[str, Any]]): `analyses.Margin` as dictionaries.
    RETURNS (str): a figure element.
    """
    step, height, top = (_CHART_WIDTH - 44) / max(len(margins), 5), 150, 20
    wide = step * 0.7
    values = [m["mean"] for m in margins if m["mean"] is not None] or [0.0]
    high, low = max(*values, 0.0), min(*values, 0.0)
    scale = height / max(high - low, 1e-9)
    zero = top + high * scale
    parts = [
        f'<line class="grid" x1="34" x2="{_CHART_WIDTH}" y1="{zero:.1f}" y2="{zero:.1f}"/>'
        f'<text class="tick" x="28" y="{zero + 4:.1f}" text-anchor="end">0</text>'
    ]
    for number, margin in enumerate(margins):
        x = 46 + step * number
        middle = x + wide / 2
        if (mean := margin["mean"]) is not None:
            y = zero - max(mean, 0) * scale
            kind = "bar" if mean >= 0 else "bar bad"
            over = y - 6 if mean >= 0 else zero - mean * scale + 14
            parts.append(
                f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" rx="3" '
                f'height="{abs(mean) * scale:.1f}"><title>{margin["below"]:.1f} % of the negatives '
                "are more probable</title></rect>"
                f'<text class="value" x="{middle:.1f}" y="{over:.1f}" text-anchor="middle">'
                f"{mean:.1f}</text>"
            )
        parts.append(
            f'<text class="note" x="{middle:.1f}" y="{top + height + 31}" text-anchor="middle">'
            f"{margin['low']:.1f}–{margin['high']:.1f}</text>"
            f'<text class="note" x="{middle:.1f}" y="{top + height + 47}" text-anchor="middle">'
            f"{margin['pairs']:,}</text>"
        )
    return _figure(title, top + height + 54, parts)


def _figure(title: str, height: float, parts: Sequence[str]) -> str:
    """The title as text, which wraps on a narrow screen; there the chart is moved sideways."""
    return (
        f'<figure><figcaption>{_escape(title)}</figcaption><div class="wide">'
        f'<svg class="chart" viewBox="0 0 {_CHART_WIDTH} {height:g}" role="img" '
        f'aria-label="{_escape(title)}">{"".join(parts)}</svg></div></figure>'
    )


def _escape(value: Any) -> str:
    return html.escape(str(value))


def _spaced(items: Sequence[int], limit: int) -> set[int]:
    if len(items) <= limit:
        return set(items)
    return {items[at * len(items) // limit] for at in range(limit)}


def _section(title: str, content: str) -> str:
    return f"<section><h2>{_escape(title)}</h2>{content}</section>" if content else ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], row_heads: bool = True) -> str:
    """Cells are HTML."""
    tag = "th" if row_heads else "td"
    body = "".join(
        f"<tr><{tag}>{first}</{tag}>{''.join(f'<td>{cell}</td>' for cell in rest)}</tr>"
        for first, *rest in rows
    )
    columns = "".join(f"<th>{cell}</th>" for cell in head)
    table = f"<table><thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="wide">{table}</div>'


def _number(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def _with_spread(metrics: Mapping[str, Any], *keys: str) -> str:
    """A figure, over folds with its spread."""
    value, spread = metrics, metrics.get("spread")
    for key in keys:
        value = value[key]
        spread = spread and spread[key]
    text = _number(value)  # type: ignore[arg-type]
    return text if spread is None else f"{text} <small>± {_number(spread)}</small>"


def _cards(metrics: Mapping[str, Any]) -> str:
    items = [
        ("Accuracy at 1, strict", _with_spread(metrics, "strict", "acc@1") + " %"),
        ("Accuracy at 1, lenient", _with_spread(metrics, "lenient", "acc@1") + " %"),
        ("Mentions", f"{metrics['mentions']:,.0f}"),
        ("In the vocabulary", _with_spread(metrics, "coverage") + " %"),
        ("Mentions a second", _number(metrics["mentions_per_second"])),
    ]
    cards = "".join(f"<div><b>{value}</b><span>{name}</span></div>" for name, value in items)
    return f'<div class="cards">{cards}</div>'


def _accuracy_table(metrics: Mapping[str, Any]) -> str:
    columns = [key for key in metrics["strict"] if key.startswith("acc@")]
    rows = []
    for key, title in (("strict", "Strict"), ("lenient", "Lenient"), ("biosyn", "BioSyn's")):
        figures = metrics[key]
        interval = figures.get("interval")
        rows.append(
            [
                title,
                f"{figures['mentions']:,.0f}",
                *(_with_spread(metrics, key, column) for column in columns),
                f"{interval[0]:.1f}–{interval[1]:.1f}" if interval else "–",
                _with_spread(metrics, key, "mrr"),
            ]
        )
    names = [f"at {column.removeprefix('acc@')}" for column in columns]
    note = (
        "<p>In per cent. <b>Strict</b>: one concept a rank, equal scores at their worst rank, all "
        "parts of a composite right, mentions outside the vocabulary are misses. <b>Lenient</b>, "
        "as published: one name a rank that counts for all its concepts, any part of a composite, "
        "mentions outside the vocabulary left out. <b>BioSyn's</b>: the same, but composites are "
        "split and each part must be right. The interval is of accuracy at 1 (bootstrap, "
        f"95 %). {metrics['composites']:,.0f} composites, {metrics['composites_split']:,.0f} of "
        f"them split; {metrics['nil']:,.0f} mentions without identifier.</p>"
    )
    return _table(["", "mentions", *names, "interval", "MRR"], rows) + note


def _linking_table(metrics: Mapping[str, Any]) -> str:
    names = {
        "linking": "Links",
        "linking_with_nil": "Links, NIL as an answer",
        "detection": "Mentions found",
    }
    rows = [
        [title, *(_with_spread(metrics, key, part) for part in ("precision", "recall", "f"))]
        for key, title in names.items()
    ]
    note = ""
    if "ece" in metrics:
        note = (
            "<p>Expected calibration error of the first concept's probability: "
            f"{_with_spread(metrics, 'ece')} points.</p>"
        )
    return _table(["", "precision", "recall", "F"], rows) + note


def _charts(metrics: Mapping[str, Any]) -> str:
    analyses = metrics.get("analyses", {})
    charts = [
        bar_chart(
            title,
            [
                (g["name"], g["strict"], g["lenient"], f"{g['errors']:,} of {g['mentions']:,}")
                for g in analyses[key]
                if g["mentions"] or key == "similarity"
            ],
        )
        for key, title in _TITLES.items()
        if key in analyses
    ]
    if "margins" in analyses:
        title = "Log-probability of the top positive minus negatives, by similarity (figure 3)"
        charts.append(margin_chart(title, analyses["margins"]))
    if not charts:
        return ""
    note = (
        "<p>Accuracy at 1 in per cent of the mentions in the vocabulary: bars and figures strict, "
        "lines lenient; below, the errors among the mentions.</p>"
    )
    return f'{note}<div class="charts">{"".join(charts)}</div>'


def _run_table(metrics: Mapping[str, Any]) -> str:
    rows = []
    for key, value in metrics["run"].items():
        plain = isinstance(value, (str, int, float))
        text = value if plain else json.dumps(value, ensure_ascii=False, indent=1)
        cell = _escape("–" if value is None else text)
        if len(cell) > 120:
            cell = (
                f"<details><summary>{len(cell):,} characters</summary><pre>{cell}</pre></details>"
            )
        rows.append([_escape(key.replace("_", " ")), cell])
    return _table(["setting", "value"], rows)


def _comparison_table(comparison: Mapping[str, Any], names: Sequence[str]) -> str:
    rows = []
    for key in ("strict", "lenient"):
        figures = comparison[key]
        test, counts = figures["test"], figures["counts"]
        rows.append(
            [
                key.capitalize(),
                f"{figures['mentions']:,}",
                _number(figures["a"]),
                _number(figures["b"]),
                f"{test['difference']:+.1f} "
                f"<small>({test['low']:+.1f} to {test['high']:+.1f})</small>",
                f"{test['p_bootstrap']:.2g}",
                f"{test['p_t_test']:.2g}",
                *(f"{counts[name]:,}" for name in ("both", "only_a", "only_b", "neither")),
            ]
        )
    head = [
        "",
        "mentions",
        f"A: {_escape(names[0])}",
        f"B: {_escape(names[1])}",
        "B − A (95 %)",
        "p, paired bootstrap",
        "p, t-test of resamples",
        "both right",
        "only A",
        "only B",
        "neither",
    ]
    note = (
        "<p>In per cent. The t-test is the paper's (100 resamples of equal size): its p falls with "
        "the number of resamples and says little by itself.</p>"
    )
    return _table(head, rows) + note


_BROWSER = (
    "Mentions",
    [
        ("wrong", "wrong (strict)"),
        ("all", "all"),
        ("right", "right (strict)"),
        ("lenient", "right by the lenient count only"),
        ("low", "right, but at a lower rank"),
        ("outside", "outside the vocabulary"),
        ("composite", "composites"),
        ("unfound", "not found or linked to nothing"),
    ],
)
_COMPARED = (
    "Mentions on which the systems differ",
    [
        ("all", "all"),
        ("only_a", "only A right"),
        ("only_b", "only B right"),
        ("neither", "neither"),
    ],
)


def _browser(
    records: Iterable[Mapping[str, Any]],
    n_shown: int,
    n_all: int,
    kind: tuple[str, Sequence[tuple[str, str]]],
    names: Sequence[str] = (),
) -> str:
    title, filters = kind
    # `</` would end the script element; JSON may write it as `<\/`.
    rows = ",\n".join(json.dumps(r, ensure_ascii=False).replace("</", "<\\/") for r in records)
    options = "".join(f'<option value="{key}">{_escape(name)}</option>' for key, name in filters)
    note = "" if n_shown == n_all else f"<p>{n_shown:,} of {n_all:,}, wrong ones first.</p>"
    labels = json.dumps(list(names), ensure_ascii=False).replace("</", "<\\/")
    return (
        f'<section id="browser"><h2>{_escape(title)}</h2>{note}'
        f'<form class="tools"><label>Show <select id="filter">{options}</select></label>'
        '<label>Search <input id="search" type="search" placeholder="mention, name, identifier, '
        'document"></label>'
        '<label>Order <select id="order"><option value="corpus">as in the corpus</option>'
        '<option value="unlike">least similar to its gold name</option>'
        '<option value="mention">by mention</option></select></label>'
        '<output id="count"></output></form>'
        '<div id="mentions"></div><button id="more" type="button">Show more</button>'
        "<noscript><p>The list needs JavaScript; predictions.jsonl holds the same.</p></noscript>"
        f'<script type="application/json" id="names">{labels}</script>'
        f'<script type="application/json" id="data">[{rows}]</script>'
        f"<script>{_SCRIPT}</script></section>"
    )


def _write_page(path: Path, title: str, kind: str, sections: Iterable[str]) -> None:
    page = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_escape(title)}</title><style>{_STYLE}</style></head><body><main>"
        f"<header><p>{_escape(kind)}</p><h1>{_escape(title)}</h1></header>"
        f"{''.join(sections)}</main></body></html>\n"
    )
    with replacing(path) as file:
        file.write(page.encode("utf8"))


_STYLE = """
:root { --ink: #1c2430; --soft: #5d6878; --line: #dfe4ea; --page: #f5f6f8; --card: #fff;
  --blue: #2f6fb0; --deep: #173f6b; --good: #14733f; --goodback: #e3f4ea; --bad: #b3362b;
  --mark: #ffe9a8; --orange: #d9822b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ee; --soft: #9aa6b5; --line: #323b47;
  --page: #14181e; --card: #1c222a; --blue: #5b9bd8; --deep: #a9cdf0; --good: #6fd39b;
  --goodback: #1d3a2a; --bad: #ef8b80; --mark: #6b5713; --orange: #f0a45a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 28px 20px 80px; }
header p { margin: 0; color: var(--soft); letter-spacing: .02em; }
h1 { margin: 0 0 20px; font-size: 28px; line-height: 1.2; color: var(--deep);
  overflow-wrap: anywhere; }
h2 { margin: 0 0 12px; font-size: 18px; color: var(--deep); }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 20px 22px; margin: 18px 0; }
section p { color: var(--soft); margin: 12px 0 0; }
section p b { font-weight: 600; color: var(--ink); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(170px, 1fr)); gap: 12px; }
.cards div { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 14px 18px; }
.cards b { display: block; font-size: 24px; font-variant-numeric: tabular-nums; }
.cards span { color: var(--soft); font-size: 13px; }
small { color: var(--soft); font-size: .72em; font-weight: normal; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 6px 14px 6px 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
td { white-space: nowrap; } #run td { white-space: normal; }
thead th { color: var(--soft); font-weight: 500; font-size: 13px; }
tbody th { font-weight: 600; white-space: nowrap; }
pre { margin: 6px 0; font-size: 12px; white-space: pre-wrap; overflow-wrap: anywhere; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(400px, 1fr));
  gap: 26px 40px; margin-top: 18px; }
figure { margin: 0; min-width: 0; }
figcaption { font-size: 14px; font-weight: 600; }
.chart { width: 100%; font: 12px system-ui, sans-serif; fill: var(--ink); overflow: visible;
  min-width: 420px; display: block; }
.chart .grid { stroke: var(--line); }
.chart .tick, .chart .note { fill: var(--soft); font-size: 11px; }
.chart .value { font-weight: 600; }
.chart .bar { fill: var(--blue); }
.chart .bar.bad { fill: var(--bad); }
.chart .lenient { stroke: var(--orange); stroke-width: 2.5; }
.tools { display: flex; flex-wrap: wrap; gap: 14px; align-items: center; margin-bottom: 8px; }
.tools label { color: var(--soft); font-size: 13px; }
input, select, button { font: inherit; color: inherit; background: var(--page);
  border: 1px solid var(--line); border-radius: 6px; padding: 5px 9px; }
#search { width: 260px; }
#count { color: var(--soft); font-size: 13px; margin-left: auto; }
button { cursor: pointer; margin-top: 14px; }
article { border-top: 1px solid var(--line); padding: 14px 0; }
article .text { margin: 0 0 8px; color: var(--ink); max-width: none; }
mark { background: var(--mark); color: inherit; border-radius: 3px; padding: 1px 3px;
  font-weight: 600; }
.meta { color: var(--soft); font-size: 12px; margin-bottom: 4px; }
.meta b { color: var(--bad); } .meta b.good { color: var(--good); }
.columns { display: grid; grid-template-columns: minmax(180px, 1fr) 1.4fr 1.4fr; gap: 20px; }
@media (max-width: 760px) { .columns { grid-template-columns: 1fr; gap: 8px; }
  .charts { grid-template-columns: minmax(0, 1fr); }
  .cards { grid-template-columns: repeat(auto-fit, minmax(130px, 1fr)); }
  .cards div { padding: 10px 14px; } .cards b { font-size: 20px; }
  main { padding: 20px 12px 60px; } section { padding: 16px 14px; } h1 { font-size: 22px; }
  #search { width: 100%; } .tools label:has(#search) { flex: 1 1 100%; } }
.columns h3 { margin: 0 0 4px; font-size: 12px; font-weight: 500; color: var(--soft); }
ol, ul { margin: 0; padding: 0; list-style: none; font-size: 13.5px; }
li { display: flex; gap: 8px; padding: 2px 6px; border-radius: 4px; }
li.gold { background: var(--goodback); color: var(--good); font-weight: 600; }
li span { flex: 1; overflow-wrap: anywhere; } li code { color: var(--soft); font-size: 11.5px; }
li i { font-style: normal; color: var(--soft); font-size: 12px;
  font-variant-numeric: tabular-nums; }
"""

_SCRIPT = """
(function () {
  'use strict';
  const data = JSON.parse(document.getElementById('data').textContent);
  const names = JSON.parse(document.getElementById('names').textContent);
  const PAGE = 25;
  const at = id => document.getElementById(id);
  const right = r => r.strict_rank === 1;
  const tests = {
    all: () => true,
    wrong: r => r.gold.length && !right(r),
    right: right,
    lenient: r => r.lenient_rank === 1 && !right(r),
    low: r => r.strict_rank > 1,
    outside: r => r.gold.some(g => !g.known),
    composite: r => r.gold.length > 1,
    unfound: r => !r.found || !r.linked,
    only_a: r => right(r) && !right(r.other),
    only_b: r => !right(r) && right(r.other),
    neither: r => !right(r) && !right(r.other),
  };
  const ids = r => new Set(r.gold.map(g => g.id));
  const haystack = r => [r.doc_id, r.mention, r.label,
    ...r.gold.map(g => g.id + ' ' + g.name), ...r.concepts.map(c => c.id + ' ' + c.name),
    ...r.names.map(n => n.name)].join(' ').toLowerCase();
  const keys = data.map(haystack);

  function element(tag, className, text) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }
  function list(title, rows, gold) {
    const box = element('div');
    box.append(element('h3', '', title));
    const ol = element('ol');
    if (!rows.length) ol.append(element('li', '', 'nothing'));
    for (const [name, codes, score] of rows) {
      const li = element('li', codes.some(c => gold.has(c)) ? 'gold' : '');
      const span = element('span', '', name + ' ');
      span.append(element('code', '', codes.join(' ')));
      li.append(span);
      if (score !== null) li.append(element('i', '', score.toFixed(3)));
      ol.append(li);
    }
    box.append(ol);
    return box;
  }
  const ranked = concepts => concepts.slice(0, 10).map(c => [c.name || c.id, [c.id], c.score]);
  function rank(r, name) {
    const text = r.strict_rank === 1 ? 'right'
      : r.strict_rank ? 'at rank ' + r.strict_rank
      : r.lenient_rank === 1 ? 'right by the lenient count' : r.found ? 'wrong' : 'not found';
    return element('b', r.strict_rank === 1 ? 'good' : '', name + text);
  }
  function show(r) {
    const box = element('article');
    const meta = element('div', 'meta');
    if (!r.gold.length) meta.append('no identifier');
    else if (r.other) meta.append(rank(r, 'A '), ' · ', rank(r.other, 'B '));
    else meta.append(rank(r, ''));
    meta.append(' · ' + r.doc_id + ' ' + r.start + '–' + r.end + (r.label ? ' · ' + r.label : '')
      + ' · similarity ' + r.traits.similarity.toFixed(2)
      + (r.found && !r.linked && !r.other ? ' · NIL' : ''));
    const text = element('p', 'text');
    text.append(r.left, element('mark', '', r.mention), r.right);
    const columns = element('div', 'columns');
    const gold = ids(r);
    columns.append(list(r.gold.length > 1 ? 'Gold concepts' : 'Gold concept', r.gold.map(g =>
      [g.name || (g.known ? g.id : 'not in the vocabulary'), [g.id], null]), new Set()));
    if (r.other) {
      columns.append(list('A: ' + names[0], ranked(r.concepts), gold));
      columns.append(list('B: ' + names[1], ranked(r.other.concepts), gold));
    } else {
      columns.append(list('Concepts', ranked(r.concepts), gold));
      columns.append(list('Names', r.names.map(n => [n.name, n.ids, n.score]), gold));
      for (const part of r.parts)
        columns.append(list('Part: ' + part.query, ranked(part.concepts).slice(0, 3), gold));
    }
    box.append(meta, text, columns);
    return box;
  }
  let found = [], shown = 0;
  function more() {
    const next = found.slice(shown, shown + PAGE);
    next.forEach(i => at('mentions').append(show(data[i])));
    shown += next.length;
    at('more').hidden = shown >= found.length;
  }
  function update() {
    const test = tests[at('filter').value];
    const wanted = at('search').value.trim().toLowerCase();
    found = data.map((_, i) => i).filter(i => test(data[i]) && keys[i].includes(wanted));
    const order = at('order').value;
    if (order === 'unlike')
      found.sort((a, b) => data[a].traits.similarity - data[b].traits.similarity || a - b);
    if (order === 'mention')
      found.sort((a, b) => data[a].mention.localeCompare(data[b].mention) || a - b);
    at('count').textContent = found.length + ' mentions';
    at('mentions').replaceChildren();
    shown = 0;
    more();
  }
  for (const id of ['filter', 'order']) at(id).addEventListener('change', update);
  at('search').addEventListener('input', update);
  at('more').addEventListener('click', more);
  document.querySelector('.tools').addEventListener('submit', e => e.preventDefault());
  update();
})();
"""
