"""Options that several commands share, and their meaning."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import AngelError, unknown_name

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
        help="Option of the format's reader, e.g. `languages=all` for UMLS; may be repeated.",
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        help="What the columns of a CSV or TSV hold, by name or number; guessed if not given. "
        "E.g. `id=Code,name=Label,synonyms=Other names,type=Kind`."
    ),
]
SharedNames = Annotated[
    str,
    typer.Option(help="A name of several concepts leads to `all`, or to that with `fewer_names`."),
]
Pipeline = Annotated[
    str | None,
    typer.Option(help="Pipeline with angel_linker: folder or package; else en_angel_mini."),
]
OwnPipeline = Annotated[str, typer.Argument(help="Pipeline with angel_linker: folder or package.")]
OtherVocabulary = Annotated[
    Path | None, typer.Option(help="Vocabulary that replaces the pipeline's own.")
]
Curation = Annotated[
    Path | None,
    typer.Option(help="File of rules, as the setting `curation`; a service reads it again."),
]
NewFolder = Annotated[Path, typer.Option("--output", "-o", help="Folder to write.")]
Preset = Annotated[
    str | None,
    typer.Option(
        "--preprocessing",
        help="Published preprocessing of the corpus: `ncbi-disease` (to train on: "
        "`ncbi-disease-train`), `bc5cdr`, `medmentions`, `cometa`, `askapatient`.",
    ),
]
Abbreviations = Annotated[
    str | None,
    typer.Option(help="Expand abbreviations of the corpus: `scispacy`, `ab3p`, or `keep` them."),
]
Author = Annotated[
    str, typer.Option(envvar="SPACY_ANGEL_AUTHOR", help="Your name, kept with the rules.")
]


def located(name: Path) -> Path:
    """The folder of a vocabulary that is given by its name."""
    from ..vocabulary.sources.installed import find_vocabulary

    return find_vocabulary(name)


Vocabulary = Annotated[
    Path,
    typer.Argument(
        metavar="KB", help="Vocabulary: folder, or name of one that was fetched.", callback=located
    ),
]


def open_source(pipeline: str | None, kb: Path | None, curation: Path | None = None) -> Any:
    """The pipeline that was asked for, and its linker."""
    from ..about import SHIPPED_NAME
    from ..pipelines.load import open_pipeline

    nlp, linker = open_pipeline(pipeline or SHIPPED_NAME, kb)
    if curation is not None:
        linker.settings.decision.curation = str(curation)
    return nlp, linker


def preprocessing_steps(preset: str | None, abbreviations: str | None) -> Any:
    """The preprocessing that was asked for, or None."""
    if preset is None and abbreviations is None:
        return None
    from dataclasses import replace

    from ..corpora.preprocessing import PUBLISHED, Preprocessing

    if preset is not None and preset not in PUBLISHED:
        raise AngelError(unknown_name("preprocessing", preset, ", ".join(PUBLISHED)))
    steps = Preprocessing() if preset is None else PUBLISHED[preset]
    return steps if abbreviations is None else replace(steps, abbreviations=abbreviations)  # type: ignore[arg-type]


def read_prepared(
    corpus: Path, format: str | None, steps: Any, kb: Any, options: dict[str, Any]
) -> Any:
    """Documents of a corpus after the steps, if any."""
    from ..corpora.preprocessing import preprocess
    from ..corpora.registry import read_corpus

    documents = read_corpus(corpus, format, **options)
    return documents if steps is None else preprocess(documents, steps, known=kb)


def reader_options(values: list[str] | None) -> dict[str, Any]:
    """`["sources=MSH,NCI", "suppressed=yes"]` → `{"sources": "MSH,NCI", "suppressed": "yes"}`; the
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
    """Format and options of a vocabulary file; columns mean a CSV or TSV."""
    options = reader_options(values)
    if columns is None:
        return format, options
    return format or "table", {**options, "columns": columns}


def print_columns(sources: list[dict[str, Any]]) -> None:
    """Print what the columns of tables were taken for, and what was left out."""
    for source in sources:
        if source["format"] != "sssom" and source.get("skipped"):
            counts = (f"{n:,} {reason}" for reason, n in source["skipped"].items())
            typer.echo(f"{source['path']}: left out {', '.join(counts)}")
        if columns := source.get("columns"):
            separator = source["options"].get("separator", "|")
            if "synonyms" in columns:
                columns = {**columns, "synonyms": f"{columns['synonyms']} (split at {separator!r})"}
            pairs = (f"{role} = {name}" for role, name in columns.items())
            typer.echo(f"{source['path']}: {', '.join(pairs)}")


def print_mappings(sources: list[dict[str, Any]]) -> None:
    """Print what mapping tables added, and what was skipped."""
    for source in sources:
        if source["format"] == "sssom":
            counts = ", ".join(f"{n:,} {reason}" for reason, n in sorted(source["skipped"].items()))
            typer.echo(
                f"{source['path']}: {source['mappings']:,} mappings; {source['added_ids']:,} "
                f"identifiers added to {source['mapped_concepts']:,} concepts; "
                f"left out: {counts or 'none'}"
            )


def print_counts(kb: Any, folder: Path) -> None:
    """Print how many concepts and names a vocabulary has."""
    counts = kb.counts
    typer.echo(
        f"{counts['concepts']:,} concepts, {counts['spellings']:,} names ({counts['names']:,} in "
        f"normal form): {folder}"
    )
