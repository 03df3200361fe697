"""What it costs to link without the search: names of one concept, and mentions that their document
has had already.

    spacy-angel evaluate PIPELINE CORPUS -o FULL    # shortcuts off
    python benchmarks/caching.py FULL [FULL ...]

Reads what the search of every mention found (`predictions.jsonl`), so no model runs. Prints one
JSON line a folder: how many mentions are spared, and how many links, first concepts and first five
are right, by each rule and by both; then one with the probability of a link that is made without
the search, and its loss on documents that it was not fitted on, beside that of the full search.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from zlib import crc32

import numpy as np
import typer

from spacy_angel.linking.ranking.features import SHORT
from spacy_angel.vocabulary.names.concepts import normalize_name


@dataclass
class Row:
    """A mention as the search of all left it.

    document (str), text (str): text in normal form. gold (frozenset[str]): right identifiers.
    link (str | None): what it was linked to. first (str | None): the most probable concept.
    five (tuple[str, ...]): the five most probable.
    own (str | None): the concept that it is a name of, if of one only and over `SHORT` letters.
    probability (float): of that concept, by the full search.
    """

    document: str
    label: str
    text: str
    gold: frozenset[str]
    link: str | None
    first: str | None
    five: tuple[str, ...]
    own: str | None
    probability: float


def main(
    folders: Annotated[list[Path], typer.Argument(help="Written by `spacy-angel evaluate`.")],
    folds: Annotated[int, typer.Option(help="Of the documents, for the fit.")] = 5,
) -> None:
    """Print one JSON line a folder, and one of the fit over all of them."""
    everything = []
    for folder in folders:
        rows = read_rows(folder)
        print(json.dumps({"folder": folder.name, **spared(rows)}))
        everything.append(rows)
    print(json.dumps(fit(everything, folds)))


def read_rows(folder: Path) -> list[Row]:
    """folder (Path): with predictions.jsonl. RETURNS (list[Row]): its mentions."""
    lines = (folder / "predictions.jsonl").read_text(encoding="utf8").splitlines()
    return [_row(json.loads(line)) for line in lines]


def _row(values: dict[str, Any]) -> Row:
    text = normalize_name(values["mention"])
    owners = [n["ids"] for n in values["names"] if normalize_name(n["name"]) == text]
    is_own = len(text.replace(" ", "")) > SHORT and owners and len(owners[0]) == 1
    own = owners[0][0] if is_own else None
    probabilities = {concept["id"]: concept["score"] for concept in values["concepts"]}
    return Row(
        document=values["doc_id"],
        label=values["label"],
        text=text,
        gold=frozenset(concept["id"] for concept in values["gold"]),
        link=next(iter(values["kb_ids"]), None),
        first=values["concepts"][0]["id"] if values["concepts"] else None,
        five=tuple(concept["id"] for concept in values["concepts"][:5]),
        own=own,
        probability=0.0 if own is None else probabilities.get(own, 0.0),
    )


def spared(rows: list[Row]) -> dict[str, Any]:
    """rows (list[Row]): in the order of the documents. RETURNS (dict[str, Any]): counts, and of
    each rule the right links and first concepts, and the links that differ."""
    first: dict[tuple[str, str, str], Row] = {}
    for row in rows:
        first.setdefault((row.document, row.label, row.text), row)
    earlier = [first[row.document, row.label, row.text] for row in rows]
    rules = {
        "full": [(row.link, row.first, row.five) for row in rows],
        "exact_matches": [_taken(row) for row in rows],
        "equal_mentions": [(row.link, row.first, row.five) for row in earlier],
        "both": [_taken(row) for row in earlier],
    }
    result: dict[str, Any] = {
        "mentions": len(rows),
        "exact_names": sum(row.own is not None for row in rows),
        "searched": sum(
            row.own is None and row is one for row, one in zip(rows, earlier, strict=True)
        ),
    }
    for name, links in rules.items():
        pairs = list(zip(links, rows, strict=True))
        result[name] = {
            "link_right": _percent(link in row.gold for (link, _, _), row in pairs),
            "first_right": _percent(first in row.gold for (_, first, _), row in pairs),
            "five_right": _percent(not row.gold.isdisjoint(five) for (_, _, five), row in pairs),
            "links_changed": sum(link != row.link for (link, _, _), row in pairs),
            "won": sum(link in row.gold and row.link not in row.gold for (link, *_), row in pairs),
            "lost": sum(link not in row.gold and row.link in row.gold for (link, *_), row in pairs),
        }
    return result


def _percent(right: Iterable[bool]) -> float:
    return round(100 * float(np.mean(list(right))), 2)


def _taken(row: Row) -> tuple[str | None, str | None, tuple[str, ...]]:
    return (row.link, row.first, row.five) if row.own is None else (row.own, row.own, (row.own,))


def fit(corpora: list[list[Row]], folds: int) -> dict[str, Any]:
    """Fit the probability by likelihood: the share that is right, each corpus with equal weight.

    corpora (list[list[Row]]): mentions. folds (int): parts of the documents, by the checksum of
        their number.
    RETURNS (dict[str, Any]): the share of all, those of each fold's other documents, and the mean
        loss in nats on the folds themselves.
    """
    items = []
    for rows in corpora:
        own = [row for row in rows if row.own is not None]
        for row in own:
            fold = crc32(row.document.encode()) % folds
            items.append((fold, row.own in row.gold, row.probability, 1 / len(own)))
    fold_of, right, searched, weights = map(np.array, zip(*items, strict=True))
    shares = np.zeros(folds)
    for fold in range(folds):
        others = fold_of != fold
        shares[fold] = np.average(right[others], weights=weights[others])
    return {
        "mentions": len(items),
        "probability": round(float(np.average(right, weights=weights)), 4),
        "probability_of_folds": shares.round(4).tolist(),
        "loss_held_out": _loss(shares[fold_of], right, weights),
        "loss_of_full_search": _loss(searched, right, weights),
    }


def _loss(probability: np.ndarray, right: np.ndarray, weights: np.ndarray) -> float:
    losses = -np.log(np.clip(np.where(right, probability, 1 - probability), 1e-6, 1))
    return round(float(np.average(losses, weights=weights)), 4)


if __name__ == "__main__":
    typer.run(main)
