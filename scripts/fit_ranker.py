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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
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
from spacy_angel.linking.ranking.ranker import ALL, Ranker, Table, Weights

app = typer.Typer(add_completion=False, help=__doc__)

# Vocabularies of the same concepts are left out together.
SAME = {"MEDIC": "CTD", "MONDO": "CTD", "MONDO_2026": "CTD", "DOID": "CTD"}
SAME |= {"MESH_2024": "MESH", "CL_2026": "CL"}
FAMILY_WEIGHTS = {"corpus": 1.0, "hidden": 1.0, "lay": 1.0, "words": 1.0, "noise": 0.5}
FAMILY_WEIGHTS |= {"drugs": 0.2, "written": 0.0}
"""How much all sets of a family count together."""
AS_IN_TEXTS = FAMILY_WEIGHTS | {"drugs": 0.0, "words": 0.0}
"""Without families of mentions without concepts, of which there are far more here than in texts."""
OWN = {
    "GENE": (("GENE",), 3.0, FAMILY_WEIGHTS),
    "DISEASE": (("DISEASE", "MONDO", "PHENOTYPE"), 10.0, FAMILY_WEIGHTS),
    # To take one drug for another is the worst answer there is.
    "CHEMICAL": (("CHEMICAL", "CHEBI"), 3.0, FAMILY_WEIGHTS | {"drugs": 1.8}),
}
"""Types with weights of their own, drawn to those of all mentions: labels of the sets that they are
fitted on, `penalty` of `fit_weights`, and weights of families."""
APART = ("GENE",)
"""Labels that the weights of all mentions are not fitted on."""
TYPES_BY_LABEL = {label: kind for kind, (labels, *_) in OWN.items() for label in labels}
# What the linker reads; sentences bound abbreviations.
BEFORE = ("sentencizer", "abbreviation_detector")


class Item(NamedTuple):
    """A mention: its set, its candidates, and its right concepts that the vocabulary has."""

    of: MentionSet
    table: Table
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
                    lines.write(to_line(document.doc_id, gold, found).encode())
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
    guess = guess or Ranker(no_weights())
    out = set(map(_group, leave_out))
    used = [item for item in items if _group(item.of.kb) not in out]
    general = [item for item in used if item.of.label not in APART]
    every = fit_weights(_weighted(general), no_weights(), guess=guess.weights)
    by_type, shares = {}, {ALL: _nil_share(general)}
    for kind, (labels, penalty, families) in OWN.items():
        own = [item for item in used if item.of.label in labels]
        if weighted := _weighted(own, families):
            first = guess.by_type.get(kind)
            weights = fit_weights(weighted, every, penalty=penalty, guess=first)
            by_type[kind], shares[kind] = _rounded(weights), _nil_share(own)
    return Ranker(_rounded(every), by_type, shares)


def _weighted(
    items: Sequence[Item], families: Mapping[str, float] = FAMILY_WEIGHTS
) -> list[FitItem]:
    """RETURNS (list[FitItem]): a mention counts the less the more there are in its set, and a
    family as much as `families` says; 1 in the mean."""
    items = [item for item in items if families[item.of.family]]
    sizes = Counter(item.of for item in items)
    totals = dict.fromkeys(families, 0.0)
    for mention_set, size in sizes.items():
        totals[mention_set.family] += size**0.5
    of_one = {s: families[s.family] / totals[s.family] / size**0.5 for s, size in sizes.items()}
    mean = sum(of_one[item.of] for item in items) / max(len(items), 1)
    return [FitItem(item.table, item.gold, of_one[item.of] / mean) for item in items]


def _nil_share(items: Sequence[Item]) -> float:
    """RETURNS (float): share of mentions without a concept."""
    weighted = _weighted(items, AS_IN_TEXTS)
    return round(sum(i.weight for i in weighted if not i.gold) / max(len(weighted), 1), 3)


def _group(kb: str) -> str:
    return SAME.get(kb, kb)


def _rounded(weights: Weights) -> Weights:
    both = (weights.concept, weights.link)
    return Weights(*({name: round(value, 3) for name, value in table.items()} for table in both))


def read(folder: Path, sets: Sequence[MentionSet] = SETS) -> list[Item]:
    """RETURNS (list[Item]): of every set that was collected."""
    items = []
    for mention_set in sets:
        file = folder / f"{mention_set.key}.jsonl"
        for line in file.read_text(encoding="utf8").splitlines() if file.exists() else ():
            gold, found = from_line(line)
            items.append(Item(mention_set, Table(found), gold))
    return items


def to_line(doc_id: str, gold: Iterable[str], found: MentionCandidates) -> str:
    """RETURNS (str): JSON of a mention with its right concepts; sets are sorted lists."""
    row = {"doc": doc_id, "gold": sorted(gold), **asdict(found)}
    return json.dumps(row, default=sorted) + "\n"


def from_line(line: str) -> tuple[frozenset[str], MentionCandidates]:
    """RETURNS (tuple): what `to_line` was given; a field that the line lacks has its default."""
    row = json.loads(line)
    gold, names = row.pop("gold"), [_read(CandidateName, name) for name in row.pop("names")]
    return frozenset(gold), _read(MentionCandidates, {**row, "names": names})


def _read(kind: Any, row: Mapping[str, Any]) -> Any:
    """RETURNS (Any): a dataclass of a row, with its lists as the sets and tuples of the fields."""
    hints = _HINTS.setdefault(kind, get_type_hints(kind))
    values = {name: row[name] for name in hints.keys() & row.keys()}
    for name, value in values.items():
        if isinstance(value, list):
            values[name] = getattr(hints[name], "_make", get_origin(hints[name]))(value)
    return kind(**values)


_HINTS: dict[Any, dict[str, Any]] = {}


def _print_table(title: str, rows: Iterable[tuple[Item, Ranker]]) -> None:
    """A line a set: mentions; of those with a concept right first, right among five, and right and
    wrong as written; of the others linked; expected calibration error. Then the means of families.
    """
    typer.echo(f"\n{title}\n")
    typer.echo("| set | mentions | first | in five | right | wrong | absent linked | ECE |")
    typer.echo("|---|--:|--:|--:|--:|--:|--:|--:|")
    by_set: dict[MentionSet, list[tuple[float, bool, bool, bool]]] = {}
    for item, ranker in rows:
        by_set.setdefault(item.of, []).append(outcome(item, ranker))
    figures: dict[str, list[list[float]]] = {}
    for mention_set, outcomes in by_set.items():
        p, right, near, inside = (np.array(column) for column in zip(*outcomes, strict=True))
        written = p >= 0.5
        of_inside = [
            _share(some[inside]) for some in (right, near, right & written, ~right & written)
        ]
        error = calibration_error(p.tolist(), right.tolist())
        row = [len(outcomes), *of_inside, _share(written[~inside]), error]
        figures.setdefault(mention_set.family, []).append(row)
        _print_row(mention_set.key, row)
    for family, own in figures.items():
        _print_row(f"**{family}**", np.nanmean(own, axis=0).tolist())


def outcome(item: Item, ranker: Ranker) -> tuple[float, bool, bool, bool]:
    """RETURNS (tuple[float, bool, bool, bool]): the probability of the first concept, whether this
    is right, whether one of the first five is, and whether the vocabulary has a right one."""
    weights = ranker.weights_of(TYPES_BY_LABEL.get(item.of.label, item.of.label))
    concepts = item.table.probabilities(weights).concepts
    first = list(concepts)[:5]
    p = concepts[first[0]] if first else 0.0
    return p, not item.gold.isdisjoint(first[:1]), not item.gold.isdisjoint(first), bool(item.gold)


def _print_row(name: str, row: Sequence[float]) -> None:
    n, *figures = row
    typer.echo(f"| {name} | {n:.0f} | " + " | ".join(f"{x:.1f}" for x in figures) + " |")


def _share(some: np.ndarray) -> float:
    return 100 * float(some.mean()) if len(some) else float("nan")


if __name__ == "__main__":
    app()
