"""`spacy-angel kb remove|rename|undo`: changes of a stored vocabulary, one by one."""

import shlex
from typing import Annotated

import typer

from ..errors import AngelError, Errors
from .options import Vocabulary, print_counts


def kb_remove(
    kb: Vocabulary,
    concept_ids: Annotated[list[str], typer.Argument(help="Identifiers of the concepts.")],
    name: Annotated[
        list[str] | None,
        typer.Option(help="Take only this name, in all its spellings, from the one concept."),
    ] = None,
) -> None:
    """Remove concepts, or names of one concept; where one is unknown, nothing is removed."""
    from ..vocabulary.history import recorded
    from ..vocabulary.kb import ConceptKB

    if name and len(concept_ids) > 1:
        raise AngelError(Errors.E711.format(found=" ".join(concept_ids)))
    names = [part for text in name or () for part in ("--name", text)]
    with recorded(kb, command("remove", *concept_ids, *names)):
        vocabulary = ConceptKB.from_disk(kb)
        for concept_id in concept_ids:
            for text in name or ():
                vocabulary.remove_name(concept_id, text)
            if not name:
                vocabulary.remove(concept_id)
        vocabulary.to_disk(kb)
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
) -> None:
    """Give a concept another canonical name, or write one of its names anew."""
    from ..vocabulary.history import recorded
    from ..vocabulary.kb import ConceptKB

    given = [] if name is None else ["--name", name]
    with recorded(kb, command("rename", concept_id, new, *given)):
        vocabulary = ConceptKB.from_disk(kb)
        vocabulary.rename(concept_id, new, name)
        vocabulary.to_disk(kb)
    concept = ConceptKB.from_disk(kb)[concept_id]
    typer.echo(f"{concept.concept_id}  {'; '.join(concept.names)}")


def kb_undo(kb: Vocabulary) -> None:
    """Undo the last `kb add`, `remove` or `rename`; again, the one before it."""
    from ..vocabulary.history import undo
    from ..vocabulary.kb import ConceptKB

    undone, n_more = undo(kb)
    typer.echo(f"Undone: {undone}. {n_more:,} more can be undone.")
    print_counts(ConceptKB.from_disk(kb), kb)


def command(*parts: str) -> str:
    """RETURNS (str): what was typed, without the vocabulary, for the record of changes."""
    return shlex.join(["kb", *parts])
