"""Fit the weights of the ranker on many vocabularies, and measure them where they were not fitted.

    python scripts/fit_ranker.py collect DATA CANDIDATES [--part 0/2]
    python scripts/fit_ranker.py fit CANDIDATES -o spacy_angel/data/ranker.json [--leave-out CL]
    python scripts/fit_ranker.py report CANDIDATES [--kb CL] [--ranker FILE]

DATA holds `aap/`, `aioner/`, `bc5cdr/`, `craft/`, `doid/`, `medic/`, `mesh/`, `more/`,
`ncbi-disease/`, `psytar/` and `vocab/`. `collect` writes the candidates of each mention, one file a
set (see `ranker_sets.py`); a set that has its file is not collected again.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_origin, get_type_hints

import numpy as np
import typer
from ranker_sets import HELD, SETS, SHIPPED, MentionSet, chosen, is_hole, part_of, vocabulary

from spacy_angel.corpora.docs import GOLD_SPANS, to_doc
from spacy_angel.evaluation.confidence import calibration_error
from spacy_angel.files.atomic import replacing
from spacy_angel.linking.ranking.features import CandidateName, MentionCandidates
from spacy_angel.linking.ranking.fit import FitItem, fit_weights, no_weights
from spacy_angel.linking.ranking.ranker import ALL, HOPELESS, SURE, Ranker, Table, Weights

app = typer.Typer(add_completion=False, help=__doc__)

# Vocabularies of the same concepts are left out together.
SAME = {"MEDIC": "CTD", "MONDO": "CTD", "MONDO_2026": "CTD", "DOID": "CTD"}
SAME |= {"MESH_2024": "MESH", "CL_2026": "CL"}
FAMILY_WEIGHTS = {
    **{"corpus": 1.0, "hidden": 1.0, "lay": 1.0, "words": 1.0, "noise": 0.5, "drugs": 0.2},
    "written": 0.0,
}
"""How much all sets of a family count together."""
NOT_AS_IN_TEXTS = ("drugs", "words")
"""Families without concepts, of which there are far more here than in texts."""
# What the linker reads; sentences bound abbreviations.
BEFORE = ("sentencizer", "abbreviation_detector")
NAME_TYPES, FOUND_TYPES = (
    {
        name: kind._make if hasattr(kind, "_make") else get_origin(kind)
        for name, kind in types.items()
    }
    for types in (get_type_hints(CandidateName), get_type_hints(MentionCandidates))
)
"""Of each field that JSON has as a list, what makes its value of it."""


class OwnWeights(NamedTuple):
    """Weights of an entity type, drawn to those of all mentions.

    labels (tuple[str, ...]): of the sets that they are fitted on. penalty (float): of
    `fit_weights`. drugs (float): weight of that family: to take one drug for another is the worst
    answer there is. is_apart (bool): the weights of all mentions are not fitted on these sets.
    """

    labels: tuple[str, ...]
    penalty: float
    drugs: float = FAMILY_WEIGHTS["drugs"]
    is_apart: bool = False


OWN = {
    "GENE": OwnWeights(("GENE",), 3.0, is_apart=True),
    "DISEASE": OwnWeights(("DISEASE", "MONDO"), 10.0),
    "CHEMICAL": OwnWeights(("CHEMICAL", "CHEBI"), 3.0, drugs=1.8),
}


class Item(NamedTuple):
    """A mention: its set, its document, its label, its candidates with and without the search, and
    its right concepts that the vocabulary has."""

    of: MentionSet
    doc_id: str
    label: str
    table: Table
    unsearched: Table
    gold: frozenset[str]


@app.command()
def collect(
    data: Annotated[Path, typer.Argument(help="Folder of the corpora and vocabularies.")],
    output: Annotated[Path, typer.Argument(help="Folder for a file a set.")],
    part: Annotated[str, typer.Option(help="Vocabularies to collect: `i/n`.")] = "0/1",
    held: Annotated[bool, typer.Option("--held", help="Sets that are looked at once.")] = False,
) -> None:
    """Find the candidates of every mention of every set."""
    import spacy_angel

    output.mkdir(parents=True, exist_ok=True)
    number, parts = map(int, part.split("/"))
    pipelines: dict[str, Any] = {}
    opened = ""
    for mention_set in sorted(HELD if held else SETS, key=lambda s: s.vocabulary):
        file = output / f"{mention_set.key}.jsonl"
        if file.exists() or part_of(mention_set.vocabulary, parts) != number:
            continue
        is_shipped = mention_set.kb in SHIPPED
        name = "en_angel_bio" if is_shipped else "en_angel_mini"
        if name not in pipelines:
            pipelines[name] = spacy_angel.load(name, dtype="int8")
        nlp = pipelines[name]
        linker = nlp.get_pipe("angel_linker")
        linker.span_key = GOLD_SPANS
        if not is_shipped and opened != mention_set.vocabulary:
            linker.types_by_label = {}
            linker.kb, opened = vocabulary(data, mention_set), mention_set.vocabulary
        documents = list(chosen(data, mention_set))
        others = [name for name in nlp.pipe_names if name not in BEFORE]
        docs = list(nlp.pipe((to_doc(d, nlp) for d in documents), disable=others))
        n = 0
        with replacing(file) as lines:
            for document, doc in zip(documents, docs, strict=True):
                for item in linker.calibration_items([doc]):
                    if item.found is None:
                        continue
                    found, gold = item.found, set() if mention_set.is_foreign else set(item.gold)
                    if is_shipped and mention_set.holes:
                        ids = {*gold, *(c for name in found.names for c in name.concepts)}
                        gone = {c for c in ids if is_hole(c, mention_set.holes)}
                        found, gold = found.without(gone), gold - gone
                    lines.write(to_line(document.doc_id, item.label, gold, found).encode())
                    n += 1
        typer.echo(f"{mention_set.key}: {n} mentions")


@app.command()
def fit(
    folder: Annotated[Path, typer.Argument(help="What `collect` wrote.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="JSON of the weights.")],
    leave_out: Annotated[list[str] | None, typer.Option(help="Vocabularies, e.g. `CL`.")] = None,
) -> None:
    """Fit the weights on all sets, or without those of some vocabularies."""
    fit_ranker(read(folder), leave_out or ()).to_disk(output)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="What `collect` wrote.")],
    ranker: Annotated[Path | None, typer.Option(help="Measure this one; fit nothing.")] = None,
    kb: Annotated[list[str] | None, typer.Option(help="Leave out these alone.")] = None,
    held: Annotated[bool, typer.Option("--held", help="The sets that are looked at once.")] = False,
) -> None:
    """Print a table, each vocabulary by weights that were fitted without it."""
    items = read(folder)
    measured = read(folder, HELD) if held else items
    if ranker is not None:
        given = Ranker.from_disk(ranker)
        _print_table("measured", ((item, given) for item in measured))
        return
    full = fit_ranker(items)
    groups = sorted({_group(name) for name in kb or (item.of.kb for item in measured)})
    left_out = {group: fit_ranker(items, [group], full) for group in groups}
    own = ((item, left_out.get(_group(item.of.kb))) for item in measured)
    _print_table("vocabulary left out", ((item, fitted) for item, fitted in own if fitted))


def fit_ranker(
    items: Sequence[Item], leave_out: Iterable[str] = (), guess: Ranker | None = None
) -> Ranker:
    """items (Sequence[Item]): of all sets. leave_out (Iterable[str]): vocabularies.
    guess (Ranker | None): of similar items, where the search begins. RETURNS (Ranker): fitted on
    the others; the types of `OWN` have weights of their own."""
    out = set(map(_group, leave_out))
    used = [item for item in items if _group(item.of.kb) not in out]
    without = [item._replace(table=item.unsearched) for item in used]
    first = _fit(without, guess and guess.unsearched)
    return replace(_fit(used, guess), unsearched=first)


def _fit(used: Sequence[Item], guess: Ranker | None) -> Ranker:
    apart = {label for own in OWN.values() if own.is_apart for label in own.labels}
    general = [item for item in used if item.of.label not in apart]
    first = guess.weights if guess else None
    every = fit_weights(_weighted(general), no_weights(), guess=first)
    by_type, shares = {}, {ALL: _nil_share(general)}
    for kind, own in OWN.items():
        labelled = [i for i in used if i.of.label in own.labels]
        if weighted := _weighted(labelled, own.drugs):
            first = guess.by_type.get(kind) if guess else None
            weights = fit_weights(weighted, every, penalty=own.penalty, guess=first)
            by_type[kind], shares[kind] = _rounded(weights), _nil_share(labelled)
    return Ranker(_rounded(every), by_type, shares)


def _weighted(
    items: Sequence[Item], drugs: float = FAMILY_WEIGHTS["drugs"], without: Sequence[str] = ()
) -> list[FitItem]:
    """drugs (float): weight of that family. without (Sequence[str]): families. RETURNS
    (list[FitItem]): a mention counts the less the more there are in its set, and a family as much
    as `FAMILY_WEIGHTS` says; 1 in the mean."""
    families = {**FAMILY_WEIGHTS, "drugs": drugs, **dict.fromkeys(without, 0.0)}
    items = [item for item in items if families[item.of.family]]
    sizes = Counter(item.of.key for item in items)
    totals = dict.fromkeys(families, 0.0)
    for item in items:
        totals[item.of.family] += sizes[item.of.key] ** -0.5
    shares = [families[i.of.family] / totals[i.of.family] / sizes[i.of.key] ** 0.5 for i in items]
    mean = sum(shares) / max(len(shares), 1)
    return [
        FitItem(item.table, item.gold, share / mean)
        for item, share in zip(items, shares, strict=True)
    ]


def _nil_share(items: Sequence[Item]) -> float:
    """RETURNS (float): share of mentions without a concept."""
    weighted = _weighted(items, without=NOT_AS_IN_TEXTS)
    return round(sum(i.weight for i in weighted if not i.gold) / max(len(weighted), 1), 3)


def _group(kb: str) -> str:
    return SAME.get(kb, kb)


def _rounded(weights: Weights) -> Weights:
    both = (weights.concept, weights.link)
    return Weights(*({name: round(value, 3) for name, value in table.items()} for table in both))


def read(folder: Path, sets: Sequence[MentionSet] = SETS) -> list[Item]:
    """RETURNS (list[Item]): of every set that was collected."""
    files = ((folder / f"{mention_set.key}.jsonl", mention_set) for mention_set in sets)
    return [
        Item(mention_set, doc_id, label, Table(found), Table(found.unsearched()), gold)
        for file, mention_set in files
        if file.exists()
        for doc_id, label, gold, found in map(from_line, file.open(encoding="utf8"))
    ]


def to_line(doc_id: str, label: str, gold: Iterable[str], found: MentionCandidates) -> str:
    """RETURNS (str): JSON of a mention with its right concepts; sets are sorted lists."""
    row = {"doc": doc_id, "label": label, "gold": sorted(gold), **asdict(found)}
    return json.dumps(row, default=sorted) + "\n"


def from_line(line: str) -> tuple[str, str, frozenset[str], MentionCandidates]:
    """RETURNS (tuple): what `to_line` was given; a field that the line lacks has its default."""
    row = json.loads(line)
    doc_id, label, gold = row.pop("doc"), row.pop("label"), frozenset(row.pop("gold"))
    names = [CandidateName(**_typed(NAME_TYPES, name)) for name in row.pop("names")]
    found = MentionCandidates(**_typed(FOUND_TYPES, row), names=tuple(names))
    return doc_id, label, gold, found


def _typed(types: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: types[name](value) if isinstance(value, list) else value
        for name, value in row.items()
    }


def _print_table(title: str, rows: Iterable[tuple[Item, Ranker]]) -> None:
    """A line a set: mentions; of those with a concept right first, right among five, and right and
    wrong as written; of the others linked; expected calibration error; mentions searched. Then the
    means of families.
    """
    typer.echo(f"\n{title}\n")
    heads = ["set", "mentions", "first", "five", "right", "wrong", "absent", "ECE", "searched"]
    typer.echo("| " + " | ".join(heads) + " |\n|---" + "|--:" * (len(heads) - 1) + "|")
    by_set: dict[MentionSet, list[tuple[float, bool, bool, bool, bool]]] = {}
    for item, ranker in rows:
        by_set.setdefault(item.of, []).append(outcome(item, ranker))
    figures: dict[str, list[list[float]]] = {}
    for mention_set, outcomes in by_set.items():
        p, right, near, inside, searched = (np.array(c) for c in zip(*outcomes, strict=True))
        written = p >= 0.5
        of_inside = [
            _share(some[inside]) for some in (right, near, right & written, ~right & written)
        ]
        error = calibration_error(p.tolist(), right.tolist())
        row = [len(outcomes), *of_inside, _share(written[~inside]), error, _share(searched)]
        figures.setdefault(mention_set.family, []).append(row)
        _print_row(mention_set.key, row)
    for family, own in figures.items():
        _print_row(f"**{family}**", np.nanmean(own, axis=0).tolist())


def outcome(item: Item, ranker: Ranker) -> tuple[float, bool, bool, bool, bool]:
    """RETURNS (tuple[float, bool, bool, bool, bool]): the probability of the first concept, whether
    this is right, whether one of the first five is, whether the vocabulary has a right one, and
    whether the model is asked."""
    kinds = (kind for kind, own in OWN.items() if item.of.label in own.labels)
    label = next(kinds, item.label)
    is_searched = False
    concepts = item.unsearched.probabilities(ranker.weights_of(label, False)).concepts
    first = list(concepts)[:5]
    if not first or HOPELESS < concepts[first[0]] < SURE:
        is_searched = True
        concepts = item.table.probabilities(ranker.weights_of(label)).concepts
        first = list(concepts)[:5]
    p = concepts[first[0]] if first else 0.0
    near, has_right = not item.gold.isdisjoint(first), bool(item.gold)
    return p, not item.gold.isdisjoint(first[:1]), near, has_right, is_searched


def _print_row(name: str, row: Sequence[float]) -> None:
    n, *figures = row
    typer.echo(f"| {name} | {n:.0f} | " + " | ".join(f"{x:.1f}" for x in figures) + " |")


def _share(some: np.ndarray) -> float:
    return 100 * float(some.mean()) if len(some) else float("nan")


if __name__ == "__main__":
    app()
