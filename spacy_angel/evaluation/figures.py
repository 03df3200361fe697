"""The paper's figures of two systems side by side, each as a picture and as a Markdown table.

Figure 4 (B and C are the same of other corpora): accuracy and errors, both by the lenient count, by
the tf-idf similarity of mention and gold name. Figure 3: log-probability of the top positive minus
that of negatives, by the similarity of mention and negative.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..files.atomic import replacing
from .charts import as_figure, line_chart, pair_chart, picture


def write_figures(
    metrics: Sequence[Mapping[str, Any]], names: Sequence[str], directory: Path
) -> list[str]:
    """Write `figure-3.svg`, `figure-3.md`, `figure-4.svg`, `figure-4.md`, as far as both systems
    have what they show: figure 3 needs an evaluation with `negatives`.

    metrics (Sequence[Mapping[str, Any]]): of two evaluations of the same mentions.
    names (Sequence[str]): of the systems.
    directory (Path): folder to write to.
    RETURNS (list[str]): the charts as they may stand in a page.
    """
    first, second = (one.get("analyses", {}) for one in metrics)
    charts = []
    if "similarity" in first and "similarity" in second:
        pairs = list(zip(first["similarity"], second["similarity"], strict=True))
        title = "Accuracy and errors (lenient) by similarity of mention and gold name (figure 4)"
        chart = pair_chart(
            title,
            names,
            [(a["name"], a["lenient"], b["lenient"], a["errors"], b["errors"]) for a, b in pairs],
        )
        charts.append(
            write_chart(directory / "figure-4", chart, _accuracy_table(title, names, pairs))
        )
    if "margins" in first and "margins" in second:
        pairs = list(zip(first["margins"], second["margins"], strict=True))
        title = "Log-probability of the top positive minus negatives, by similarity (figure 3)"
        lines = {
            name: [(m["low"] + 0.05, m["mean"]) for m in margins if m["mean"] is not None]
            for name, margins in zip(names, (first["margins"], second["margins"]), strict=True)
        }
        chart = line_chart(title, lines, "similarity of mention and negative", in_per_cent=False)
        charts.append(
            write_chart(directory / "figure-3", chart, _margin_table(title, names, pairs))
        )
    return charts


def _accuracy_table(
    title: str, names: Sequence[str], pairs: Sequence[tuple[Mapping, Mapping]]
) -> str:
    head = ["similarity", "mentions", *names, *(f"errors of {name}" for name in names)]
    rows = [
        [
            a["name"],
            f"{a['mentions']:,}",
            *(as_figure(one["lenient"]) for one in (a, b)),
            *(f"{one['errors']:,}" for one in (a, b)),
        ]
        for a, b in pairs
    ]
    return markdown_table(title, head, rows)


def _margin_table(
    title: str, names: Sequence[str], pairs: Sequence[tuple[Mapping, Mapping]]
) -> str:
    head = ["similarity", "pairs", *names, *(f"negative above, {name}, %" for name in names)]
    rows = [
        [
            f"{a['low']:.1f}-{a['high']:.1f}",
            f"{a['pairs']:,}",
            *(as_figure(one["mean"], 2) for one in (a, b)),
            *(as_figure(one["below"]) for one in (a, b)),
        ]
        for a, b in pairs
    ]
    return markdown_table(title, head, rows)


def markdown_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """title (str): above the table. head (Sequence[str]), rows (Sequence[Sequence[str]]): cells.
    RETURNS (str): Markdown; all columns but the first are set to the right."""
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    return f"{title}\n\n{table}\n"


def write_chart(path: Path, chart: str, table: str) -> str:
    """Write a chart as a picture and, beside it, the figures that it shows.

    path (Path): of the files, without ending.
    chart (str): a figure element of `charts`. table (str): Markdown.
    RETURNS (str): the chart.
    """
    with replacing(path.with_suffix(".svg")) as file:
        file.write(picture(chart))
    with replacing(path.with_suffix(".md")) as file:
        file.write(table.encode("utf8"))
    return chart
