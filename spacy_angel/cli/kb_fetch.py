"""`spacy-angel kb fetch|list|update|diff`: published vocabularies by name, and their releases."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import AngelError
from .options import ReaderOptions, Vocabulary, located, print_counts, reader_options

if TYPE_CHECKING:
    from ..vocabulary.kb import ConceptKB
    from ..vocabulary.sources.catalogue import Source
    from ..vocabulary.sources.difference import Difference
    from ..vocabulary.sources.fetch import Request

_SHOWN = 5


def kb_fetch(
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME...", help="Of the catalogue: `spacy-angel kb list`."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Folder, of several names one with a folder for each; else where `load(kb=NAME)` "
            "looks for it.",
        ),
    ] = None,
    release: Annotated[
        str | None, typer.Option(help="A release, as its publisher names it; else the newest.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option(help="A copy that was fetched elsewhere, a file or folder.")
    ] = None,
    taxon: Annotated[
        str | None, typer.Option(help="Species by NCBI Taxonomy, e.g. 9606,10090.")
    ] = None,
    option: ReaderOptions = None,
) -> None:
    """Fetch published vocabularies and build them; of several those that fail are named at the end,
    and the same command goes on with them."""
    from ..vocabulary.sources.catalogue import find_source
    from ..vocabulary.sources.fetch import Request, parse_taxa

    sources = [find_source(name) for name in dict.fromkeys(names)]
    options = reader_options(option)
    if len(sources) == 1:
        _fetch(sources[0], output, Request(release, parse_taxa(taxon)), file, options)
        return
    given = {"--release": release, "--file": file, "--option": option}
    if alone := [name for name, value in given.items() if value]:
        raise AngelError(
            f"{', '.join(alone)} cannot be used with several vocabularies: {' '.join(names)}."
        )
    failed = {}
    for source in sources:
        request = Request(None, parse_taxa(taxon) if source.taxa else ())
        folder = None if output is None else output / source.name
        try:
            _fetch(source, folder, request, None, {})
        except AngelError as error:
            failed[source.name] = str(error)
            typer.echo(str(error), err=True)
    if failed:
        raise AngelError(
            f"{len(failed)} of {len(sources)} vocabularies could not be downloaded: "
            f"{' '.join(failed)}. Run the command again for them."
        )


def _fetch(
    source: "Source",
    output: Path | None,
    request: "Request",
    file: Path | None,
    options: dict[str, Any],
) -> None:
    """Fetch and build one, and say how to use it."""
    from ..vocabulary.sources.fetch import fetch_vocabulary
    from ..vocabulary.sources.installed import built_folder

    _announce(source, request, file)
    kb = fetch_vocabulary(source, output, request=request, copy=file, options=options)
    print_counts(kb, output or built_folder(source.name))
    given = f'"{source.name}"' if output is None else f'"{output}"'
    typer.echo(f"Use it: spacy_angel.load(kb={given}), or --kb {given.strip(chr(34))}")


def kb_list() -> None:
    """List the published vocabularies that can be fetched, and those that are built."""
    from ..vocabulary.kb import ConceptKB
    from ..vocabulary.sources.catalogue import read_catalogue
    from ..vocabulary.sources.installed import installed_vocabularies

    for source in read_catalogue().values():
        typer.echo(f"{source.name:<20} {source.megabytes:>5,} MB  {source.title}")
        typer.echo(f"{'':<30}{source.licence}")
    built = installed_vocabularies()
    typer.echo("Built:" if built else "None is built yet: `spacy-angel kb fetch NAME`.")
    for name, folder in built.items():
        kb = ConceptKB.from_disk(folder)
        releases = {str(s["release"]) for s in kb.meta["sources"] if s.get("release")}
        release = f", release {', '.join(sorted(releases))}" if releases else ""
        typer.echo(f"  {name:<20} {len(kb):>9,} concepts{release}: {folder}")


def kb_update(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KB]...", help="Names or folders; else all that were fetched."),
    ] = None,
    drop_changes: Annotated[
        bool,
        typer.Option(
            "--drop-changes", help="Also those with changes that cannot be repeated; they are lost."
        ),
    ] = False,
) -> None:
    """Fetch vocabularies anew, and say what has changed in them. Rules beside them (`kb add
    --concept`, `remove`, `rename`) stay, and files that were added are added again."""
    from ..vocabulary.kb import RULES, ConceptKB
    from ..vocabulary.sources.build import repeat_additions, unrepeatable
    from ..vocabulary.sources.catalogue import find_source
    from ..vocabulary.sources.difference import compare_vocabularies
    from ..vocabulary.sources.fetch import fetch_vocabulary, fetched_as
    from ..vocabulary.sources.installed import find_vocabulary, installed_vocabularies
    from ..vocabulary.sources.older_changes import convert_changes

    folders = [find_vocabulary(name) for name in names or installed_vocabularies()]
    for folder in folders:
        convert_changes(folder)
        before, built = ConceptKB.from_disk(folder), ConceptKB.from_disk(folder, rules=False)
        fetched = fetched_as(built)
        if fetched is None:
            if names:
                raise AngelError(
                    f"{folder} was not downloaded, so it cannot be updated. Build it again."
                )
            continue
        if (lost := unrepeatable(built)) and not drop_changes:
            raise AngelError(
                f"[E141] {folder} has changes that cannot be repeated: {', '.join(lost)}. Use "
                "another folder with -o, or --drop-changes."
            )
        name, request = fetched
        source = find_source(name)
        _announce(source, request, None)
        fetch_vocabulary(source, folder, request=request)
        repeat_additions(folder, built)
        after = ConceptKB.from_disk(folder)
        print_counts(after, folder)
        _print_difference(compare_vocabularies(before, after), before, after)
        if (rules := folder / RULES).is_file():
            typer.echo(f"Which of its rules still hold: spacy-angel kb check {rules} --kb {folder}")


def kb_diff(
    old: Vocabulary,
    new: Annotated[Path, typer.Argument(help="Another vocabulary.", callback=located)],
) -> None:
    """Say what changes from one vocabulary to another: concepts added, gone, merged, renamed."""
    from ..vocabulary.kb import ConceptKB
    from ..vocabulary.sources.difference import compare_vocabularies

    before, after = ConceptKB.from_disk(old), ConceptKB.from_disk(new)
    _print_difference(compare_vocabularies(before, after), before, after)


def _print_difference(difference: "Difference", old: "ConceptKB", new: "ConceptKB") -> None:
    """Say how many concepts were added, went, were merged and renamed, and show the first."""
    added = [f"{c}  {new[c].canonical_name}" for c in difference.added[:_SHOWN]]
    gone = [f"{c}  {old[c].canonical_name}" for c in difference.gone[:_SHOWN]]
    merged = [f"{c} → {now}" for c, now in difference.merged[:_SHOWN]]
    renamed = [f"{c}  {was} → {now}" for c, was, now in difference.renamed[:_SHOWN]]
    for title, n, shown in (
        ("concepts added", len(difference.added), added),
        ("concepts gone", len(difference.gone), gone),
        ("concepts merged into others", len(difference.merged), merged),
        ("concepts renamed", len(difference.renamed), renamed),
    ):
        typer.echo(f"{n:,} {title}")
        for line in shown:
            typer.echo(f"  {line}")
        if n > len(shown):
            typer.echo(f"  … and {n - len(shown):,} more")
    typer.echo(
        f"{difference.names_added:,} names added and {difference.names_gone:,} gone "
        "among the concepts in both"
    )


def _announce(source: "Source", request: "Request", file: Path | None) -> None:
    """Say what comes, how much of it, and under which terms, before anything is fetched."""
    typer.echo(f"{source.title}\n  licence: {source.licence}\n  terms: {source.terms}")
    if file is not None:
        typer.echo(f"  from the copy {file}")
        return
    for address in source.addresses(request.release, request.taxa):
        typer.echo(f"  about {source.megabytes:,} MB from {address.partition('&apiKey')[0]}")
