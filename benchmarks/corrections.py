"""How many errors on other documents are mended by the first corrections of a curator, who begins
where the linker is least sure, beside one who begins anywhere.

    python benchmarks/corrections.py DATA [--corpus craft_dev] [--ontology CL] [--first 20]

DATA holds `craft/`. Half of the corpus's documents are read by the curator, string by string, and
corrected until so many strings were; their rules (`spacy_angel.pipelines.corrections`) hold for the
other half, and for those of `--others`, a corpus more. Three seeds divide the documents three
times. "Looked at" counts strings that were right, too. Least sure first: the strings by the errors
that are to be expected of them, the sum of 1 - probability over their mentions.
"""

import random
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

import spacy_angel
from spacy_angel.pipelines.corrections import Decision, decisions, n_right_under, propose_rules
from spacy_angel.pipelines.load import find_linker
from spacy_angel.vocabulary.names.concepts import normalize_name

SEEDS = 3


def main(
    data: Annotated[Path, typer.Argument(help="Folder of the corpora.")],
    corpus: Annotated[str, typer.Option(help="`craft_dev` or `craft_train`.")] = "craft_dev",
    ontology: Annotated[str, typer.Option(help="`CL`, `UBERON`, `SO`, `CHEBI`, …")] = "CL",
    others: Annotated[str, typer.Option(help="Documents more to be mended.")] = "craft_train",
    first: Annotated[int, typer.Option(help="Strings that are corrected.")] = 20,
) -> None:
    """Print a table, a line a seed and order."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))
    script: Any = import_module("fit_ranker")
    nlp = spacy_angel.load("en_angel_mini", dtype="int8")
    linker = find_linker(nlp)
    linker.settings = replace(linker.settings, types_by_label={})
    linker.kb = script.vocabulary(data, ontology, 0.0)
    documents = [d for d in script.craft_documents(data, corpus, ontology) if d.mentions]
    n_read = len(documents)
    documents += [d for d in script.craft_documents(data, others, ontology) if d.mentions]
    before = decisions(nlp, linker, documents)
    typer.echo(f"{ontology}: {len(documents)} documents, {sum(map(len, before))} mentions")
    typer.echo("| seed | order | looked at | corrected | errors before | after | mended |")
    typer.echo("|--:|---|--:|--:|--:|--:|--:|")
    for seed in range(SEEDS):
        numbers = list(range(n_read))
        random.Random(seed).shuffle(numbers)
        read, held = numbers[::2], [*numbers[1::2], *range(n_read, len(documents))]
        n = sum(len(before[i]) for i in held)
        n_wrong = n - sum(one.is_right for i in held for one in before[i])
        own = [one for i in read for one in before[i]]
        for order in ("least sure", "random"):
            n_looked, corrected = _corrected(own, first, None if order == "least sure" else seed)
            rules = propose_rules(corrected, linker.kb)
            after = n - n_right_under(nlp, linker, [documents[i] for i in held], rules)
            mended = f"{100 * (n_wrong - after) / max(n_wrong, 1):.1f} %"
            typer.echo(
                f"| {seed} | {order} | {n_looked} | {len(rules)} | {n_wrong} | {after} | {mended} |"
            )


def _corrected(
    decided: Sequence[Decision], first: int, seed: int | None
) -> tuple[int, list[Decision]]:
    """Strings in the order in which they are looked at, until so many were wrong."""
    groups: defaultdict[str, list[Decision]] = defaultdict(list)
    for one in decided:
        groups[normalize_name(one.text)].append(one)
    strings = sorted(groups, key=lambda text: sum(one.probability - 1 for one in groups[text]))
    if seed is not None:
        random.Random(seed).shuffle(strings)
    chosen: list[Decision] = []
    n_wrong = 0
    for n_looked, text in enumerate(strings, 1):
        chosen += groups[text]
        n_wrong += any(not one.is_right for one in groups[text])
        if n_wrong == first:
            return n_looked, chosen
    return len(strings), chosen


if __name__ == "__main__":
    typer.run(main)
