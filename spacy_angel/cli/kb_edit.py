"""`spacy-angel kb add|remove|rename`: changes of a stored vocabulary."""

from pathlib import Path
from typing import Annotated

import typer

from ..errors import AngelError
from .options import (
    Columns,
    ReaderOptions,
    Vocabulary,
    print_columns,
    print_counts,
    reader_options,
    table_options,
)


def kb_add(
    kb: Vocabulary,
    file: Annotated[
        Path | None,
        typer.Argument(help="Vocabulary file with concepts, or further names of known ones."),
    ] = None,
    mentions: Annotated[
        Path | None,
        typer.Option(help="Training corpus: its mention strings become names of their concepts."),
    ] = None,
    concept: Annotated[
        str | None,
        typer.Option(help="Identifier of one concept, known or new, that gets each --name."),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(help="With --concept; the first is the canonical name of a new one."),
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="Format of the file or corpus; inferred if not given.")
    ] = None,
    columns: Columns = None,
    option: ReaderOptions = None,
) -> None:
    """Add concepts of a file, mention strings of a training corpus, or names to a vocabulary. Names
    of one concept are written as rules beside the vocabulary."""
    from ..corpora.mention_names import add_corpus_mentions
    from ..corpora.registry import read_corpus
    from ..vocabulary.kb import ConceptKB
    from ..vocabulary.sources.build import add_vocabulary
    from ..vocabulary.sources.edits import add_to_concept

    if sum(given is not None for given in (file, mentions, concept)) != 1:
        raise AngelError(
            "Give exactly one of a vocabulary file, `--mentions CORPUS` and `--concept ID`."
        )
    if (concept is None) != (not name):
        raise AngelError("--concept ID and --name NAME must be given together.")
    before = ConceptKB.from_disk(kb)
    if mentions is not None:
        documents = read_corpus(mentions, format, **reader_options(option))
        step = add_corpus_mentions(kb, documents, str(mentions))
        typer.echo(
            f"{step['added_names']:,} names added; {step['unknown_mentions']:,} mentions have an "
            "identifier that is not in the vocabulary."
        )
    elif file is not None:
        format, options = table_options(format, columns, option)
        added = add_vocabulary(kb, file, format=format, options=options)
        print_columns(added.meta["sources"][-1:])
    elif concept is not None:
        add_to_concept(kb, concept, name or ())
    after = ConceptKB.from_disk(kb)
    if mentions is None:
        n_concepts, n_names = len(after) - len(before), after.n_names - before.n_names
        typer.echo(f"{n_concepts:,} concepts and {n_names:,} names added.")
    print_counts(after, kb)


def kb_remove(
    kb: Vocabulary,
    concept_ids: Annotated[list[str], typer.Argument(help="Identifiers of the concepts.")],
    name: Annotated[
        list[str] | None,
        typer.Option(help="Take only this name, in all its spellings, from the one concept."),
    ] = None,
) -> None:
    """Remove concepts, or names of one concept; if one is unknown, nothing is removed."""
    from ..vocabulary.kb import ConceptKB
    from ..vocabulary.sources.edits import remove_concepts, remove_names

    if not name:
        remove_concepts(kb, concept_ids)
    elif len(concept_ids) > 1:
        raise AngelError(f"--name needs exactly one concept, not {' '.join(concept_ids)}.")
    else:
        remove_names(kb, concept_ids[0], name)
    print_counts(ConceptKB.from_disk(kb), kb)


def kb_rename(
    kb: Vocabulary,
    concept_id: Annotated[str, typer.Argument(help="Identifier of the concept.")],
    new: Annotated[
        str, typer.Argument(help="Its canonical name from now on; the former one stays an alias.")
    ],
    name: Annotated[
        str | None,
        typer.Option(help="Rename this name only, in all its spellings; the old one goes."),
    ] = None,
) -> None:
    """Give a concept another canonical name, or replace one of its names."""
    from ..vocabulary.kb import ConceptKB
    from ..vocabulary.sources.edits import rename

    rename(kb, concept_id, new, name)
    concept = ConceptKB.from_disk(kb)[concept_id]
    typer.echo(f"{concept.concept_id}  {'; '.join(concept.names)}")
