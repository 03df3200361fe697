"""The figures of one system or several, drawn with matplotlib (extra `plots`)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import AngelError, missing_package

FIGURES = {
    "similarity": "Accuracy by similarity of mention and name",
    "type": "Accuracy by entity type",
    "reliability": "Reliability of the probabilities",
    "margins": "Log-probability of the top positive minus negatives",
}
"""Names of the figures, and their titles."""


def plot_metrics(metrics: Mapping[str, Mapping[str, Any]], directory: Path) -> None:
    """Draw the figures that all systems have data for: `similarity.png`, `type.png`,
    `reliability.png`, `margins.png`.

    metrics (Mapping[str, Mapping[str, Any]]): content of `metrics.json` by system.
    directory (Path): folder to write to.
    RAISES (AngelError): matplotlib is not installed.
    """
    for name in FIGURES:
        if name == "reliability":
            data = {s: one.get("confidence", {}).get("bins") for s, one in metrics.items()}
        else:
            data = {s: one.get("analyses", {}).get(name) for s, one in metrics.items()}
        if all(data.values()):
            plot_figure(name, data, directory / f"{name}.png")


def plot_figure(name: str, data: Mapping[str, Sequence[Mapping[str, Any]]], path: Path) -> None:
    """Draw one figure.

    name (str): of `FIGURES`.
    data (Mapping[str, Sequence[Mapping[str, Any]]]): groups or bins by system.
    path (Path): PNG to write.
    """
    first = next(iter(data.values()))
    if name in ("similarity", "type"):
        labels = [f"{group['name']}\n({group['mentions']:,})" for group in first]
        # One system: both counts; several: the lenient count, as in the paper's figure 4.
        counts = ("strict", "lenient") if len(data) == 1 else ("lenient",)
        bars = {
            count if len(data) == 1 else system: [group[count] for group in groups]
            for count in counts
            for system, groups in data.items()
        }
        plot_bars(path, FIGURES[name], labels, bars)
    elif name == "reliability":
        lines = {s: [(one["confidence"], one["right"]) for one in b] for s, b in data.items()}
        lines["perfect calibration"] = [(0, 0), (100, 100)]
        plot_lines(path, FIGURES[name], ("probability, %", "accuracy, %"), lines)
    else:
        lines = {
            system: [
                ((number + 0.5) / len(bins), one["mean"])
                for number, one in enumerate(bins)
                if one["mentions"]
            ]
            for system, bins in data.items()
        }
        axes = ("similarity of mention and negative", "difference, nats")
        plot_lines(path, FIGURES[name], axes, lines)


def plot_bars(
    path: Path, title: str, labels: Sequence[str], bars: Mapping[str, Sequence[float | None]]
) -> None:
    """path (Path): PNG to write. title (str): of the figure. labels (Sequence[str]): of the groups.
    bars (Mapping[str, Sequence[float | None]]): accuracies in percent by series."""
    figure, axes = _figure(title)
    width = 0.8 / len(bars)
    for number, (name, values) in enumerate(bars.items()):
        positions = [index - 0.4 + (number + 0.5) * width for index in range(len(labels))]
        drawn = axes.bar(positions, [value or 0 for value in values], width, label=name)
        texts = ["" if value is None else f"{value:.1f}" for value in values]
        axes.bar_label(drawn, texts, fontsize="small")
    axes.set_xticks(range(len(labels)), labels)
    axes.set(ylabel="accuracy at rank 1, %", ylim=(0, 108))
    axes.legend()
    figure.savefig(path, dpi=150)


def plot_lines(
    path: Path,
    title: str,
    axis_labels: tuple[str, str],
    lines: Mapping[str, Sequence[tuple[float, float]]],
) -> None:
    """path (Path): PNG to write. title (str): of the figure. axis_labels (tuple[str, str]): of x
    and y. lines (Mapping[str, Sequence[tuple[float, float]]]): points by series."""
    figure, axes = _figure(title)
    for name, points in lines.items():
        axes.plot(*zip(*points, strict=True), marker="o", label=name)
    axes.set(xlabel=axis_labels[0], ylabel=axis_labels[1])
    axes.legend()
    figure.savefig(path, dpi=150)


def import_figure() -> Any:
    """RETURNS (Any): matplotlib's class. RAISES (AngelError): matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise AngelError(missing_package("Drawing figures", "matplotlib", "plots")) from error
    return Figure


def _figure(title: str) -> tuple[Any, Any]:
    figure = import_figure()(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title)
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    return figure, axes
