"""Options that several commands share, and what they stand for."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import AngelError, unknown_name

VocabularyFormat = Annotated[
    str | None,
    typer.Option("--format", help="Format of the vocabulary files; inferred if not given."),
]
CorpusFormat = Annotated[
    str | None,
    typer.Option("--format", help="Format of the corpus; inferred if not given."),
]
ReaderOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="NAME=VALUE",
        help="Option of the format's reader, e.g. `sources=MSH,NCI` or `languages=all` for UMLS; "
        "may be repeated.",
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        help="What the columns of a CSV or TSV hold, e.g. `id=Code,name=Label,synonyms=Other "
        "names,type=Kind`, by name or by number from 1; guessed if not given.",
    ),
]
SharedNames = Annotated[
    str,
    typer.Option(help="A name of several concepts leads to `all`, or to that with `fewer_names`."),
]
Suffixes = Annotated[
    str | None,
    typer.Option(
        "--suffixes",
        # Up to 0.2 it was called so.
        "--endings",
        help="Tell the concepts of one name apart in the search of a model that writes suffixes: "
        "by `species` where a type is a taxon (`NCBITaxon:9606`), by `types` (the same, else the "
        "first type), or by canonical `names`.",
    ),
]
Pipeline = Annotated[
    str | None,
    typer.Option(help="Pipeline with angel_linker: folder or package; else the shipped one."),
]
OwnPipeline = Annotated[str, typer.Argument(help="Pipeline with angel_linker: folder or package.")]
OtherVocabulary = Annotated[
    Path | None, typer.Option(help="Of what ships: another vocabulary, a folder or file.")
]
ReplacedVocabulary = Annotated[
    Path | None, typer.Option(help="Vocabulary in the place of the pipeline's own.")
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
ModelTokenizer = Annotated[
    str | None,
    typer.Option("--tokenizer", help="Of --model: folder or hub name, where its folder has none."),
]
ModelPreset = Annotated[
    str | None,
    typer.Option(
        "--preset",
        help="What --model was trained with, where neither its files nor its name say so, e.g. "
        "`genbioel`.",
    ),
]
Abbreviations = Annotated[
    str | None,
    typer.Option(help="Expand abbreviations of the corpus: `scispacy`, `ab3p`, or `keep` them."),
]


Author = Annotated[
    str, typer.Option(envvar="SPACY_ANGEL_AUTHOR", help="Who decides so, kept with the rules.")
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


def preprocessing_steps(preset: str | None, abbreviations: str | None) -> Any:
    """The preprocessing that was asked for, None where none was."""
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
    """Format and options of a vocabulary file; who names columns means a table of columns."""
    options = reader_options(values)
    if columns is None:
        return format, options
    return format or "columns", {**options, "columns": columns}


def print_columns(sources: list[dict[str, Any]]) -> None:
    """Say what the columns of tables were taken for."""
    for source in sources:
        if columns := source.get("columns"):
            separator = source["options"].get("separator", "|")
            several = f" (split at {separator!r})"
            pairs = ", ".join(
                f"{role} = {name}{several if role == 'synonyms' else ''}"
                for role, name in columns.items()
            )
            typer.echo(f"{source['path']}: {pairs}")


def print_mappings(sources: list[dict[str, Any]]) -> None:
    """Say what came of tables of mappings, and what was left out of them."""
    for source in sources:
        if source["format"] == "sssom":
            counts = (f"{n:,} {reason}" for reason, n in sorted(source["skipped"].items()))
            left_out = ", ".join(counts)
            typer.echo(
                f"{source['path']}: {source['mappings']:,} mappings; {source['added_ids']:,} "
                f"identifiers added to {source['mapped_concepts']:,} concepts"
                + (f"; left out: {left_out}" if left_out else "")
            )


def print_counts(kb: Any, folder: Path) -> None:
    """Say how many concepts and names a vocabulary has."""
    counts = kb.counts
    typer.echo(
        f"{counts['concepts']:,} concepts, {counts['spellings']:,} names ({counts['names']:,} in "
        f"normal form): {folder}"
    )
