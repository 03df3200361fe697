"""`spacy-angel kb`: build, read and change vocabularies."""

from pathlib import Path
from typing import Annotated

import typer

from .kb_edit import kb_add, kb_remove, kb_rename
from .kb_fetch import kb_fetch, kb_update
from .kb_read import kb_check, kb_export, kb_info, kb_search
from .options import (
    Columns,
    NewFolder,
    ReaderOptions,
    SharedNames,
    Suffixes,
    VocabularyFormat,
    print_columns,
    print_counts,
    print_mappings,
    table_options,
)

kb_app = typer.Typer(help="Build, read and change vocabularies.", no_args_is_help=True)
for name, command in (
    ("fetch", kb_fetch),
    ("update", kb_update),
    ("search", kb_search),
    ("export", kb_export),
    ("info", kb_info),
    ("check", kb_check),
    ("add", kb_add),
    ("remove", kb_remove),
    ("rename", kb_rename),
):
    kb_app.command(name)(command)


@kb_app.command("build")
def kb_build(
    files: Annotated[list[Path], typer.Argument(help="Files, or folders of UMLS and SNOMED CT.")],
    output: NewFolder,
    format: VocabularyFormat = None,
    columns: Columns = None,
    shared_names: SharedNames = "all",
    suffixes: Suffixes = None,
    mappings: Annotated[
        list[Path] | None,
        typer.Option(
            help="SSSOM table (.sssom.tsv): exact matches become alternate identifiers; may be "
            "repeated."
        ),
    ] = None,
    option: ReaderOptions = None,
) -> None:
    """Build a vocabulary from the files it is published in."""
    from ..vocabulary.sources.build import build_vocabulary

    format, options = table_options(format, columns, option)
    kb = build_vocabulary(
        files,
        output,
        format=format,
        shared_names=shared_names,  # type: ignore[arg-type]  # checked by ConceptKB.join
        suffixes=suffixes,  # type: ignore[arg-type]  # checked by ConceptKB.join
        options=options,
        mappings=mappings or (),
    )
    print_columns(kb.meta["sources"])
    print_mappings(kb.meta["sources"])
    print_counts(kb, output)


@kb_app.command("merge")
def kb_merge(
    vocabularies: Annotated[
        list[str], typer.Argument(help="Folders, files or names, in order of precedence.")
    ],
    output: NewFolder,
    shared_names: Annotated[
        str | None,
        typer.Option(help="As for `kb build`; needed if the rules of the vocabularies differ."),
    ] = None,
    suffixes: Suffixes = None,
) -> None:
    """Join vocabularies; the first one's canonical names are kept."""
    from ..linking.settings.loaders import load_vocabulary
    from ..vocabulary.kb import ConceptKB

    kb = ConceptKB.merge(
        [load_vocabulary(vocabulary) for vocabulary in vocabularies],
        output,
        shared_names=shared_names,  # type: ignore[arg-type]  # checked by ConceptKB.join
        suffixes=suffixes,  # type: ignore[arg-type]  # checked by ConceptKB.join
    )
    print_counts(kb, output)
