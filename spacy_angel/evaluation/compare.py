"""Two evaluations of the same mentions side by side: figures, tests, report."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import zip_longest
from pathlib import Path
from typing import Any

from ..errors import AngelError
from ..files.atomic import write_json
from .figures import write_figures
from .files import read_metrics, read_predictions
from .report import write_comparison
from .statistics import compare_systems

COMPARISON = "comparison.json"


def compare(
    dir_a: str | Path,
    dir_b: str | Path,
    output: str | Path | None = None,
    names: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Compare two evaluations of the same mentions.

    dir_a (str | Path), dir_b (str | Path): folders that `evaluate` wrote.
    output (str | Path | None): folder for `comparison.json`, a `report.html` that shows the
        mentions on which the two differ side by side, and the paper's figures, see `figures`.
    names (Sequence[str] | None): of the two, for figures and page; None: those of their pipelines,
        of the folders where these are the same, or else `A` and `B`.
    RETURNS (dict[str, Any]): `systems`, `mentions`; for `lenient`, `strict` and `kb_id` the
        accuracies at 1 of `a` and `b` in per cent, `counts` (`both`, `only_a`, `only_b`, `neither`)
        and `test`, see `statistics.Comparison`. Lenient counts the mentions that the vocabularies
        of both hold, the others all with identifiers.
    RAISES (AngelError): a folder has no evaluation, or the two are of different mentions.
    """
    paths = Path(dir_a), Path(dir_b)
    metrics = [read_metrics(path) for path in paths]
    hits: dict[str, tuple[list[bool], list[bool]]] = {
        count: ([], []) for count in ("lenient", "strict", "kb_id")
    }
    for a, b in read_pairs(*paths):
        if not a["gold"]:
            continue
        for key, both in hits.items():
            if key != "lenient" or all(g["known"] for one in (a, b) for g in one["gold"]):
                for one, hits_of_one in zip((a, b), both, strict=True):
                    hits_of_one.append(_is_hit(one, key))
    comparison: dict[str, Any] = {
        "systems": [one["run"]["pipeline"] for one in metrics],
        "folders": [str(path) for path in paths],
        "mentions": len(hits["strict"][0]),
    }
    for key, (hits_a, hits_b) in hits.items():
        pairs = Counter(zip(hits_a, hits_b, strict=True))
        comparison[key] = {
            "mentions": len(hits_a),
            "a": 100 * sum(hits_a) / max(len(hits_a), 1),
            "b": 100 * sum(hits_b) / max(len(hits_b), 1),
            "counts": {
                "both": pairs[True, True],
                "only_a": pairs[True, False],
                "only_b": pairs[False, True],
                "neither": pairs[False, False],
            },
            "test": asdict(compare_systems(hits_a, hits_b)),
        }
    if output is not None:
        write_json(Path(output) / COMPARISON, comparison)
        shown = names or _told_apart(comparison["systems"], paths)
        charts = write_figures(metrics, shown, Path(output))
        write_comparison(comparison, read_pairs(*paths), Path(output), shown, charts)
    return comparison


def _told_apart(systems: Sequence[str], folders: Sequence[Path]) -> list[str]:
    """What two systems are called in figures and page."""
    for pair in (systems, folders):
        names = [Path(one).name for one in pair]
        if len(set(names)) == 2:
            return names
    return ["A", "B"]


def _is_hit(record: dict[str, Any], count: str) -> bool:
    """Is the mention right, by this count?"""
    if count == "kb_id":
        gold = {concept["id"] for concept in record["gold"]}
        return len(record["kb_ids"]) == 1 and record["kb_ids"][0] in gold
    return record[f"{count}_rank"] == 1


def read_pairs(dir_a: Path, dir_b: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The predictions of two evaluations, mention by mention.

    dir_a (Path), dir_b (Path): folders that `evaluate` wrote.
    RETURNS (Iterator[tuple[dict[str, Any], dict[str, Any]]]): lines of `predictions.jsonl`.
        Mentions are known by document, order, label and the identifiers that the corpus gives:
        where abbreviations were expanded for one system only (a baseline), texts and offsets
        differ.
    RAISES (AngelError): a folder has none, or the two are of different mentions.
    """
    lines = (read_predictions(dir_a), read_predictions(dir_b))
    for number, (a, b) in enumerate(zip_longest(*lines), 1):
        keys = [one and [one[key] for key in ("doc_id", "label", "annotated")] for one in (a, b)]
        if keys[0] != keys[1]:
            shown = [one and [one["doc_id"], one["start"], one["mention"]] for one in (a, b)]
            raise AngelError(
                f"The evaluations differ from line {number} of their predictions on: {shown[0]} "
                f"and {shown[1]}."
            )
        yield a, b
