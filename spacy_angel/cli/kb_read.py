"""`spacy-angel kb search|export|info|check`: what a vocabulary and its rules hold."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .options import Vocabulary, located, print_counts


def kb_search(
    kb: Vocabulary,
    text: Annotated[str, typer.Argument(help="Identifier or name, whole or a part of it.")],
    limit: Annotated[int, typer.Option("--limit", "-n", help="Concepts to show.")] = 10,
) -> None:
    """Find concepts by identifier, name, words of a name, or similar spelling."""
    from ..vocabulary.kb import ConceptKB
    from ..vocabulary.lookup.typed import search_concepts

    hits = search_concepts(ConceptKB.from_disk(kb), text, limit)
    for hit in hits:
        concept = hit.concept
        name = "" if hit.name == concept.canonical_name else f"  “{hit.name}”"
        types = f"  [{', '.join(concept.types)}]" if concept.types else ""
        typer.echo(f"{concept.concept_id}  {concept.canonical_name}{name}{types}")
    if not hits:
        typer.echo("Nothing in the vocabulary is like it.")
        raise typer.Exit(1)
    if hits[0].how == "similar":
        typer.echo("No name has these words; these are spelled similarly.", err=True)


def kb_export(
    kb: Vocabulary,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File: .jsonl or .tsv, perhaps with .gz.")
    ],
) -> None:
    """Write the concepts to a file: all that is known (JSON lines), or a table of names."""
    from ..vocabulary.kb import ConceptKB
    from ..vocabulary.sources.export import export_concepts

    counts = export_concepts(ConceptKB.from_disk(kb), output)
    typer.echo(f"{counts['concepts']:,} concepts, {counts['names']:,} names: {output}")
    if counts["left_out"]:
        typer.echo(
            f"{counts['left_out']:,} names that contain a tab, a line break or | were left out of "
            "the table. Export to JSON lines to keep them.",
            err=True,
        )


def kb_info(
    kb: Vocabulary,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare every byte with the checksums first.")
    ] = False,
) -> None:
    """Print counts, sources and steps of a vocabulary."""
    from ..vocabulary.kb import RULES, ConceptKB

    if verify:
        ConceptKB.verify(kb)
    print_counts(ConceptKB.from_disk(kb), kb)
    # What was built, to which the rules in its folder are applied.
    built = ConceptKB.from_disk(kb, rules=False)
    meta = built.meta
    scopes = (f"{scope} {n:,}" for scope, n in built.table.scope_counts().items())
    types, rules = sorted(built.types), kb / RULES
    lines = meta["counts"] | {
        "scopes of spellings": ", ".join(scopes),
        "type names": ", ".join(types[:12]) + ", …" * (len(types) > 12),
        "shared names lead to": meta["shared_names"],
        "distinguished by": built.suffixes,
        "rules": rules if rules.is_file() else None,
    }
    for key, value in lines.items():
        if value not in ("", None):
            typer.echo(f"  {key:<24} {_number(value)}")
    for title, entries in (("source", meta["sources"]), ("step", meta["steps"])):
        for entry in entries:
            values = ", ".join(f"{k} {_number(v)}" for k, v in entry.items() if v not in ({}, None))
            typer.echo(f"  {title}: {values}")


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


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
    # Its own rules are compared with what it would be without them.
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
