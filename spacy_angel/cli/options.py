"""Options that several commands share, and their meaning."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import AngelError, missing_package, unknown_name

VocabularyFormat = Annotated[
    str | None, typer.Option("--format", help="Format of the files; inferred if not given.")
]
CorpusFormat = Annotated[
    str | None, typer.Option("--format", help="Format of the corpus; inferred if not given.")
]
ReaderOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="NAME=VALUE",
        help="Option of the format, e.g. `languages=all` for UMLS; may be repeated.",
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        help="Roles of the columns of a CSV or TSV, by name or number, e.g. "
        "`id=Code,name=Label,synonyms=Other names,type=Kind`; inferred if not given."
    ),
]
SharedNames = Annotated[
    str,
    typer.Option(help="Concepts of a shared name: `all`, or that with `fewer_names`."),
]
Pipeline = Annotated[
    str | None,
    typer.Option(help="Pipeline: folder or package; en_angel_mini if not given."),
]
OwnPipeline = Annotated[str, typer.Argument(help="Pipeline: folder or package.")]
OtherVocabulary = Annotated[
    Path | None, typer.Option(help="Vocabulary to use instead of the pipeline's own.")
]
Curation = Annotated[
    Path | None,
    typer.Option(help="File of curation rules; a service reloads it when it changes."),
]
NewFolder = Annotated[Path, typer.Option("--output", "-o", help="Folder to write.")]
Preset = Annotated[
    str | None,
    typer.Option(
        "--preprocessing",
        help="Published preprocessing: `ncbi-disease` (`ncbi-disease-train` for training), "
        "`bc5cdr`, `medmentions`, `cometa`, or `askapatient`.",
    ),
]
Abbreviations = Annotated[
    str | None,
    typer.Option(help="Expand abbreviations with `scispacy` or `ab3p`, or `keep` them."),
]
Author = Annotated[
    str, typer.Option(envvar="SPACY_ANGEL_AUTHOR", help="Your name, stored with the rules.")
]


def check_extra(extra: str, *packages: str) -> None:
    """Raise an error if an extra, which has the name of the command, is not installed."""
    for package in packages:
        if find_spec(package) is None:
            raise AngelError(missing_package(f"`spacy-angel {extra}`", package, extra))


def located(name: Path) -> Path:
    """Return the folder of a vocabulary that is given by its name."""
    from ..vocabulary.sources.installed import find_vocabulary

    return find_vocabulary(name)


Vocabulary = Annotated[
    Path,
    typer.Argument(
        metavar="KB", help="Vocabulary: folder, or name of a fetched one.", callback=located
    ),
]


def open_source(pipeline: str | None, kb: Path | None, curation: Path | None = None) -> Any:
    """Open the selected pipeline; return it and its linker."""
    from ..about import SHIPPED_NAME
    from ..pipelines.load import open_pipeline

    nlp, linker = open_pipeline(pipeline or SHIPPED_NAME, kb)
    if curation is not None:
        linker.settings.decision.curation = str(curation)
    return nlp, linker


def preprocessing_steps(preset: str | None, abbreviations: str | None) -> Any:
    """Return the selected preprocessing, or None."""
    if preset is None and abbreviations is None:
        return None
    from dataclasses import replace

    from ..corpora.preprocessing import PUBLISHED, Preprocessing

    if preset is not None and preset not in PUBLISHED:
        raise AngelError(unknown_name("preprocessing", preset, ", ".join(PUBLISHED)))
    steps = Preprocessing() if preset is None else PUBLISHED[preset]
    return steps if abbreviations is None else replace(steps, abbreviations=abbreviations)  # type: ignore[arg-type]


def reader_options(values: list[str] | None) -> dict[str, Any]:
    """`["sources=MSH,NCI", "all_names=yes"]` → `{"sources": "MSH,NCI", "all_names": "yes"}`; the
    reader converts them."""
    options: dict[str, Any] = {}
    for value in values or ():
        name, equals, content = value.partition("=")
        if not name or not equals:
            raise AngelError(f"--option needs NAME=VALUE, not {value!r}.")
        options[name] = content
    return options


def table_options(
    format: str | None, columns: str | None, values: list[str] | None
) -> tuple[str | None, dict[str, Any]]:
    """Return the format and options of a vocabulary file; columns imply a CSV or TSV."""
    options = reader_options(values)
    if columns is None:
        return format, options
    return format or "table", {**options, "columns": columns}


def print_columns(sources: list[dict[str, Any]]) -> None:
    """Print the roles of the columns of tables, and what was skipped."""
    for source in sources:
        if source.get("skipped"):
            counts = (f"{n:,} {reason}" for reason, n in source["skipped"].items())
            typer.echo(f"{source['path']}: left out {', '.join(counts)}")
        if columns := source.get("columns"):
            separator = source["options"].get("separator", "|")
            if "synonyms" in columns:
                columns = {**columns, "synonyms": f"{columns['synonyms']} (split at {separator!r})"}
            pairs = (f"{role} = {name}" for role, name in columns.items())
            typer.echo(f"{source['path']}: {', '.join(pairs)}")


def print_counts(kb: Any, folder: Path) -> None:
    """Print how many concepts and names a vocabulary has."""
    typer.echo(f"{len(kb):,} concepts, {kb.n_live_names:,} names: {folder}")
