"""`spacy-angel kb check`: what a curator's rules mean for a vocabulary."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .options import located


def kb_check(
    rules: Annotated[Path, typer.Argument(help="File of rules, as the setting `curation` reads.")],
    kb: Annotated[
        Path,
        typer.Option(help="Vocabulary: folder, or name of one that was fetched.", callback=located),
    ],
    all_rules: Annotated[
        bool, typer.Option("--all", help="Also show the rules that are in effect.")
    ] = False,
) -> None:
    """Tell which rules are in conflict, obsolete, discrepant, superfluous or in effect; exit with 1
    where a rule needs a person, or a row is none."""
    from wasabi import table

    from ..curation.check import IN_EFFECT, NEEDS_A_PERSON, STATES, check_rules
    from ..vocabulary.changes.rule_file import read_rules
    from ..vocabulary.kb import ConceptKB

    read = read_rules(rules)
    # Its own rules are held against what it would be without them.
    vocabulary = ConceptKB.from_disk(kb, rules=rules.resolve().parent != kb.resolve())
    findings = check_rules(read.rules, vocabulary)
    rows = []
    for state in STATES:
        found = [finding for finding in findings if finding.state == state]
        typer.echo(f"{len(found):>6,} {state}")
        if all_rules or state != IN_EFFECT:
            rows += [(str(f.rule.number), state, str(f.rule), f.note) for f in found]
    for number, problem in read.problems:
        typer.echo(f"Line {number} is left out: {problem}.", err=True)
    if rows:
        header = ("line", "state", "rule", "note")
        aligns: list[Any] = ["r", "l", "l", "l"]
        typer.echo(table(rows, header=header, divider=True, aligns=aligns).strip("\n"))
    if read.problems or any(finding.state in NEEDS_A_PERSON for finding in findings):
        raise typer.Exit(1)
