"""`spacy-angel kb remove`: changes of a stored vocabulary, one by one."""

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
    from ..vocabulary.kb import ConceptKB

    if name and len(concept_ids) > 1:
        raise AngelError(Errors.E711.format(found=" ".join(concept_ids)))
    vocabulary = ConceptKB.from_disk(kb)
    for concept_id in concept_ids:
        for text in name or ():
            vocabulary.remove_name(concept_id, text)
        if not name:
            vocabulary.remove(concept_id)
    vocabulary.to_disk(kb)
    print_counts(ConceptKB.from_disk(kb), kb)
