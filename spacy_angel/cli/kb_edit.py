"""`spacy-angel kb remove|rename|undo`: changes of a vocabulary, one by one, as rules beside it."""

import shlex
from typing import Annotated

import typer

from ..errors import AngelError
from .options import Author, Vocabulary, print_counts


def kb_remove(
    kb: Vocabulary,
    concept_ids: Annotated[list[str], typer.Argument(help="Identifiers of the concepts.")],
    name: Annotated[
        list[str] | None,
        typer.Option(help="Take only this name, in all its spellings, from the one concept."),
    ] = None,
    author: Author = "",
) -> None:
    """Remove concepts, or names of one concept; where one is unknown, nothing is removed."""
    from ..vocabulary.kb import ConceptKB
    from ..vocabulary.sources.edits import remove_concepts, remove_names

    if not name:
        remove_concepts(kb, concept_ids, command("remove", *concept_ids), author)
    elif len(concept_ids) > 1:
        raise AngelError(f"--name needs exactly one concept, not {' '.join(concept_ids)!r}.")
    else:
        given = [part for text in name for part in ("--name", text)]
        remove_names(kb, concept_ids[0], name, command("remove", concept_ids[0], *given), author)
    print_counts(ConceptKB.from_disk(kb), kb)


def kb_rename(
    kb: Vocabulary,
    concept_id: Annotated[str, typer.Argument(help="Identifier of the concept.")],
    new: Annotated[
        str, typer.Argument(help="Its canonical name from now on; the one before stays an alias.")
    ],
    name: Annotated[
        str | None,
        typer.Option(help="Rename this name only, in all its spellings; the old one goes."),
    ] = None,
    author: Author = "",
) -> None:
    """Give a concept another canonical name, or write one of its names anew."""
    from ..vocabulary.kb import ConceptKB
    from ..vocabulary.sources.edits import rename

    given = [] if name is None else ["--name", name]
    rename(kb, concept_id, new, name, command("rename", concept_id, new, *given), author)
    concept = ConceptKB.from_disk(kb)[concept_id]
    typer.echo(f"{concept.concept_id}  {'; '.join(concept.names)}")


def kb_undo(kb: Vocabulary) -> None:
    """Take back the rules of the last `kb add --concept`, `remove` or `rename`; again, those of the
    one before it."""
    from ..vocabulary.kb import ConceptKB
    from ..vocabulary.sources.edits import stands, undo

    taken, left = undo(kb)
    vocabulary = ConceptKB.from_disk(kb)
    for rule in taken:
        stays = " It stays so: the vocabulary was built or saved with it." * stands(
            vocabulary, rule
        )
        typer.echo(f"Taken back: {rule}.{stays}")
    typer.echo(f"{len(left):,} rules are left.")
    print_counts(vocabulary, kb)


def command(*parts: str) -> str:
    """RETURNS (str): what was typed, without the vocabulary, as the reason of rules."""
    return shlex.join(["kb", *parts])
