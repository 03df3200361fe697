"""What the setting `nil_share` trades: links of what a vocabulary has for links of what it lacks.

    python benchmarks/nil_share.py DATA [--ontology CL]

DATA is as for `scripts/fit_ranker.py`. Mentions of CRAFT's development part are linked with
`en_angel_mini` over an ontology of which 30 % of the concepts are taken out.
"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from measuring import fit_ranker

import spacy_angel
from spacy_angel.pipelines.corrections import decisions
from spacy_angel.pipelines.saved import find_linker

SHARES = (0.05, 0.1, None, 0.5, 0.7, 0.9)
HOLES = 0.3


def main(
    data: Annotated[Path, typer.Argument(help="Folder of the corpora and vocabularies.")],
    ontology: Annotated[list[str] | None, typer.Option(help="`CL`, `UBERON`, …")] = None,
) -> None:
    """Print a table, a line an ontology and share."""
    script = fit_ranker()
    nlp = spacy_angel.load("en_angel_mini", dtype="int8")
    linker = find_linker(nlp)
    linker.settings = replace(linker.settings, types_by_label={})
    typer.echo("| ontology | `nil_share` | right | another | what is not there |")
    typer.echo("|---|--:|--:|--:|--:|")
    for name in ontology or ["CL", "UBERON", "SO", "CHEBI"]:
        linker.kb = script.vocabulary(data, name, HOLES)
        documents = list(script.chosen(data, script.MentionSet("craft_dev", name, name, 10_000)))
        for share in SHARES:
            with linker.using(nil_share=share):
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


if __name__ == "__main__":
    typer.run(main)
