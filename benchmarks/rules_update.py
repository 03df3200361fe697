"""What becomes of 50 rules of every kind when MeSH of 2019 is updated to that of 2024.

    python benchmarks/rules_update.py DATA

DATA holds `mesh/mesh_2019_descriptors.tsv`. The rules are drawn from the descriptors of 2019, five
of each action: of those that the release of 2024 does not have, has replaced or has given further
names, one each while there are some, the rest at random. MeSH of 2024 is what `en_angel_mini`
ships, without the headings of some trees. Prints how many rules have each state, before and after,
and what is said of those that are not in effect.
"""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from spacy_angel.curation.check import IN_EFFECT, STATES, check_rules
from spacy_angel.linking.settings.loaders import load_vocabulary
from spacy_angel.vocabulary.changes.rules import SHAPES, Rule, problem_of
from spacy_angel.vocabulary.names.concepts import Concept, normalize_name
from spacy_angel.vocabulary.sources.build import build_vocabulary

EACH = 5


def main(data: Annotated[Path, typer.Argument(help="Folder of the vocabularies.")]) -> None:
    """Print the report."""
    old = build_vocabulary([data / "mesh/mesh_2019_descriptors.tsv"], None)
    new = load_vocabulary("en_angel_mini")
    rng = random.Random(0)
    concepts = [concept for concept in old if concept.names]
    gone = [c for c in concepts if new.resolve(c.concept_id) is None]
    merged = [c for c in concepts if new.resolve(c.concept_id) not in (None, c.concept_id)]
    named = [
        (c, name)
        for c in rng.sample(concepts, 3000)
        if new.resolve(c.concept_id) == c.concept_id
        for name in new[c.concept_id].names
        if normalize_name(name) not in set(map(normalize_name, c.names))
        and old.name_index(name) is None
    ]
    # One of each concept.
    named = [*{c.concept_id: (c, name) for c, name in named}.values()]
    others = rng.sample(concepts, 200)
    known = [c.concept_id for c in rng.sample(concepts, 200) if c.concept_id in new]
    makers: dict[str, Callable[[Concept, str], Rule]] = {
        "concept": lambda c, n: Rule("concept", f"Own {n}", concept=f"MY:{c.concept_id[5:]}"),
        "name": lambda c, n: Rule("name", n, concept=c.concept_id),
        "canonical": lambda c, n: Rule("canonical", n, concept=c.concept_id),
        "not-name": lambda c, _: Rule("not-name", c.canonical_name, concept=c.concept_id),
        "not-mention": lambda c, _: Rule("not-mention", c.canonical_name),
        "only": lambda c, _: Rule("only", c.canonical_name, concept=c.concept_id, condition="case"),
        "means": lambda c, n: Rule("means", n, concept=c.concept_id),
        "exclude": lambda c, _: Rule("exclude", concept=c.concept_id),
        "allow": lambda c, _: Rule("allow", concept=c.concept_id),
        "prefer": lambda c, _: Rule("prefer", concept=known.pop(), instead_of=c.concept_id),
    }
    assert makers.keys() == SHAPES.keys()
    rules: list[Rule] = []
    for action, make in makers.items():
        chosen = [(some.pop(), "") for some in (gone, merged) if some] + [named.pop()]
        chosen += [(others.pop(), "") for _ in range(EACH - len(chosen))]
        for concept, name in chosen:
            rule = make(concept, name or f"{concept.canonical_name} ours")
            assert problem_of(rule) == "", (action, rule)
            rules.append(replace(rule, number=len(rules) + 2))
    typer.echo(f"{len(rules)} rules")
    before, after = check_rules(rules, old), check_rules(rules, new)
    for title, findings in (("MeSH of 2019", before), ("MeSH of 2024", after)):
        counts = Counter(finding.state for finding in findings)
        typer.echo(f"{title}: " + ", ".join(f"{counts[state]} {state}" for state in STATES))
    for was, now in zip(before, after, strict=True):
        if now.state != IN_EFFECT:
            typer.echo(f"| {was.state} → {now.state} | {now.rule} | {now.note} |")


if __name__ == "__main__":
    typer.run(main)
