"""Comparison of two evaluations of the same mentions."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest, bootstrap

from ..errors import AngelError
from ..files.atomic import write_json
from .counts import percent
from .files import read_metrics, read_predictions
from .report import write_comparison

COMPARISON = "comparison.json"


def compare(
    dir_a: str | Path,
    dir_b: str | Path,
    output: str | Path | None = None,
) -> dict[str, Any]:
    """Compare two evaluations of the same mentions.

    dir_a (str | Path), dir_b (str | Path): folders written by `evaluate`.
    output (str | Path | None): folder for `comparison.json` and `report.md`; None to write nothing.
    RETURNS (dict[str, Any]): `systems`, `folders`, and `mentions`; for each of `lenient`, `strict`,
        and `kb_id`, the number of `mentions`, the accuracies at 1 `a` and `b` in percent, `counts`
        (`both`, `only_a`, `only_b`, `neither`), and `test` (see `compare_hits`). `lenient` covers
        mentions whose concepts are in both vocabularies; the others cover all mentions with an
        identifier.
    RAISES (AngelError): if a folder contains no evaluation, or if the evaluated mentions differ.
    """
    paths = Path(dir_a), Path(dir_b)
    metrics = [read_metrics(path) for path in paths]
    hits: dict[str, list[tuple[bool, bool]]] = {"lenient": [], "strict": [], "kb_id": []}
    for a, b in read_pairs(*paths):
        if not a["gold"]:
            continue
        for key, both in hits.items():
            if key != "lenient" or all(g["known"] for one in (a, b) for g in one["gold"]):
                both.append((_is_hit(a, key), _is_hit(b, key)))
    comparison: dict[str, Any] = {
        "systems": [one["run"]["pipeline"] for one in metrics],
        "folders": [str(path) for path in paths],
        "mentions": len(hits["strict"]),
    }
    for key, pairs in hits.items():
        counts = Counter(pairs)
        comparison[key] = {
            "mentions": len(pairs),
            "a": percent([a for a, _ in pairs] or [0]),
            "b": percent([b for _, b in pairs] or [0]),
            "counts": {
                "both": counts[True, True],
                "only_a": counts[True, False],
                "only_b": counts[False, True],
                "neither": counts[False, False],
            },
            "test": compare_hits(pairs),
        }
    if output is not None:
        output = Path(output)
        write_json(output / COMPARISON, comparison)
        names = _names(comparison["systems"], paths)
        write_comparison(comparison, names, read_pairs(*paths), output)
    return comparison


def compare_hits(pairs: Sequence[tuple[bool, bool]], n_resamples: int = 4_999) -> dict[str, float]:
    """Test the difference between two systems.

    pairs (Sequence[tuple[bool, bool]]): for each mention, whether systems A and B are correct.
    n_resamples (int): number of bootstrap resamples.
    RETURNS (dict[str, float]): `difference` of the accuracies (B minus A) in percentage points; the
        limits `low` and `high` of its 95 % confidence interval, from a paired bootstrap; and the
        p-value `p` of the exact McNemar test, which is equivalent to the paired permutation test
        for binary outcomes.
    RAISES (AngelError): if there are no mentions.
    """
    if not pairs:
        raise AngelError("There are no mentions to evaluate.")
    a, b = np.array(pairs, float).T
    differences = 100 * (b - a)
    low = high = float(differences.mean())
    if np.ptp(differences):
        interval = bootstrap(
            (differences,),
            np.mean,
            n_resamples=n_resamples,
            # Limits memory to 80 MB.
            batch=max(1, 10_000_000 // len(pairs)),
            method="percentile",
            random_state=np.random.default_rng(0),
        ).confidence_interval
        low, high = float(interval.low), float(interval.high)
    only_b, unequal = int((b > a).sum()), int((a != b).sum())
    return {
        "difference": float(differences.mean()),
        "low": low,
        "high": high,
        "p": float(binomtest(only_b, unequal).pvalue) if unequal else 1.0,
    }


def _names(systems: Sequence[str], folders: Sequence[Path]) -> list[str]:
    """Return distinct names for two systems: those of the pipelines or folders, or else A and B."""
    pairs = ([Path(one).name for one in pair] for pair in (systems, folders))
    return next((names for names in pairs if len(set(names)) == 2), ["A", "B"])


def _is_hit(prediction: dict[str, Any], count: str) -> bool:
    if count == "kb_id":
        gold = {concept["id"] for concept in prediction["gold"]}
        return len(prediction["kb_ids"]) == 1 and prediction["kb_ids"][0] in gold
    return prediction[f"{count}_rank"] == 1


def read_pairs(dir_a: Path, dir_b: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Read the predictions of two evaluations in parallel.

    Mentions are matched by document, order, label, and identifiers in the corpus. Texts and offsets
    may differ, because abbreviations are expanded for baselines only.

    dir_a (Path), dir_b (Path): folders written by `evaluate`.
    RETURNS (Iterator[tuple[dict[str, Any], dict[str, Any]]]): both predictions for each mention,
        from `predictions.jsonl`.
    RAISES (AngelError): if a folder contains no predictions, or if the evaluated mentions differ.
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
