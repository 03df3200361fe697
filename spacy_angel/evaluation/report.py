"""Markdown reports of evaluations and comparisons."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..files.atomic import write_text
from ..files.markdown import markdown_table
from .files import REPORT, read_metrics, read_predictions

_MAX_ROWS = 30
_COUNTS = ("strict", "lenient", "biosyn", "kb_id")
_DECISIONS = ("linking", "detection")


def write_report(directory: Path) -> None:
    """Write `report.md` from `metrics.json` and `predictions.jsonl`.

    directory (Path): folder written by `evaluate`.
    RAISES (AngelError): if one of the two files is missing or invalid.
    """
    metrics = read_metrics(directory)
    run = metrics["run"]
    errors = Counter(
        (one["mention"], _gold(one), _first(one) if one["found"] else "not found")
        for one in read_predictions(directory)
        if one["gold"] and one["strict_rank"] != 1
    )
    overall = {key: value for key, value in metrics.items() if isinstance(value, (int, float))}
    if "confidence" in metrics:
        overall["calibration error"] = metrics["confidence"]["ece"]
    sections = [
        f"# {Path(run['pipeline']).name} on {Path(run['corpus']).name}",
        markdown_table([overall]),
        "## Accuracy, %",
        figure_table(metrics, _COUNTS),
        "## Accuracy by entity type",
        markdown_table(metrics["by_type"]),
        "## Precision, recall and F-score, %",
        figure_table(metrics, _DECISIONS),
        *(
            f"## Protocol {name}\n\n{protocol_table(figures)}"
            for name, figures in metrics.get("protocols", {}).items()
        ),
        "## Most frequent errors (strict)",
        _count_table(["mention", "gold", "first concept"], errors),
        "## Settings",
        f"```json\n{json.dumps(run, ensure_ascii=False, indent=1)}\n```",
    ]
    write_text(directory / REPORT, "\n\n".join(sections) + "\n")


def write_comparison(
    comparison: Mapping[str, Any],
    systems: Sequence[str],
    pairs: Iterable[tuple[dict[str, Any], dict[str, Any]]],
    directory: Path,
) -> None:
    """Write the `report.md` of a comparison.

    comparison (Mapping[str, Any]): result of `compare.compare`.
    systems (Sequence[str]): names of the two systems.
    pairs (Iterable[tuple[dict[str, Any], dict[str, Any]]]): the predictions for each mention.
    directory (Path): folder to write to.
    """
    first, second = systems
    differing = Counter(
        (a["mention"], _gold(a), _first(a), _first(b))
        for a, b in pairs
        if (a["strict_rank"] == 1) != (b["strict_rank"] == 1)
    )
    sections = [
        f"# A: {first}, B: {second}",
        comparison_table(comparison, systems),
        "## Most frequent mentions that only one of the two links right",
        _count_table(["mention", "gold", first, second], differing),
    ]
    write_text(directory / REPORT, "\n\n".join(sections) + "\n")


def comparison_table(comparison: Mapping[str, Any], systems: Sequence[str]) -> str:
    """Format a comparison as a Markdown table: accuracies in percent, their difference with its
    95 % confidence interval and p-value, and the number of mentions that both, one, or neither
    links correctly.

    comparison (Mapping[str, Any]), systems (Sequence[str]): see `write_comparison`.
    RETURNS (str): the table.
    """
    first, second = systems
    return markdown_table(
        {
            "count, %": key,
            "mentions": comparison[key]["mentions"],
            first: comparison[key]["a"],
            second: comparison[key]["b"],
            **{name: f"{value:.3g}" for name, value in comparison[key]["test"].items()},
            **comparison[key]["counts"],
        }
        for key in ("strict", "lenient", "kb_id")
    )


def figure_table(metrics: Mapping[str, Any], keys: Sequence[str]) -> str:
    """metrics (Mapping[str, Any]): those of an evaluation. keys (Sequence[str]): of its counts.
    RETURNS (str): a Markdown table with a row for each count."""
    return markdown_table({"": key, **metrics[key]} for key in keys)


def protocol_table(figures: Mapping[str, Any]) -> str:
    """figures (Mapping[str, Any]): metrics of a protocol. RETURNS (str): a Markdown table with a
    row for all mentions, then a row for each type."""
    rows = []
    for name, own in {"all": figures, **figures.get("types", {})}.items():
        for mean in ("averaged", "micro") if "micro" in own else ("",):
            values = own[mean] if mean else own
            numbers = {key: v for key, v in values.items() if isinstance(v, (int, float))}
            rows.append({"type": f"{name} {mean}".strip(), **numbers})
    return markdown_table(rows)


def _count_table(head: Sequence[str], counts: Counter[Any]) -> str:
    return markdown_table(
        {**dict(zip(head, key, strict=True)), "times": number}
        for key, number in counts.most_common(_MAX_ROWS)
    )


def _gold(prediction: Mapping[str, Any]) -> str:
    return ", ".join(f"{one['id']} {one['name']}".strip() for one in prediction["gold"])


def _first(prediction: Mapping[str, Any]) -> str:
    return next((f"{one['id']} {one['name']}" for one in prediction["concepts"]), "")
