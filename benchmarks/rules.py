"""What 10,000 rules of curation cost: preparing them, and each mention.

    python benchmarks/rules.py CORPUS [--pipeline en_angel_mini] [--documents 100]

The mentions of a corpus are linked by turns without rules and with them, in one process; none of
the rules is about one of the mentions, so that the links must be the same. Seconds are of CPU.
"""

import random
import tempfile
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Annotated

import typer

import spacy_angel
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.pipelines.corrections import decisions
from spacy_angel.pipelines.load import find_linker
from spacy_angel.vocabulary.changes.rule_file import write_rules
from spacy_angel.vocabulary.changes.rules import Rule
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import normalize_name

N_RULES, ROUNDS = 10_000, 3


def main(
    corpus: Annotated[Path, typer.Argument(help="Corpus with gold mentions.")],
    pipeline: Annotated[str, typer.Option(help="Pipeline that ships.")] = "en_angel_mini",
    documents: Annotated[int, typer.Option(help="Documents to link.")] = 100,
) -> None:
    """Print seconds and the ratio."""
    nlp = spacy_angel.load(pipeline)
    linker = find_linker(nlp)
    texts = list(islice(read_corpus(corpus), documents))
    strings = {normalize_name(m.text) for d in texts for m in d.mentions}
    golds = {m.concept_ids for d in texts for m in d.mentions}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules.tsv"
        write_rules(made_up(linker.kb, strings, golds), path)
        decisions(nlp, linker, texts)
        seconds: dict[bool, list[float]] = {False: [], True: []}
        links = []
        for turn in range(2 * ROUNDS):
            has_rules = bool(turn % 2)
            with linker.using(curation=str(path) if has_rules else None):
                if turn == 1:
                    start = process_time()
                    decisions(nlp, linker, texts[:1])
                    typer.echo(f"{N_RULES:,} rules prepared: {process_time() - start:.1f} s")
                start = process_time()
                links.append(decisions(nlp, linker, texts))
                seconds[has_rules].append(process_time() - start)
    n = sum(map(len, links[0]))
    changed = sum(
        a.linked_to != b.linked_to
        for x, y in zip(*links[:2], strict=True)
        for a, b in zip(x, y, strict=True)
    )
    without, with_rules = (min(seconds[key]) for key in (False, True))
    typer.echo(f"{n:,} mentions: {without:.1f} s without, {with_rules:.1f} s with rules")
    typer.echo(f"ratio {with_rules / without:.3f}; {changed} links differ")


def made_up(kb: ConceptKB, strings: set[str], golds: set[str]) -> list[Rule]:
    """RETURNS (list[Rule]): of every kind, none about one of the strings or concepts."""
    rng = random.Random(0)
    concepts = [c for c in kb if c.concept_id not in golds]
    rules: list[Rule] = []
    for number, concept in enumerate(rng.sample(concepts, N_RULES // 5)):
        name, own = f"{concept.canonical_name} of the {number}th kind", concept.concept_id
        rules += [
            Rule("name", name, concept=own),
            Rule("means", f"our {name}", concept=own),
            Rule("not-mention", f"no {name}"),
            Rule("only", f"the {name}", concept=own, condition="case"),
            Rule("exclude", concept=own),
        ]
    return [rule for rule in rules if rule.normal not in strings]


if __name__ == "__main__":
    typer.run(main)
