"""`spacy-angel kb fetch|update`: published vocabularies by name, and their releases."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import AngelError
from .options import ReaderOptions, print_counts, reader_options

if TYPE_CHECKING:
    from ..vocabulary.sources.catalogue import Source
    from ..vocabulary.sources.difference import Difference
    from ..vocabulary.sources.fetch import Request

_SHOWN = 5


def kb_fetch(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Vocabularies of the catalogue; none prints it."),
    ] = None,
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
    catalogue: Annotated[
        bool, typer.Option("--list", help="Print the catalogue, and what is built.")
    ] = False,
) -> None:
    """Fetch published vocabularies and build them; without a name, list them. If some of several
    fail, they are named at the end, and the same command goes on with them."""
    from ..vocabulary.sources.catalogue import find_source
    from ..vocabulary.sources.fetch import Request, parse_taxa

    if catalogue or not names:
        _list_catalogue()
        return
    sources = [find_source(name) for name in dict.fromkeys(names)]
    options = reader_options(option)
    if len(sources) == 1:
        _fetch(sources[0], output, Request(release, parse_taxa(taxon)), file, options)
        return
    if release or file or option:
        raise AngelError("--release, --file and --option cannot be used with several vocabularies.")
    failed = []
    for source in sources:
        request = Request(None, parse_taxa(taxon) if source.taxa else ())
        folder = None if output is None else output / source.name
        try:
            _fetch(source, folder, request, None, {})
        except AngelError as error:
            failed.append(source.name)
            typer.echo(str(error), err=True)
    if failed:
        raise AngelError(
            f"{len(failed)} of {len(sources)} vocabularies could not be downloaded: "
            f"{' '.join(failed)}. Run the command again for them."
        )


def _list_catalogue() -> None:
    """Print the published vocabularies that can be fetched, and those that are built."""
    from ..vocabulary.sources.catalogue import read_catalogue
    from ..vocabulary.sources.installed import installed_vocabularies

    for source in read_catalogue().values():
        typer.echo(f"{source.name:<20} {source.megabytes:>5,} MB  {source.title}")
        typer.echo(f"{'':<30}{source.licence}")
    for name, folder in installed_vocabularies().items():
        typer.echo(f"Built: {name:<20} {folder}")


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
    name = output or source.name
    typer.echo(f'Use it: spacy_angel.load(kb="{name}"), or --kb {name}')


def kb_update(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KB]...", help="Names or folders; else all that were fetched."),
    ] = None,
) -> None:
    """Fetch vocabularies anew, and say what has changed in them. Rules beside them (`kb add
    --concept`, `remove`, `rename`) stay, and files that were added are added again."""
    from ..vocabulary.kb import RULES, ConceptKB
    from ..vocabulary.sources.build import repeat_additions, unrepeatable
    from ..vocabulary.sources.catalogue import find_source
    from ..vocabulary.sources.difference import compare_vocabularies
    from ..vocabulary.sources.fetch import fetch_vocabulary, fetched_as
    from ..vocabulary.sources.installed import find_vocabulary, installed_vocabularies

    for folder in [find_vocabulary(name) for name in names or installed_vocabularies()]:
        before, built = ConceptKB.from_disk(folder), ConceptKB.from_disk(folder, rules=False)
        fetched = fetched_as(built)
        if fetched is None:
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
        name, request = fetched
        source = find_source(name)
        _announce(source, request, None)
        fetch_vocabulary(source, folder, request=request)
        repeat_additions(folder, built)
        after = ConceptKB.from_disk(folder)
        print_counts(after, folder)
        _print_difference(compare_vocabularies(before, after))
        if (rules := folder / RULES).is_file():
            typer.echo(f"Which of its rules still hold: spacy-angel kb check {rules} --kb {folder}")


def _print_difference(difference: "Difference") -> None:
    """Say how many concepts were added, removed, merged and renamed, and show the first."""
    for kind in ("added", "gone", "merged", "renamed"):
        pairs = getattr(difference, kind)
        typer.echo(f"{len(pairs):,} concepts {kind}")
        for first, second in pairs[:_SHOWN]:
            arrow = "→ " if kind in ("merged", "renamed") else " "
            typer.echo(f"  {first} {arrow}{second}")
        if len(pairs) > _SHOWN:
            typer.echo(f"  … and {len(pairs) - _SHOWN:,} more")
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
