"""The page a person reads: tables, charts and every mention, in one file that needs no network."""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from .charts import as_figure, bar_chart, escape, line_chart, margin_chart
from .files import REPORT, read_metrics, read_predictions
from .page import browser, section, table, write_page

_MEANS = ("averaged", "micro")  # how documents become one figure

# Mentions on a page: some ten megabytes, which a browser opens at once. Of more, evenly spaced
# ones are shown, wrong ones first.
MAX_MENTIONS = 4000

_TITLES = {
    "similarity": "By similarity of mention and gold name (tf-idf, figure 4)",
    "words": "By words of the mention",
    "ambiguity": "By concepts that have the mention as a name",
    "seen_mention": "By mention seen in training",
    "seen_concept": "By concept seen in training",
}


def write_report(directory: Path) -> None:
    """Write `report.html` from `metrics.json` and `predictions.jsonl` beside it.

    directory (Path): folder of an evaluation.
    RAISES (AngelError): one of the two is missing.
    """
    metrics = read_metrics(directory)
    wrong: list[int] = []
    right: list[int] = []
    for number, record in enumerate(read_predictions(directory)):
        (right if record["strict_rank"] == 1 else wrong).append(number)
    shown = _spaced(wrong, MAX_MENTIONS)
    shown |= _spaced(right, MAX_MENTIONS - len(shown))
    records = (r for number, r in enumerate(read_predictions(directory)) if number in shown)
    run = metrics["run"]
    sections = [
        _cards(metrics),
        section("Accuracy", _accuracy_table(metrics)),
        section("Where it is right", _charts(metrics)),
        section("With noise in the mentions", _noise(metrics)),
        section("Linking decisions", _linking_table(metrics)),
        section("Scores and thresholds", _confidence(metrics)),
        section("As the field counts", _protocol_tables(metrics)),
        browser(records, len(shown), len(wrong) + len(right), _BROWSER),
        section("This run", f'<div id="run">{_run_table(metrics)}</div>'),
    ]
    title = f"{Path(run['pipeline']).name} on {Path(run['corpus']).name}"
    write_page(directory / REPORT, title, "Entity linking evaluation", sections)


def write_comparison(
    comparison: Mapping[str, Any],
    pairs: Iterable[tuple[dict[str, Any], dict[str, Any]]],
    directory: Path,
    names: Sequence[str],
    charts: Sequence[str] = (),
) -> None:
    """Write `report.html` of two systems side by side.

    comparison (Mapping[str, Any]): as `compare.compare` gives it.
    pairs (Iterable[tuple[dict[str, Any], dict[str, Any]]]): predictions of both, mention by
        mention; those on which the systems differ are shown.
    directory (Path): folder to write to.
    names (Sequence[str]): of the two.
    charts (Sequence[str]): of both systems, see `figures.write_figures`.
    """
    keys = ("found", "linked", "strict_rank", "lenient_rank", "concepts")
    differing = ({**a, "other": {k: b[k] for k in keys}} for a, b in pairs if _differ(a, b))
    records = list(islice(differing, MAX_MENTIONS))
    sections = [
        section("Accuracy at 1", _comparison_table(comparison, names)),
        section(
            "Where they differ", f'<div class="charts">{"".join(charts)}</div>' if charts else ""
        ),
        browser(records, len(records), len(records), _compared(names), names),
    ]
    write_page(directory / REPORT, " against ".join(names), "Comparison of two systems", sections)


def _differ(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    """Another first concept, or right and wrong."""
    first = [[concept["id"] for concept in one["concepts"][:1]] for one in (a, b)]
    return first[0] != first[1] or (a["strict_rank"] == 1) != (b["strict_rank"] == 1)


def _spaced(items: Sequence[int], limit: int) -> set[int]:
    if len(items) <= limit:
        return set(items)
    return {items[number * len(items) // limit] for number in range(limit)}


def _with_spread(metrics: Mapping[str, Any], *keys: str) -> str:
    """A figure, over folds with its spread."""
    value, spread = metrics, metrics.get("spread")
    for key in keys:
        value = value[key]
        spread = spread and spread[key]
    text = as_figure(value)  # type: ignore[arg-type]
    return text if spread is None else f"{text} <small>± {as_figure(spread)}</small>"


def _cards(metrics: Mapping[str, Any]) -> str:
    items = [
        ("Accuracy at 1, strict", _with_spread(metrics, "strict", "acc@1") + " %"),
        ("Accuracy at 1, lenient", _with_spread(metrics, "lenient", "acc@1") + " %"),
        ("Mentions", f"{metrics['mentions']:,.0f}"),
        ("In the vocabulary", _with_spread(metrics, "coverage") + " %"),
        ("Mentions a second", as_figure(metrics["mentions_per_second"])),
    ]
    cards = "".join(f"<div><b>{value}</b><span>{name}</span></div>" for name, value in items)
    return f'<div class="cards">{cards}</div>'


def _accuracy_table(metrics: Mapping[str, Any]) -> str:
    columns = [key for key in metrics["strict"] if key.startswith("acc@")]
    rows = []
    for key, title in (("strict", "Strict"), ("lenient", "Lenient"), ("biosyn", "BioSyn's")):
        figures = metrics[key]
        rows.append(
            [
                title,
                f"{figures['mentions']:,.0f}",
                *(_with_spread(metrics, key, column) for column in columns),
                _interval(figures.get("interval")),
                _with_spread(metrics, key, "mrr"),
            ]
        )
    rows.append(
        [
            "kb_id",
            f"{metrics['kb_id']['mentions']:,.0f}",
            _with_spread(metrics, "kb_id", "acc@1"),
            *["–"] * (len(columns) - 1),
            _interval(metrics["kb_id"].get("interval")),
            "–",
        ]
    )
    names = [f"at {column.removeprefix('acc@')}" for column in columns]
    note = (
        "<p>In per cent. <b>Strict</b>: one concept a rank, equal scores at their worst rank, all "
        "parts of a composite right, mentions outside the vocabulary are misses. <b>Lenient</b>, "
        "as published: one name a rank that counts for all its concepts, any part of a composite, "
        "mentions outside the vocabulary left out. <b>BioSyn's</b>: the same, but composites are "
        "split and each part must be right. <b>kb_id</b>: the one identifier that the mention gets "
        "is a gold one; where the vocabulary has all of them, in "
        f"{_with_spread(metrics, 'kb_id', 'in_vocabulary')}; without thresholds, of the best name "
        f"{_with_spread(metrics, 'kb_id', 'best_name')}, of the concept with the highest score "
        f"{_with_spread(metrics, 'kb_id', 'first_concept')}. The interval is of accuracy at 1 "
        f"(bootstrap, 95 %). {metrics['composites']:,.0f} composites, "
        f"{metrics['composites_split']:,.0f} of them split; {metrics['nil']:,.0f} mentions "
        "without identifier.</p>"
    )
    return table(["", "mentions", *names, "interval", "MRR"], rows) + note


def _interval(interval: Sequence[float] | None) -> str:
    return f"{interval[0]:.1f}–{interval[1]:.1f}" if interval else "–"


def _noise(metrics: Mapping[str, Any]) -> str:
    """A line for every kind of noise, and a row for every level."""
    curves = metrics.get("noise")
    if not curves:
        return ""
    lines = {
        kind: [(int(edits), point["strict"]) for edits, point in points.items()]
        for kind, points in curves.items()
    }
    clean = next(iter(curves.values()))["0"]
    columns = ("strict", "lenient", "kb_id", "changed")
    rows = [["none", "0", *(as_figure(clean[column]) for column in columns)]]
    for kind, points in curves.items():
        for edits, point in points.items():
            if edits != "0":
                rows.append([escape(kind), edits, *(as_figure(point[c]) for c in columns)])
    note = (
        "<p>Accuracy at 1 in per cent; <b>changed</b>: per cent of the mentions that have a place "
        "for the noise. Each level has a page of its own in the folder beside this one.</p>"
    )
    head = ["noise", "edits", "strict", "lenient", "kb_id", "changed"]
    chart = line_chart("Strict accuracy at 1", lines, "edits in each mention")
    return f'<div class="charts">{chart}<div>{table(head, rows)}</div></div>{note}'


def _confidence(metrics: Mapping[str, Any]) -> str:
    """Are the scores calibrated, and how much may be linked at which precision."""
    confidence = metrics.get("confidence")
    if not confidence:
        return ""
    curve = confidence["coverage"]
    charts = []
    if "bins" in confidence:
        lines = {
            "right": [(one["confidence"], one["right"]) for one in confidence["bins"]],
            "calibrated": [(one["confidence"], one["confidence"]) for one in confidence["bins"]],
        }
        lines = {name: [(round(x), y) for x, y in points] for name, points in lines.items()}
        charts.append(line_chart("Right, of what is said with a score", lines, "score, per cent"))
    if curve:
        points = [(int(coverage), point["precision"]) for coverage, point in curve.items()]
        title = "Links that are right, over the mentions linked"
        charts.append(line_chart(title, {"right": points}, "per cent of those in the vocabulary"))
    rows = [
        [
            f"{coverage} %",
            as_figure(point["limit"], 3),
            f"{point['links']:,.0f}",
            as_figure(point["precision"]),
        ]
        for coverage, point in curve.items()
    ]
    note = (
        f"<p>Expected calibration error {_with_spread(metrics, 'confidence', 'ece')} points, over "
        f"{confidence['mentions']:,.0f} mentions, those included that should link to NIL. A "
        "threshold keeps the links with at least that score: <b>linked</b> is the share of the "
        "mentions in the vocabulary that keep one, <b>right</b> the share of all links kept.</p>"
    )
    coverage_table = table(["linked", "threshold", "links", "right"], rows)
    return f'<div class="charts">{"".join(charts)}</div>{coverage_table}{note}'


def _protocol_tables(metrics: Mapping[str, Any]) -> str:
    protocols = metrics.get("protocols", {})
    tables = []
    if belb := protocols.get("belb"):
        row = [f"{belb['mentions']:,.0f}", as_figure(belb["strict"]), as_figure(belb["lenient"])]
        head = ["BELB, recall at 1", "mentions", "strict", "lenient"]
        tables.append(table(head, [["all", *row]]))
    rates = ("precision", "recall", "f")
    if hunflair2 := protocols.get("hunflair2"):
        rows = [
            [escape(name), *(as_figure(figures[rate]) for rate in rates)]
            for name, figures in {"all": hunflair2, **hunflair2["types"]}.items()
        ]
        tables.append(table(["HunFlair2, mentions (micro)", "precision", "recall", "F"], rows))
    if document := protocols.get("document"):
        rows = [
            [escape(name), *(as_figure(figures[kind][r]) for kind in _MEANS for r in rates)]
            for name, figures in {"all": document, **document["types"]}.items()
        ]
        head = [f"{rate}, {mean}" for mean in _MEANS for rate in ("precision", "recall", "F")]
        tables.append(table(["Identifiers of a document", *head], rows))
    return "".join(tables)


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
    if left_out := metrics.get("types", {}).get("left_out"):
        found = ", ".join(f"{escape(name)} {number:,.0f}" for name, number in left_out.items())
        note += f"<p>Found, but not marked in this corpus, and so not counted: {found}.</p>"
    return table(["", "precision", "recall", "F"], rows) + note + _labels_table(metrics)


def _labels_table(metrics: Mapping[str, Any]) -> str:
    """How many mentions of each label the vocabulary has."""
    rows = [
        [escape(label) or "–", f"{counts['mentions']:,.0f}", f"{counts['in_vocabulary']:,.0f}"]
        for label, counts in metrics.get("labels", {}).items()
    ]
    return table(["label", "mentions with identifier", "in the vocabulary"], rows) if rows else ""


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
        "lines lenient; below, the errors by the lenient count, as the paper has them, among the "
        "mentions.</p>"
    )
    return f'{note}<div class="charts">{"".join(charts)}</div>'


def _run_table(metrics: Mapping[str, Any]) -> str:
    rows = []
    for key, value in metrics["run"].items():
        plain = isinstance(value, (str, int, float))
        text = value if plain else json.dumps(value, ensure_ascii=False, indent=1)
        cell = escape("–" if value is None else text)
        if len(cell) > 120:
            cell = (
                f"<details><summary>{len(cell):,} characters</summary><pre>{cell}</pre></details>"
            )
        rows.append([escape(key.replace("_", " ")), cell])
    return table(["setting", "value"], rows)


def _comparison_table(comparison: Mapping[str, Any], names: Sequence[str]) -> str:
    first, second = map(escape, names)
    rows = []
    for key in ("strict", "lenient", "kb_id"):
        figures = comparison[key]
        test, counts = figures["test"], figures["counts"]
        rows.append(
            [
                key,
                f"{figures['mentions']:,}",
                as_figure(figures["a"]),
                as_figure(figures["b"]),
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
        first,
        second,
        f"{second} − {first} (95 %)",
        "p, paired bootstrap",
        "p, t-test of resamples",
        "both right",
        f"only {first}",
        f"only {second}",
        "neither",
    ]
    note = (
        "<p>In per cent. The t-test is the paper's (100 resamples of equal size): its p falls with "
        "the number of resamples and says little by itself.</p>"
    )
    return table(head, rows) + note


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
        ("unfound", "not found or linked to NIL"),
    ],
)


def _compared(names: Sequence[str]) -> tuple[str, list[tuple[str, str]]]:
    filters = [
        ("all", "all"),
        ("only_a", f"only {names[0]} right"),
        ("only_b", f"only {names[1]} right"),
        ("neither", "neither"),
    ]
    return "Mentions on which the systems differ", filters
