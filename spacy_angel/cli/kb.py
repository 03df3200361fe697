"""`spacy-angel kb`: build, read and change vocabularies."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import AngelError
from .kb_check import kb_check
from .kb_edit import command as edit_command
from .kb_edit import kb_remove, kb_rename, kb_undo
from .kb_fetch import kb_diff, kb_fetch, kb_list, kb_update
from .kb_package import kb_package
from .kb_read import kb_explain, kb_export, kb_search
from .options import (
    Abbreviations,
    Author,
    Columns,
    NewFolder,
    Preset,
    ReaderOptions,
    SharedNames,
    Suffixes,
    Vocabulary,
    VocabularyFormat,
    preprocessing_steps,
    print_columns,
    print_counts,
    print_mappings,
    read_prepared,
    reader_options,
    table_options,
)

kb_app = typer.Typer(help="Build, read and change vocabularies.", no_args_is_help=True)
for name, command in (
    ("fetch", kb_fetch),
    ("list", kb_list),
    ("update", kb_update),
    ("diff", kb_diff),
    ("search", kb_search),
    ("explain", kb_explain),
    ("export", kb_export),
    ("check", kb_check),
    ("remove", kb_remove),
    ("rename", kb_rename),
    ("undo", kb_undo),
    ("package", kb_package),
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
        shared_names=shared_names,  # type: ignore[arg-type]  # checked by ConceptKB.build
        suffixes=suffixes,  # type: ignore[arg-type]  # checked by ConceptKB.build
        options=options,
        mappings=mappings or (),
    )
    print_columns(kb.meta["sources"])
    print_mappings(kb.meta["sources"])
    print_counts(kb, output)


@kb_app.command("info")
def kb_info(
    folder: Vocabulary,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare every byte with the checksums first.")
    ] = False,
) -> None:
    """Print counts, sources and steps of a vocabulary."""
    from ..vocabulary.kb import RULES, ConceptKB

    if verify:
        ConceptKB.verify(folder)
    print_counts(ConceptKB.from_disk(folder), folder)
    # What was built, which the rules in its folder lie over.
    kb = ConceptKB.from_disk(folder, rules=False)
    meta = kb.meta
    for key, value in meta["counts"].items():
        typer.echo(f"  {key:<24} {_number(value)}")
    if scopes := kb.scope_counts:
        told = ", ".join(f"{scope} {n:,}" for scope, n in scopes.items())
        typer.echo(f"  {'scopes of spellings':<24} {told}")
    types = sorted(kb.types)
    if types:
        typer.echo(f"  type names: {', '.join(types[:12])}{', …' if len(types) > 12 else ''}")
    typer.echo(f"  a name of several concepts leads to: {meta['shared_names']}")
    if kb.suffixes is not None:
        typer.echo(f"  they are told apart by: {kb.suffixes}")
    if (rules := folder / RULES).is_file():
        typer.echo(f"  rules over it: {rules} (see `spacy-angel kb check`)")
    for title, entries in (("source", meta["sources"]), ("step", meta["steps"])):
        for entry in entries:
            values = ", ".join(f"{k} {_number(v)}" for k, v in entry.items() if v not in ({}, None))
            typer.echo(f"  {title}: {values}")


@kb_app.command("add")
def kb_add(
    folder: Annotated[Path, typer.Argument(help="Vocabulary; it is changed.")],
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
        str | None,
        typer.Option(help="Format of the file or corpus; inferred if not given."),
    ] = None,
    columns: Columns = None,
    preprocessing: Preset = None,
    abbreviations: Abbreviations = None,
    option: ReaderOptions = None,
    author: Author = "",
) -> None:
    """Add concepts of a file, mention strings of a training corpus, or names to a vocabulary."""
    from ..corpora.mention_names import add_corpus_mentions
    from ..vocabulary.kb import ConceptKB
    from ..vocabulary.sources.build import add_vocabulary
    from ..vocabulary.sources.edits import add_to_concept

    if sum(given is not None for given in (file, mentions, concept)) != 1:
        raise AngelError(
            "Give exactly one of a vocabulary file, `--mentions CORPUS` and `--concept ID`."
        )
    if (concept is None) != (not name):
        raise AngelError("--concept ID and --name NAME must be given together.")
    before = ConceptKB.from_disk(folder)
    if mentions is not None:
        steps = preprocessing_steps(preprocessing, abbreviations)
        documents = read_prepared(mentions, format, steps, before, reader_options(option))
        step = add_corpus_mentions(folder, documents, str(mentions))
        typer.echo(
            f"{step['added_names']:,} names added; {step['unknown_mentions']:,} mentions have an "
            "identifier that is not in the vocabulary."
        )
    elif concept is not None:
        names = list(name or ())
        given = [part for text in names for part in ("--name", text)]
        add_to_concept(
            folder, concept, names, edit_command("add", "--concept", concept, *given), author
        )
    else:
        assert file is not None
        format, options = table_options(format, columns, option)
        kb = add_vocabulary(folder, file, format=format, options=options)
        print_columns(kb.meta["sources"][-1:])
    kb = ConceptKB.from_disk(folder)
    if mentions is None:
        typer.echo(
            f"{len(kb) - len(before):,} concepts and {kb.n_names - before.n_names:,} names added."
        )
    print_counts(kb, folder)


@kb_app.command("merge")
def kb_merge(
    vocabularies: Annotated[
        list[str],
        typer.Argument(help="Folders, files or names (`kb list`), in order of precedence."),
    ],
    output: NewFolder,
    shared_names: Annotated[
        str | None,
        typer.Option(help="As for `kb build`; needed where the vocabularies' rules differ."),
    ] = None,
    suffixes: Suffixes = None,
    by_name: Annotated[
        bool,
        typer.Option(
            "--by-name",
            help="Join concepts to those of the first vocabulary that bear their names, too.",
        ),
    ] = False,
) -> None:
    """Join vocabularies; the first one's canonical names stay."""
    from ..linking.settings.loaders import load_vocabulary
    from ..vocabulary.kb import ConceptKB

    kbs = [load_vocabulary(vocabulary) for vocabulary in vocabularies]
    kb = ConceptKB.merge(
        kbs,
        output,
        shared_names=shared_names,  # type: ignore[arg-type]  # checked by ConceptKB.join
        suffixes=suffixes,  # type: ignore[arg-type]  # checked by ConceptKB.join
        by_name=by_name,
    )
    if by_name:
        joined = kb.meta["counts"]["joined_concepts"]
        typer.echo(f"{joined:,} concepts joined to others.")
    print_counts(kb, output)


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
