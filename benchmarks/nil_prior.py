"""What the setting `nil_prior` trades: links of what a vocabulary has for links of what it lacks;
and how far probabilities can be trusted.

    python benchmarks/nil_prior.py DATA [--ontology CL]
    python benchmarks/nil_prior.py DATA --pictures docs/img

DATA is as for `scripts/fit_ranker.py`. Mentions of CRAFT's development part are linked with
`en_angel_mini` over an ontology of which 30 % of the concepts are taken out; for the diagram of
reliability over all of it.
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

import spacy_angel
from spacy_angel.evaluation.charts import line_chart, picture
from spacy_angel.evaluation.confidence import calibration_error, reliability
from spacy_angel.linking.settings.presets import as_published
from spacy_angel.pipelines.corrections import decisions
from spacy_angel.pipelines.load import find_linker

SHARES = (0.05, 0.1, None, 0.5, 0.7, 0.9)
HOLES = 0.3
# Per cent of the mentions without a concept that are linked.
FALSE_LINKS = (0, 5, 10, 15, 20, 25, 30, 40, 50)
# Of the diagram; a bin with fewer mentions says nothing.
BINS, LEAST_OF_BIN = 5, 10
OFF = {"threshold": None, "search.min_log_prob": None}
SYSTEMS = {"model": {**as_published(), **OFF}, "ranker": OFF}


class First(NamedTuple):
    """The first concept of a mention: its probability, whether it is right, and whether there is
    one that would be."""

    probability: float
    is_right: bool
    has_concept: bool


def main(
    data: Annotated[Path, typer.Argument(help="Folder of the corpora and vocabularies.")],
    ontology: Annotated[list[str] | None, typer.Option(help="`CL`, `UBERON`, …")] = None,
    pictures: Annotated[
        Path | None, typer.Option(help="Folder for pictures in place of the table.")
    ] = None,
) -> None:
    """Print a table, a line an ontology and share; or draw reliability and loss."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))
    script: Any = import_module("fit_ranker")
    nlp = spacy_angel.load("en_angel_mini", dtype="int8")
    linker = find_linker(nlp)
    linker.settings = replace(linker.settings, types_by_label={})
    if pictures is not None:
        typer.echo(f"| ontology | | ECE | {' | '.join(f'{share} %' for share in FALSE_LINKS)} |")
        typer.echo(f"|---|---|{'--:|' * (1 + len(FALSE_LINKS))}")
        names = ontology or ["CL", "UBERON", "SO"]
        charts = [charts_of(name, measured(script, data, name, nlp, linker)) for name in names]
        for kind, own in zip(
            ("reliability", "false_links"), zip(*charts, strict=True), strict=True
        ):
            (pictures / f"{kind}.svg").write_text(stacked(own), encoding="utf8")
        return
    typer.echo("| ontology | `nil_prior` | right | another | what is not there |")
    typer.echo("|---|--:|--:|--:|--:|")
    for name in ontology or ["CL", "UBERON", "SO", "CHEBI"]:
        linker.kb = script.vocabulary(data, name, HOLES)
        documents = development(script, data, name)
        for share in SHARES:
            with linker.using(ranker={"nil_prior": share}):
                linked = decisions(nlp, linker, documents)
            found = [one for of_document in linked for one in of_document]
            inside = [one for one in found if one.gold]
            outside = [bool(one.linked_to) for one in found if not one.gold]
            right = sum(one.is_right for one in inside) / len(inside)
            wrong = sum(bool(one.linked_to) for one in inside) / len(inside) - right
            false = sum(outside) / max(len(outside), 1)
            shown = "as fitted" if share is None else share
            figures = " | ".join(f"{100 * value:.1f}" for value in (right, wrong, false))
            typer.echo(f"| {name} | {shown} | {figures} |")


def development(script: Any, data: Path, name: str) -> list[Any]:
    """RETURNS (list[CorpusDocument]): CRAFT's development part with the mentions of an ontology."""
    return list(script.chosen(data, script.MentionSet("craft_dev", name, name, 10_000)))


def measured(
    script: Any, data: Path, name: str, nlp: Any, linker: Any
) -> dict[float, dict[str, list[First]]]:
    """RETURNS (dict[float, dict[str, list[First]]]): by the share of the concepts that is taken out
    of an ontology, and by system."""
    documents = development(script, data, name)
    found = {}
    for holes in (0.0, HOLES):
        linker.kb = script.vocabulary(data, name, holes)
        found[holes] = {
            system: list(firsts(nlp, linker, documents, settings))
            for system, settings in SYSTEMS.items()
        }
    return found


def charts_of(name: str, found: Mapping[float, Mapping[str, Sequence[First]]]) -> list[str]:
    """Print the figures of an ontology.

    name (str): of the ontology. found (Mapping): see `measured`.
    RETURNS (list[str]): charts of reliability and of what is lost.
    """
    lines = {f"{name}, {system}": bins(own) for system, own in found[0.0].items()}
    losses = {f"{name}, {system}": loss(own) for system, own in found[HOLES].items()}
    for system, own in found[0.0].items():
        error = calibration_error([f.probability for f in own], [f.is_right for f in own])
        lost = " | ".join(f"{points:.1f}" for _, points in losses[f"{name}, {system}"])
        typer.echo(f"| {name} | {system} | {error:.1f} | {lost} |")
    middles = sorted({x for points in lines.values() for x, _ in points})
    lines["calibrated"] = [(x, x) for x in middles]
    below = "links of mentions without a concept, per cent; upwards: right links lost, points"
    return [
        line_chart("Right, per cent", lines, "probability of the first concept, per cent"),
        line_chart("Right links lost", losses, below, in_per_cent=False),
    ]


def firsts(
    nlp: Any, linker: Any, documents: Sequence[Any], settings: Mapping[str, Any]
) -> Iterator[First]:
    """YIELDS (First): of every mention, whatever its probability."""
    with linker.using(**settings):
        for of_document in decisions(nlp, linker, documents):
            for one in of_document:
                yield First(one.probability, bool(one.gold) and one.is_right, bool(one.gold))


def bins(found: Sequence[First]) -> list[tuple[float, float]]:
    """RETURNS (list[tuple[float, float]]): of each bin of the probability the middle and how many
    are right, both in per cent."""
    probabilities, right = [f.probability for f in found], [f.is_right for f in found]
    return [
        (100 * (one["low"] + 0.5 / BINS), one["right"])
        for one in reliability(probabilities, right, BINS)
        if one["mentions"] >= LEAST_OF_BIN
    ]


def loss(found: Sequence[First]) -> list[tuple[float, float]]:
    """RETURNS (list[tuple[float, float]]): for each of `FALSE_LINKS` how many points fewer get the
    right link than have it first, at the threshold that lets so many through."""
    outside = sorted((f.probability for f in found if not f.has_concept), reverse=True)
    right = np.array([f.probability for f in found if f.is_right])
    inside = sum(f.has_concept for f in found)
    limits = [outside[int(share / 100 * len(outside))] for share in FALSE_LINKS]
    return [
        (share, 100 * float((right <= limit).sum()) / inside)
        for share, limit in zip(FALSE_LINKS, limits, strict=True)
    ]


def stacked(charts: Sequence[str]) -> str:
    """charts (Sequence[str]): figures of one size. RETURNS (str): an SVG file with all of them."""
    parts = [picture(chart).decode() for chart in charts]
    found = re.search(r'viewBox="0 0 (\S+) (\S+)"', parts[0])
    assert found is not None
    width, height = found[1], float(found[2]) + 14
    placed = (
        part.replace("<svg", f'<svg y="{height * n:g}" width="{width}" height="{height:g}"', 1)
        for n, part in enumerate(parts)
    )
    total = f"{height * len(parts):g}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {total}">\n'
        f"{''.join(placed)}</svg>\n"
    )


if __name__ == "__main__":
    typer.run(main)
