"""`spacy-angel kb`: fetch, build, read and change vocabularies."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import AngelError
from . import options

if TYPE_CHECKING:
    from ..vocabulary.sources.catalogue import Source

kb_app = typer.Typer(help="Build, read and change vocabularies.", no_args_is_help=True)
_SHOWN = 5


@kb_app.command("build")
def kb_build(
    files: Annotated[list[Path], typer.Argument(help="Files, or folders of UMLS and SNOMED CT.")],
    output: options.NewFolder,
    format: options.VocabularyFormat = None,
    columns: options.Columns = None,
    shared_names: options.SharedNames = "all",
    by_species: Annotated[
        bool,
        typer.Option(
            "--by-species",
            help="Concepts that share a name belong to different species (NCBI taxa among their "
            "types); the linker prefers the species of the document.",
        ),
    ] = False,
    branch: Annotated[
        str | None, typer.Option(help="Keep only this concept and all concepts below it.")
    ] = None,
    option: options.ReaderOptions = None,
) -> None:
    """Build a vocabulary from files."""
    from ..vocabulary.sources.build import build_vocabulary

    format, given = options.table_options(format, columns, option)
    kb = build_vocabulary(
        files,
        output,
        format=format,
        shared_names=shared_names,  # type: ignore[arg-type]  # checked by BuildOptions
        by_species=by_species,
        options=given,
        branch=branch,
    )
    options.print_columns(kb.meta["sources"])
    options.print_counts(kb, output)


@kb_app.command("merge")
def kb_merge(
    vocabularies: Annotated[
        list[str], typer.Argument(help="Folders, files or names, in order of precedence.")
    ],
    output: options.NewFolder,
    shared_names: options.SharedNames = "all",
) -> None:
    """Merge vocabularies. Canonical names are taken from the first one that has the concept."""
    from ..vocabulary.kb import ConceptKB
    from ..vocabulary.sources.installed import load_vocabulary

    kb = ConceptKB.merge(
        [load_vocabulary(vocabulary) for vocabulary in vocabularies],
        output,
        shared_names=shared_names,  # type: ignore[arg-type]  # checked by BuildOptions
    )
    options.print_counts(kb, output)


@kb_app.command("fetch")
def kb_fetch(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Names of vocabularies; lists them if not given."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Folder to write; for several vocabularies, the parent of their folders. By "
            "default, the cache, where `load(kb=NAME)` finds them.",
        ),
    ] = None,
    release: Annotated[
        str | None,
        typer.Option(help="Release, as its publisher names it; the newest if not given."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option(help="File or folder to use instead of downloading.")
    ] = None,
    option: options.ReaderOptions = None,
) -> None:
    """Fetch published vocabularies and build them; without a name, list them.

    If some of several vocabularies fail, they are listed at the end; run the command again.
    """
    from ..vocabulary.sources.catalogue import find_source, read_catalogue
    from ..vocabulary.sources.fetch import fetch_vocabulary
    from ..vocabulary.sources.installed import built_folder, installed_vocabularies

    if not names:
        for source in read_catalogue().values():
            typer.echo(f"{source.name:<20} {source.megabytes:>5,} MB  {source.title}")
            typer.echo(f"{'':<30}{source.licence}")
        for name, built in installed_vocabularies().items():
            typer.echo(f"Built: {name:<20} {built}")
        return
    sources = [find_source(name) for name in dict.fromkeys(names)]
    is_one = len(sources) == 1
    if not is_one and (release or file or option):
        raise AngelError("--release, --file and --option cannot be used with several vocabularies.")
    failed = []
    for source in sources:
        folder = output if is_one or output is None else output / source.name
        try:
            _announce(source, release, file)
            given = options.reader_options(option)
            kb = fetch_vocabulary(source, folder, release=release, copy=file, options=given)
        except AngelError as error:
            if is_one:
                raise
            failed.append(source.name)
            typer.echo(str(error), err=True)
            continue
        options.print_counts(kb, folder or built_folder(source.name))
        target = folder or source.name
        typer.echo(f'Use it: spacy_angel.load(kb="{target}"), or --kb {target}')
    if failed:
        raise AngelError(
            f"{len(failed)} of {len(sources)} vocabularies could not be downloaded: "
            f"{' '.join(failed)}. Run the command again for them."
        )


@kb_app.command("update")
def kb_update(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KB]...", help="Names or folders; all fetched ones if not given."),
    ] = None,
) -> None:
    """Fetch vocabularies again and print what has changed.

    Rules (`kb add --concept`, `remove`, `rename`) are kept; files from `kb add` are added again.
    """
    from ..vocabulary.kb import RULES, ConceptKB
    from ..vocabulary.sources.build import repeat_additions, unrepeatable
    from ..vocabulary.sources.catalogue import find_source
    from ..vocabulary.sources.difference import compare_vocabularies
    from ..vocabulary.sources.fetch import fetch_record, fetch_vocabulary
    from ..vocabulary.sources.installed import find_vocabulary, installed_vocabularies

    for folder in [find_vocabulary(name) for name in names or installed_vocabularies()]:
        before, built = ConceptKB.from_disk(folder), ConceptKB.from_disk(folder, rules=False)
        record = fetch_record(built)
        if record is None:
            if names:
                raise AngelError(
                    f"{folder} was not downloaded, so it cannot be updated. Build it again."
                )
            continue
        if lost := unrepeatable(built):
            raise AngelError(
                f"[E141] {folder} has changes that cannot be repeated: {', '.join(lost)}. Fetch "
                "into another folder with `kb fetch -o`."
            )
        source, release = find_source(record["source"]), record["asked_release"]
        _announce(source, release, None)
        fetch_vocabulary(source, folder, release=release, options=record["options"])
        repeat_additions(folder, built)
        after = ConceptKB.from_disk(folder)
        options.print_counts(after, folder)
        for kind, pairs in compare_vocabularies(before, after).items():
            arrow = "→ " if kind in ("merged", "renamed") else " "
            typer.echo(f"{len(pairs):,} concepts {kind}")
            for first, second in pairs[:_SHOWN]:
                typer.echo(f"  {first} {arrow}{second}")
            if len(pairs) > _SHOWN:
                typer.echo(f"  … and {len(pairs) - _SHOWN:,} more")
        if (rules := folder / RULES).is_file():
            typer.echo(f"Check its rules: spacy-angel kb check {rules} --kb {folder}")


def _announce(source: "Source", release: str | None, file: Path | None) -> None:
    """Print the size and terms before downloading."""
    typer.echo(f"{source.title}\n  license: {source.licence}\n  terms: {source.terms}")
    if file is not None:
        typer.echo(f"  from the copy {file}")
        return
    address = source.addresses(release)[0].partition("&apiKey")[0]
    typer.echo(f"  about {source.megabytes:,} MB from {address}")


@kb_app.command("search")
def kb_search(
    kb: options.Vocabulary,
    text: Annotated[str, typer.Argument(help="Identifier, name, or beginning of a name.")],
    limit: Annotated[int, typer.Option("--limit", "-n", help="Maximum number of concepts.")] = 10,
) -> None:
    """Find concepts by identifier, name, the beginning of a name, or similar spelling."""
    from ..vocabulary.kb import ConceptKB
    from ..vocabulary.lookup.typed import search_concepts

    hits = search_concepts(ConceptKB.from_disk(kb), text, limit)
    for hit in hits:
        concept = hit.concept
        name = "" if hit.name == concept.canonical_name else f"  “{hit.name}”"
        types = f"  [{', '.join(concept.types)}]" if concept.types else ""
        typer.echo(f"{concept.concept_id}  {concept.canonical_name}{name}{types}")
    if not hits:
        typer.echo("No matching concept in the vocabulary.")
        raise typer.Exit(1)


@kb_app.command("check")
def kb_check(
    rules: Annotated[Path, typer.Argument(help="File of curation rules.")],
    kb: Annotated[
        Path,
        typer.Option(
            help="Vocabulary: folder, or name of a fetched one.", callback=options.located
        ),
    ],
    all_rules: Annotated[
        bool, typer.Option("--all", help="Also show the rules that are in effect.")
    ] = False,
) -> None:
    """Check curation rules: in conflict, obsolete, discrepant, superfluous, or in effect.

    Exits with 1 if a rule is in conflict, obsolete or discrepant, or if a row is invalid.
    """
    from wasabi import table

    from ..vocabulary.changes.check import IN_EFFECT, NEEDS_A_PERSON, STATES, check_rules
    from ..vocabulary.changes.rules import read_rules
    from ..vocabulary.kb import ConceptKB

    read = read_rules(rules)
    # A vocabulary's own rules are checked against the vocabulary without these rules.
    vocabulary = ConceptKB.from_disk(kb, rules=rules.resolve().parent != kb.resolve())
    findings = check_rules(read.rules, vocabulary)
    rows = []
    for state in STATES:
        found = [finding for finding in findings if finding.state == state]
        typer.echo(f"{len(found):>6,} {state}")
        if all_rules or state != IN_EFFECT:
            rows += [(str(f.rule.number), state, str(f.rule), f.note) for f in found]
    for number, problem in read.problems:
        typer.echo(f"Line {number} is skipped: {problem}.", err=True)
    if rows:
        header = ("line", "state", "rule", "note")
        aligns: list[Any] = ["r", "l", "l", "l"]
        typer.echo(table(rows, header=header, divider=True, aligns=aligns).strip("\n"))
    if read.problems or any(finding.state in NEEDS_A_PERSON for finding in findings):
        raise typer.Exit(1)


@kb_app.command("check-ids")
def kb_check_ids(
    table: Annotated[Path, typer.Argument(help="CSV, TSV, Excel or Parquet, with column names.")],
    ids: Annotated[str, typer.Option(help="Column with the identifiers.")],
    labels: Annotated[str, typer.Option(help="Column with the names.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Table to write.")],
    kb: options.OtherVocabulary = None,
    pipeline: options.Pipeline = None,
    context: Annotated[
        str | None, typer.Option(help="Column with texts that contain the names.")
    ] = None,
) -> None:
    """Check that identifiers in a table exist and match the names in the same rows.

    Exits with 1 unless all do.
    """
    from ..pipelines.check_ids import OK, STATUSES, check_table
    from ..pipelines.ground import Grounder

    grounder = Grounder(*options.open_source(pipeline, kb))
    counts = check_table(table, output, grounder, (ids, labels, context))
    for status in STATUSES:
        typer.echo(f"{counts[status]:>6,} {status}")
    typer.echo(f"Checked: {output}")
    if counts.total() > counts[OK]:
        raise typer.Exit(1)


@kb_app.command("add")
def kb_add(
    kb: options.Vocabulary,
    file: Annotated[
        Path | None,
        typer.Argument(help="Vocabulary file with new concepts or additional names."),
    ] = None,
    mentions: Annotated[
        Path | None,
        typer.Option(help="Training corpus whose mention strings become names of their concepts."),
    ] = None,
    concept: Annotated[
        str | None,
        typer.Option(help="Identifier of an existing or new concept that gets the names."),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(help="Name for --concept; the first is the canonical name of a new concept."),
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="Format of the file or corpus; inferred if not given.")
    ] = None,
    columns: options.Columns = None,
    option: options.ReaderOptions = None,
) -> None:
    """Add the concepts of a file, the mention strings of a corpus, or single names to a vocabulary.

    Single names are written as rules in its folder.
    """
    from ..vocabulary.changes.rules import NEW, Rule
    from ..vocabulary.kb import ConceptKB

    if sum(given is not None for given in (file, mentions, concept)) != 1:
        raise AngelError(
            "Give exactly one of a vocabulary file, `--mentions CORPUS` and `--concept ID`."
        )
    if (concept is None) != (not name):
        raise AngelError("--concept ID and --name NAME must be given together.")
    before = ConceptKB.from_disk(kb)
    if mentions is not None:
        from ..corpora.mention_names import mention_names
        from ..corpora.registry import read_corpus

        built = ConceptKB.from_disk(kb, rules=False)
        documents = read_corpus(mentions, format, **options.reader_options(option))
        step = built.add_mentions(mention_names(documents), str(mentions))
        built.to_disk(kb)
        typer.echo(f"{step['unknown_mentions']:,} mentions have an unknown identifier.")
    elif file is not None:
        from ..vocabulary.sources.build import add_vocabulary

        format, given = options.table_options(format, columns, option)
        added = add_vocabulary(kb, file, format=format, options=given)
        options.print_columns(added.meta["sources"][-1:])
    else:
        conditions = [] if concept in before else [NEW]
        ConceptKB.from_disk(kb).edit_stored(
            Rule("add", text, concept=concept or "", condition="".join(conditions[i:]))
            for i, text in enumerate(name or ())
        )
    after = ConceptKB.from_disk(kb)
    n_concepts, n_names = len(after) - len(before), after.n_names - before.n_names
    typer.echo(f"{n_concepts:,} concepts and {n_names:,} names added.")
    options.print_counts(after, kb)


@kb_app.command("remove")
def kb_remove(
    kb: options.Vocabulary,
    concept_ids: Annotated[list[str], typer.Argument(help="Identifiers of the concepts.")],
    name: Annotated[
        list[str] | None,
        typer.Option(help="Remove only this name, in all its spellings."),
    ] = None,
) -> None:
    """Remove concepts, or names of one concept. If one is unknown, nothing is removed."""
    from ..vocabulary.changes.rules import Rule
    from ..vocabulary.kb import ConceptKB

    if name and len(concept_ids) > 1:
        raise AngelError(f"--name needs exactly one concept, not {' '.join(concept_ids)}.")
    vocabulary = ConceptKB.from_disk(kb)
    vocabulary.edit_stored(
        Rule("remove", text, concept=own) for own in concept_ids for text in name or [""]
    )
    options.print_counts(vocabulary, kb)


@kb_app.command("rename")
def kb_rename(
    kb: options.Vocabulary,
    concept_id: Annotated[str, typer.Argument(help="Identifier of the concept.")],
    new: Annotated[str, typer.Argument(help="New canonical name; the old one becomes an alias.")],
    name: Annotated[
        str | None,
        typer.Option(help="Replace this name instead, in all its spellings."),
    ] = None,
) -> None:
    """Change the canonical name of a concept, or replace one of its names."""
    from ..vocabulary.changes.rules import Rule
    from ..vocabulary.kb import ConceptKB

    vocabulary = ConceptKB.from_disk(kb)
    vocabulary.edit_stored([Rule("rename", new, concept=concept_id, instead_of=name or "")])
    concept = vocabulary[concept_id]
    typer.echo(f"{concept.concept_id}  {'; '.join(concept.names)}")
