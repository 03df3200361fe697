"""`spacy-angel kb search|explain|export`: what a vocabulary holds."""

from pathlib import Path
from typing import Annotated

import typer

from .options import Vocabulary


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
        led = "" if hit.name == concept.canonical_name else f"  “{hit.name}”"
        types = f"  [{', '.join(concept.types)}]" if concept.types else ""
        typer.echo(f"{concept.concept_id}  {concept.canonical_name}{led}{types}")
    if not hits:
        typer.echo("Nothing in the vocabulary is like it.")
        raise typer.Exit(1)
    if hits[0].how == "similar":
        typer.echo("No name has these words; these are spelled similarly.", err=True)


def kb_explain(
    kb: Vocabulary,
    text: Annotated[str, typer.Argument(help="Identifier, or a name in any spelling.")],
) -> None:
    """Tell what the vocabulary makes of a text, and which concept a link would go to."""
    from ..vocabulary.kb import ConceptKB
    from ..vocabulary.lookup.typed import explain

    explanation = explain(ConceptKB.from_disk(kb), text)
    if explanation.normal:
        typer.echo(f"As a name it is compared as “{explanation.normal}”.")
    for number, holder in enumerate(explanation.holders, start=1):
        role = "its canonical name" if holder.is_canonical else "an alias"
        spelled = ", ".join(f"“{spelling}”" for spelling in holder.spellings)
        title = f"{holder.concept.concept_id}  {holder.concept.canonical_name}"
        typer.echo(f"  {number}. {title}: {role}, {spelled}")
    if len(explanation.holders) > 1:
        typer.echo("  Several concepts share the name; a link goes to the first.")
    if not explanation.holders and explanation.concept is None:
        typer.echo(
            "No concept has it as a name or identifier. The model may still link it to a similar "
            "name, which `spacy-angel link TEXT --kb KB --explain` shows."
        )
        raise typer.Exit(1)
    if (concept := explanation.concept) is None:
        return
    kind = "the identifier" if explanation.own_id else "an alternate identifier"
    typer.echo(f"It is {kind} of {concept.concept_id}  {concept.canonical_name}.")
    for title, values in (
        ("types", concept.types),
        ("tree numbers", concept.tree_numbers),
        ("parts", concept.parts),
        ("other identifiers", concept.alternate_ids),
        ("names", concept.names),
        ("names that the search cannot write", explanation.unsearchable),
    ):
        if values:
            typer.echo(f"  {title}: {' | '.join(values)}")
    for name, others in explanation.shared:
        typer.echo(f"  “{name}” leads to {', '.join(others)} as well")
    if concept.definition:
        typer.echo(f"  definition: {concept.definition}")


def kb_export(
    kb: Vocabulary,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File: .jsonl or .tsv, perhaps with .gz.")
    ],
    format: Annotated[
        str | None, typer.Option("--format", help="jsonl or tsv; else by the file's ending.")
    ] = None,
) -> None:
    """Write the concepts to a file: all that is known (JSON lines), or a table of names."""
    from ..vocabulary.kb import ConceptKB
    from ..vocabulary.sources.export import export_concepts

    counts = export_concepts(ConceptKB.from_disk(kb), output, format)  # type: ignore[arg-type]
    typer.echo(f"{counts['concepts']:,} concepts, {counts['names']:,} names: {output}")
    if counts["left_out"]:
        typer.echo(
            f"{counts['left_out']:,} names with a tab, a line break or | in them cannot stand in a "
            "table and are left out; JSON lines hold them.",
            err=True,
        )
