"""Fit the weights of the reranker on many vocabularies, and measure them on vocabularies that were
left out.

    python scripts/fit_ranker.py collect DATA CANDIDATES [--part 0/2]
    python scripts/fit_ranker.py fit CANDIDATES -o spacy_angel/data/ranker.json [--leave-out CL]
    python scripts/fit_ranker.py report CANDIDATES [--kb CL] [--ranker FILE]

DATA contains the files listed in `ranker_sets.yml`. `collect` writes the candidates of each
mention, one file per set; existing files are kept.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from ranker_sets import HELD, SETS, SHIPPED, MentionSet, chosen, is_hole, part_of, vocabulary

from spacy_angel.corpora.docs import GOLD_SPANS, to_doc
from spacy_angel.evaluation.counts import calibration_error
from spacy_angel.files.atomic import replacing, write_text
from spacy_angel.linking.decision.calibration import CalibrationItem, fit_weights, no_weights
from spacy_angel.linking.ranking.ranker import ALL, SURE, Ranker, Weights, tables_of
from spacy_angel.linking.types import FLOOR, Candidate, Query
from spacy_angel.model.mention import Mention

app = typer.Typer(add_completion=False, help=__doc__)

# Vocabularies of the same concepts are left out together.
SAME = dict.fromkeys(("MEDIC", "MONDO", "MONDO_2026", "DOID"), "CTD")
SAME |= {"MESH_2024": "MESH", "CL_2026": "CL"}
FAMILIES = {"corpus": 8.0, "noise": 3.0, "hidden": 4.0, "lay": 2.0, "words": 1.0, "drugs": 0.5}
FAMILIES |= {"written": 0.0, "unseen": 0.0}
"""Total weight of all sets of a family."""
AS_IN_TEXTS = FAMILIES | {"drugs": 0.0, "words": 0.0}
"""Excludes mentions without concepts, which are far more frequent here than in texts."""
ABSENT = 0.3
"""Weight of a hidden or lay name whose concept is hidden too: there are three times as many of
these as in texts."""
OWN = {
    "GENE": (("GENE",), 3.0, FAMILIES),
    "DISEASE": (
        ("DISEASE", "MONDO", "PHENOTYPE"),
        1.0,
        FAMILIES | {"corpus": 24.0, "noise": 6.0, "hidden": 2.0, "lay": 1.0, "words": 6.0},
    ),
    # Confusing one drug with another is the worst possible error.
    "CHEMICAL": (("CHEMICAL", "CHEBI"), 1.0, FAMILIES | {"hidden": 1.5, "drugs": 60.0}),
}
"""Types with separate weights, regularized toward the weights of all mentions: labels of the sets
they are fitted on, `penalty` of `fit_weights`, and weights of families."""
UNSEARCHED: dict[str, Any] = {"log_prob": FLOOR, "score": FLOOR}
"""Fields of candidates that are found without the model."""
HIDING = ("hidden", "lay")
"""Families whose concepts are removed from the vocabulary."""
APART = ("GENE",)
"""Labels that are not used to fit the weights of all mentions."""
TYPES_BY_LABEL = {label: kind for kind, (labels, *_) in OWN.items() for label in labels}
# Required by the linker; abbreviations are resolved within sentences.
BEFORE = ("sentencizer", "angel_abbreviations")
HEADS = (
    "set",
    "mentions",
    "first",
    "in five",
    "right",
    "wrong",
    "absent linked",
    "ECE",
    "searched",
)

Folder = Annotated[Path, typer.Argument(help="What `collect` wrote.")]
Held = Annotated[bool, typer.Option("--held", help="The sets that are looked at once.")]


class Item(NamedTuple):
    """A mention: its set, its candidates with and without the search, and its correct concepts in
    the vocabulary."""

    of: MentionSet
    query: Query
    unsearched: Query | None
    gold: frozenset[str]


@app.command()
def collect(
    data: Annotated[Path, typer.Argument(help="Folder of the corpora and vocabularies.")],
    output: Annotated[Path, typer.Argument(help="Folder for a file a set.")],
    part: Annotated[str, typer.Option(help="Vocabularies to collect: `i/n`.")] = "0/1",
    held: Held = False,
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
            pipelines[name] = spacy_angel.load(name, dtype="auto")
        nlp = pipelines[name]
        linker = nlp.get_pipe("angel_linker")
        linker.settings.candidates.span_key = GOLD_SPANS
        if not is_shipped and opened != mention_set.vocabulary:
            linker.settings.candidates.types_by_label = {}
            linker.kb, opened = vocabulary(data, mention_set), mention_set.vocabulary
        documents = list(chosen(data, mention_set))
        others = [name for name in nlp.pipe_names if name not in BEFORE]
        docs = nlp.pipe((to_doc(d, nlp) for d in documents), disable=others)
        lines = []
        for document, doc in zip(documents, docs, strict=True):
            for item in linker.calibration_items([doc]):
                gold, query = set() if mention_set.is_foreign else set(item.gold), item.query
                if is_shipped and mention_set.holes:
                    ids = {*gold, *(c.concept_id for c in query.candidates)}
                    gone = {c for c in ids if is_hole(c, mention_set.holes)}
                    gold, query = gold - gone, query.without(gone)
                if query.candidates:
                    lines.append(to_line(document.doc_id, gold, query))
        with replacing(file) as stream:
            stream.write("".join(lines).encode())
        typer.echo(f"{mention_set.key}: {len(lines)} mentions")


@app.command()
def fit(
    folder: Folder,
    output: Annotated[Path, typer.Option("--output", "-o", help="JSON of the weights.")],
    leave_out: Annotated[list[str] | None, typer.Option(help="Vocabularies, e.g. `CL`.")] = None,
    genes: Annotated[Path | None, typer.Option(help="Ranker whose weights of genes stay.")] = None,
) -> None:
    """Fit the weights on all sets, or without those of some vocabularies."""
    fitted = fit_ranker(read(folder), leave_out or ())
    if genes is not None:
        kept = Ranker.from_disk(genes)
        by_type = {**fitted.by_type, "GENE": kept.by_type["GENE"]}
        shares = {**fitted.nil_shares, "GENE": kept.nil_shares["GENE"]}
        fitted = replace(fitted, by_type=by_type, nil_shares=shares)
    write_text(output, fitted.to_json())


@app.command()
def report(
    folder: Folder,
    ranker: Annotated[Path | None, typer.Option(help="Measure this one; fit nothing.")] = None,
    kb: Annotated[list[str] | None, typer.Option(help="Leave out these alone.")] = None,
    held: Held = False,
) -> None:
    """Print a table, each vocabulary by weights that were fitted without it."""
    items = read(folder, HELD if held else SETS)
    if ranker is not None:
        given = Ranker.from_disk(ranker)
        _print_table((item, given) for item in items)
        return
    fitted_on = read(folder) if held else items
    groups = sorted({_group(name) for name in kb or (item.of.kb for item in items)})
    left_out = {group: fit_ranker(fitted_on, [group]) for group in groups}
    pairs = ((item, left_out.get(_group(item.of.kb))) for item in items)
    _print_table((item, fitted) for item, fitted in pairs if fitted)


def fit_ranker(items: Sequence[Item], leave_out: Iterable[str] = ()) -> Ranker:
    """items (Sequence[Item]): mentions of all sets.
    leave_out (Iterable[str]): vocabularies to leave out.
    RETURNS (Ranker): fitted on the other vocabularies, with separate weights for the types in
    `OWN`."""
    out = set(map(_group, leave_out))
    used = [item for item in items if _group(item.of.kb) not in out]
    without = [item._replace(query=item.unsearched) for item in used if item.unsearched]
    return replace(_fit(used), unsearched=_fit(without))


def _fit(items: Sequence[Item]) -> Ranker:
    general = [item for item in items if item.of.label not in APART]
    every = fit_weights(_weighted(general), no_weights())
    by_type, shares = {}, {ALL: _nil_share(general)}
    for kind, (labels, penalty, families) in OWN.items():
        own = [item for item in items if item.of.label in labels]
        if weighted := _weighted(own, families):
            weights = fit_weights(weighted, every, penalty=penalty)
            by_type[kind], shares[kind] = _rounded(weights), _nil_share(own)
    general_weights = _rounded(every)
    return Ranker(general_weights.concept, general_weights.link, by_type, shares)


def _weighted(
    items: Sequence[Item], families: Mapping[str, float] = FAMILIES
) -> list[CalibrationItem]:
    """RETURNS (list[CalibrationItem]): mentions weighted inversely to the size of their set and by
    the weight of their family; the mean weight is 1."""
    items = [item for item in items if families[item.of.family]]
    sizes = Counter(item.of for item in items)
    totals = dict.fromkeys(families, 0.0)
    for mention_set, size in sizes.items():
        totals[mention_set.family] += size**0.5
    of_one = {s: families[s.family] / totals[s.family] / size**0.5 for s, size in sizes.items()}
    mean = sum(of_one[item.of] for item in items) / max(len(items), 1)
    return [
        CalibrationItem(
            item.query,
            item.gold,
            of_one[item.of] / mean * (1.0 if item.gold or item.of.family not in HIDING else ABSENT),
        )
        for item in items
    ]


def _nil_share(items: Sequence[Item]) -> float:
    """RETURNS (float): proportion of mentions without a concept."""
    weighted = _weighted(items, AS_IN_TEXTS)
    total = sum(i.weight for i in weighted)
    return round(sum(i.weight for i in weighted if not i.gold) / max(total, 1e-9), 3)


def _group(kb: str) -> str:
    return SAME.get(kb, kb)


def _rounded(weights: Weights) -> Weights:
    both = (weights.concept, weights.link)
    return Weights(*({name: round(value, 3) for name, value in table.items()} for table in both))


def read(folder: Path, sets: Sequence[MentionSet] = SETS) -> list[Item]:
    """RETURNS (list[Item]): mentions of all sets that have been collected."""
    items = []
    for mention_set in sets:
        file = folder / f"{mention_set.key}.jsonl"
        for line in file.read_text(encoding="utf8").splitlines() if file.exists() else ():
            gold, query = from_line(line)
            left = [replace(c, **UNSEARCHED) for c in query.candidates if c.name in query.nearest]
            left = [replace(c, meaning=float(c.is_query)) for c in left]
            without = replace(query, candidates=left, is_searched=False) if left else None
            items.append(Item(mention_set, query, without, gold))
    return items


def to_line(doc_id: str, gold: Iterable[str], query: Query) -> str:
    """RETURNS (str): JSON of a mention with its candidates and its correct concepts."""
    row = {
        "doc": doc_id,
        "gold": sorted(gold),
        "mention": query.mention.text,
        "context": query.context,
        "coherent": sorted(query.coherent),
        "is_searched": query.is_searched,
        "nearest": list(query.nearest),
        "candidates": [asdict(candidate) for candidate in query.candidates],
    }
    return json.dumps(row) + "\n"


def from_line(line: str) -> tuple[frozenset[str], Query]:
    """RETURNS (tuple[frozenset[str], Query]): the correct concepts, and the query with its
    candidates."""
    row = json.loads(line)
    query = Query(
        Mention(row["mention"]),
        candidates=[Candidate(**values) for values in row["candidates"]],
        context=row["context"],
        coherent=frozenset(row["coherent"]),
        is_searched=row["is_searched"],
        nearest=row["nearest"],
    )
    return frozenset(row["gold"]), query


def _print_table(rows: Iterable[tuple[Item, Ranker]]) -> None:
    """Print a row per set: number of mentions; for mentions with a concept in the vocabulary, how
    often it is ranked first, is among the first five, is linked, and how often another one is
    linked; for other mentions, how often they are linked; expected calibration error; number of
    mentions searched. Then print the means of families."""
    typer.echo("| " + " | ".join(HEADS) + " |\n|---" + "|--:" * (len(HEADS) - 1) + "|")
    by_set: dict[MentionSet, list[tuple[float, bool, bool, bool, bool]]] = {}
    for item, ranker in rows:
        by_set.setdefault(item.of, []).append(outcome(item, ranker))
    figures: dict[str, list[list[float]]] = {}
    for mention_set, outcomes in by_set.items():
        p, right, near, inside, searched = map(np.array, zip(*outcomes, strict=True))
        written = p >= 0.5
        of_inside = (100 * of[inside] for of in (right, near, right & written, ~right & written))
        means = [*map(_mean, of_inside), _mean(100 * written[~inside])]
        error = calibration_error(p.tolist(), right.tolist())
        row = [len(outcomes), *means, error, _mean(100 * searched)]
        figures.setdefault(mention_set.family, []).append(row)
        _print_row(mention_set.key, row)
    for family, own in figures.items():
        columns = map(np.array, zip(*own, strict=True))
        _print_row(f"**{family}**", [_mean(column[~np.isnan(column)]) for column in columns])


def outcome(item: Item, ranker: Ranker) -> tuple[float, bool, bool, bool, bool]:
    """RETURNS (tuple[float, bool, bool, bool, bool]): the probability of the first concept, whether
    it is correct, whether one of the first five is, whether the vocabulary has a correct one, and
    whether the model is used."""
    label = TYPES_BY_LABEL.get(item.of.label, item.of.label)
    concepts: Mapping[str, float] = {}
    if item.unsearched is not None:
        [table] = tables_of([item.unsearched])
        concepts = table.probabilities(ranker.weights_of(label, False))[0]
    p = next(iter(concepts.values()), 0.0)
    if is_searched := ranker.unsearched is None or p < SURE:
        [table] = tables_of([item.query])
        concepts = table.probabilities(ranker.weights_of(label))[0]
    first = list(concepts)[:5]
    right, near = (not item.gold.isdisjoint(some) for some in (first[:1], first))
    return max(concepts.values(), default=0.0), right, near, bool(item.gold), is_searched


def _print_row(name: str, row: Sequence[float]) -> None:
    figures = " | ".join(f"{figure:.1f}" for figure in row[1:])
    typer.echo(f"| {name} | {row[0]:.0f} | {figures} |")


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else float("nan")


if __name__ == "__main__":
    app()
