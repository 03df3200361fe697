"""What the ranker loses without each of its features, refitted, on vocabularies that were left out.

    python benchmarks/features.py CANDIDATES [--folds 4]

CANDIDATES is what `scripts/fit_ranker.py collect` wrote. Strict: the right concept comes first; as
written: it is linked. Both are shares of the mentions whose concept the vocabulary has; false links
are of the others.
"""

import random
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated
from unittest.mock import patch

import numpy as np
import typer
from measuring import fit_ranker

from spacy_angel.linking.ranking.features import FEATURES, MENTION_FEATURES

script = fit_ranker()


def main(
    candidates: Annotated[Path, typer.Argument(help="What `fit_ranker.py collect` wrote.")],
    folds: Annotated[int, typer.Option(help="Groups of vocabularies left out by turns.")] = 4,
    every: Annotated[int, typer.Option(help="Take one mention of so many.")] = 1,
    only: Annotated[list[str], typer.Option(help="Features; else all.")] = [],  # noqa: B006
) -> None:
    """Print what the ranker loses without each feature, on vocabularies that were left out."""
    items = script.read(candidates)[::every]
    names = sorted({script.SAME.get(i.of.kb, i.of.kb) for i in items} - {"GENES", "BIO"})
    random.Random(0).shuffle(names)
    groups = [names[n::folds] for n in range(folds)]
    before: dict[str, list[float]] = {}
    typer.echo("| feature | strict | as written | false links fewer | most in |")
    typer.echo("|---|--:|--:|--:|---|")
    for name in [None, *FEATURES, *MENTION_FEATURES]:
        if name and only and name not in only:
            continue
        found = FEATURES if name in FEATURES else MENTION_FEATURES
        with ExitStack() as stack:
            if name:
                gone = found[name]._replace(value=lambda _: 0.0)
                stack.enter_context(patch.dict(found, {name: gone}))
            after: dict[str, list[list[bool]]] = {}
            for group in groups:
                ranker = script.fit_ranker(items, group)
                for item in items:
                    if script.SAME.get(item.of.kb, item.of.kb) in group:
                        concepts = ranker.rank(item.found, item.label).concepts
                        top = concepts[0] if concepts else None
                        is_right = top is not None and top.concept_id in item.gold
                        is_linked = top is not None and top.probability >= 0.5
                        row = [bool(item.gold), is_right, is_right and is_linked, is_linked]
                        after.setdefault(item.of.key, []).append(row)
        shares = {key: _shares(rows) for key, rows in after.items()}
        if name is None:
            before = shares
            continue
        differences = {
            key: [b - a for a, b in zip(own, before[key], strict=True)]
            for key, own in shares.items()
        }
        means = np.nanmean(list(differences.values()), axis=0)
        most = sorted(differences, key=lambda key: -np.nanmax(np.abs(differences[key][:2])))
        where = "; ".join(f"{k} {differences[k][0]:+.1f} / {differences[k][1]:+.1f}" for k in most)
        typer.echo(
            f"| {name} | {means[0]:+.2f} | {means[1]:+.2f} | {-means[2]:+.2f} | {where[:240]} |"
        )


def _shares(rows: Sequence[Sequence[bool]]) -> list[float]:
    """Strict and as written of those with a concept, false links of the others."""
    values = np.array(rows)
    inside, outside = values[values[:, 0]], values[~values[:, 0]]
    strict, written = (100 * inside[:, i].mean() if len(inside) else np.nan for i in (1, 2))
    return [strict, written, 100 * outside[:, 3].mean() if len(outside) else np.nan]


if __name__ == "__main__":
    typer.run(main)
