"""The figures of one system or several, drawn with matplotlib (extra `plots`)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import AngelError, missing_package

FIGURES = {
    "similarity": "Accuracy by similarity of mention and name",
    "type": "Accuracy by entity type",
    "reliability": "Reliability of the probabilities",
}
"""Names of the figures, and their titles."""


def plot_metrics(metrics: Mapping[str, Mapping[str, Any]], directory: Path) -> None:
    """Draw the figures that all systems have data for: `similarity.png`, `type.png`,
    `reliability.png`.

    metrics (Mapping[str, Mapping[str, Any]]): content of `metrics.json` by system.
    directory (Path): folder to write to.
    RAISES (AngelError): matplotlib is not installed.
    """
    for name in ("similarity", "type"):
        groups = {system: one["analyses"][name] for system, one in metrics.items()}
        plot_groups(name, groups, directory / f"{name}.png")
    if all("confidence" in one for one in metrics.values()):
        bins = {system: one["confidence"]["bins"] for system, one in metrics.items()}
        plot_reliability(bins, directory / "reliability.png")


def plot_groups(name: str, groups: Mapping[str, Sequence[Mapping[str, Any]]], path: Path) -> None:
    """Draw accuracies by groups of mentions: both counts of one system, or the lenient count of
    several, as in the paper's figure 4.

    name (str): `similarity` or `type`.
    groups (Mapping[str, Sequence[Mapping[str, Any]]]): see `analyses.analyze`, by system.
    path (Path): PNG to write.
    """
    first = next(iter(groups.values()))
    bars = {system: [group["lenient"] for group in own] for system, own in groups.items()}
    if len(groups) == 1:
        bars = {count: [group[count] for group in first] for count in ("strict", "lenient")}
    figure, axes = new_figure(FIGURES[name])
    width = 0.8 / len(bars)
    for number, (series, values) in enumerate(bars.items()):
        positions = [index - 0.4 + (number + 0.5) * width for index in range(len(first))]
        drawn = axes.bar(positions, [value or 0 for value in values], width, label=series)
        texts = ["" if value is None else f"{value:.1f}" for value in values]
        axes.bar_label(drawn, texts, fontsize="small")
    labels = [f"{group['name']}\n({group['mentions']:,})" for group in first]
    axes.set_xticks(range(len(labels)), labels)
    axes.set(ylabel="accuracy at rank 1, %", ylim=(0, 108))
    axes.legend()
    figure.savefig(path, dpi=150)


def plot_reliability(bins: Mapping[str, Sequence[Mapping[str, float]]], path: Path) -> None:
    """bins (Mapping[str, Sequence[Mapping[str, float]]]): see `confidence.reliability`, by system.
    path (Path): PNG to write."""
    figure, axes = new_figure(FIGURES["reliability"])
    for system, own in bins.items():
        axes.plot(
            [one["confidence"] for one in own], [one["right"] for one in own], "o-", label=system
        )
    axes.plot([0, 100], [0, 100], label="perfect calibration")
    axes.set(xlabel="probability, %", ylabel="accuracy, %")
    axes.legend()
    figure.savefig(path, dpi=150)


def import_figure() -> Any:
    """RETURNS (Any): matplotlib's class. RAISES (AngelError): matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise AngelError(missing_package("Drawing figures", "matplotlib", "plots")) from error
    return Figure


def new_figure(title: str) -> tuple[Any, Any]:
    """title (str): of the figure. RETURNS (tuple[Any, Any]): matplotlib's figure and axes. RAISES
    (AngelError): matplotlib is not installed."""
    figure = import_figure()(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title)
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    return figure, axes
