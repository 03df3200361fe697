"""Command line `spacy-angel`. Only typer is imported at the top: help answers at once."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ..errors import AngelError, Errors


class _Commands(TyperGroup):
    """Known errors end with their message and exit code 1, without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # `spacy-angel … | head`: typer ends quietly
            raise
        except (AngelError, OSError) as error:
            typer.echo(f"Error: {error}", err=True)
            raise typer.Exit(1) from error


app = typer.Typer(
    cls=_Commands,
    help="Biomedical entity linking in spaCy by constrained generation of concept names.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
kb_app = typer.Typer(help="Build, read and change vocabularies.", no_args_is_help=True)
app.add_typer(kb_app, name="kb")

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
SharedNames = Annotated[
    str,
    typer.Option(help="A name of several concepts leads to `all`, or to that with `fewer_names`."),
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


@kb_app.command("build")
def kb_build(
    files: Annotated[list[Path], typer.Argument(help="Files, or folders of UMLS and SNOMED CT.")],
    output: NewFolder,
    format: VocabularyFormat = None,
    shared_names: SharedNames = "all",
    option: ReaderOptions = None,
) -> None:
    """Build a vocabulary from the files it is published in."""
    from ..vocabulary.build import build_vocabulary

    kb = build_vocabulary(
        files,
        output,
        format=format,
        shared_names=shared_names,  # type: ignore[arg-type]  # checked by ConceptKB.build
        options=_reader_options(option),
    )
    _print_counts(kb, output)


@kb_app.command("info")
def kb_info(
    folder: Annotated[Path, typer.Argument(help="Vocabulary.")],
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare every byte with the checksums first.")
    ] = False,
) -> None:
    """Print counts, sources and steps of a vocabulary."""
    from ..vocabulary.kb import ConceptKB

    if verify:
        ConceptKB.verify(folder)
    kb = ConceptKB.from_disk(folder)
    meta = kb.meta
    _print_counts(kb, folder)
    for key, value in meta["counts"].items():
        typer.echo(f"  {key:<24} {_number(value)}")
    types = sorted(kb.types)
    if types:
        typer.echo(f"  type names: {', '.join(types[:12])}{', …' if len(types) > 12 else ''}")
    typer.echo(f"  a name of several concepts leads to: {meta['shared_names']}")
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
    format: Annotated[
        str | None,
        typer.Option(help="Format of the file or corpus; inferred if not given."),
    ] = None,
    preprocessing: Preset = None,
    abbreviations: Abbreviations = None,
    option: ReaderOptions = None,
) -> None:
    """Add concepts of a file, or mention strings of a training corpus, to a vocabulary."""
    from ..corpora.mention_names import add_corpus_mentions
    from ..vocabulary.build import add_vocabulary
    from ..vocabulary.kb import ConceptKB

    if (file is None) == (mentions is None):
        raise AngelError(Errors.E701)
    before = ConceptKB.from_disk(folder)
    if mentions is None:
        assert file is not None
        kb = add_vocabulary(folder, file, format=format, options=_reader_options(option))
        typer.echo(
            f"{len(kb) - len(before):,} concepts and {kb.n_names - before.n_names:,} names added."
        )
    else:
        steps = _steps(preprocessing, abbreviations)
        documents = _read_prepared(mentions, format, steps, before, _reader_options(option))
        step = add_corpus_mentions(folder, documents, str(mentions))
        typer.echo(
            f"{step['added_names']:,} names added; {step['unknown_mentions']:,} mentions have an "
            "identifier that is not in the vocabulary."
        )
        kb = ConceptKB.from_disk(folder)
    _print_counts(kb, folder)


@kb_app.command("merge")
def kb_merge(
    folders: Annotated[list[Path], typer.Argument(help="Vocabularies, in order of precedence.")],
    output: NewFolder,
    shared_names: Annotated[
        str | None,
        typer.Option(help="As for `kb build`; needed where the vocabularies' rules differ."),
    ] = None,
) -> None:
    """Join vocabularies; the first one's canonical names stay."""
    from ..vocabulary.kb import ConceptKB

    kbs = [ConceptKB.from_disk(folder) for folder in folders]
    kb = ConceptKB.merge(kbs, output, shared_names=shared_names)  # type: ignore[arg-type]
    _print_counts(kb, output)


@app.command()
def corpus(
    files: Annotated[list[Path], typer.Argument(help="Corpus files, one after the other.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="BioC JSON file to write.")],
    kb: Annotated[
        Path | None,
        typer.Option(help="Vocabulary, a folder or file, that tells which mentions are known."),
    ] = None,
    format: CorpusFormat = None,
    preprocessing: Preset = None,
    abbreviations: Abbreviations = None,
    option: ReaderOptions = None,
) -> None:
    """Write corpora as training reads them: preprocessed, with the steps recorded."""
    from ..corpora.convert import prepare_corpus
    from ..linking.loaders import load_vocabulary

    steps = _steps(preprocessing, abbreviations)
    if kb is None and steps is not None and steps.unknown == "drop":
        raise AngelError(Errors.E710.format(preset=preprocessing))
    known = None if kb is None else load_vocabulary(kb)
    report = prepare_corpus(
        files, output, format=format, steps=steps, known=known, options=_reader_options(option)
    )
    for key, value in sorted(report.counts.items()):
        typer.echo(f"  {key:<24} {value:,}")
    typer.echo(
        f"{report.counts['documents_written']:,} documents, "
        f"{report.counts['mentions_written']:,} mentions: {output}"
    )


@app.command()
def link(
    text: Annotated[str | None, typer.Argument(help="Text to link.")] = None,
    file: Annotated[
        Path | None,
        typer.Option(help="Text file to link in place of TEXT."),
    ] = None,
    pipeline: Annotated[
        str | None,
        typer.Option(help="Pipeline with angel_linker: folder or package; else the shipped one."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="Without --pipeline: another model, a folder or hub name."),
    ] = None,
    kb: Annotated[
        Path | None,
        typer.Option(help="Without --pipeline: another vocabulary, a folder or file."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(help="Also write a page with the links."),
    ] = None,
) -> None:
    """Link a text and print a line for each mention."""
    from ..linking.mentions import find_spans
    from ..linking.page import link_table, write_page
    from ..pipelines.open import open_pipeline
    from ..pipelines.shipped import load

    if (text is None) == (file is None):
        raise AngelError(Errors.E702)
    if pipeline is not None and (model is not None or kb is not None):
        raise AngelError(Errors.E703)
    nlp, linker = open_pipeline(pipeline if pipeline is not None else load(model=model, kb=kb))
    doc = nlp(file.read_text(encoding="utf8") if file is not None else text or "")
    typer.echo(link_table(doc, linker))
    if not find_spans(doc, linker.settings.span_key):
        typer.echo("No mentions found. The recogniser that ships knows diseases and chemicals.")
    if html is not None:
        write_page(doc, linker, html)
        typer.echo(f"Page with the links: {html}")


@app.command()
def info() -> None:
    """Print versions, what ships, and the known formats."""
    from importlib.metadata import version

    from ..about import __version__
    from ..corpora.registry import FORMATS as corpus_formats
    from ..linking.loaders import SHIPPED_PIPELINE
    from ..vocabulary.formats.registry import FORMATS as vocabulary_formats

    typer.echo(f"spacy-angel {__version__}")
    for package in ("spacy", "torch", "transformers", "scispacy", "numpy"):
        typer.echo(f"  {package:<14} {version(package)}")
    typer.echo(f"  en_angel_mini  {SHIPPED_PIPELINE}")
    typer.echo(f"Vocabulary formats: {', '.join(vocabulary_formats)}")
    typer.echo(f"Corpus formats: {', '.join(corpus_formats)}")


@app.command()
def calibrate(
    pipeline: Annotated[str, typer.Argument(help="Pipeline with angel_linker: folder or package.")],
    corpus: Annotated[Path, typer.Argument(help="Development corpus with gold mentions.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for the pipeline with the fitted settings."),
    ] = None,
    format: CorpusFormat = None,
    preprocessing: Preset = None,
    abbreviations: Abbreviations = None,
    option: ReaderOptions = None,
) -> None:
    """Fit temperature, threshold and min_log_prob on a development corpus."""
    from ..pipelines.calibrate import calibrate_on
    from ..pipelines.open import open_pipeline

    nlp, linker = open_pipeline(pipeline)
    steps = _steps(preprocessing, abbreviations)
    documents = _read_prepared(corpus, format, steps, linker.kb, _reader_options(option))
    fitted = calibrate_on(nlp, linker, documents)
    typer.echo(fitted.report())
    if output is None:
        typer.echo("Nothing is written: give `-o FOLDER` to save the pipeline with these settings.")
    else:
        nlp.to_disk(output)
        typer.echo(f"Pipeline: {output}")


@app.command()
def evaluate(
    pipeline: Annotated[
        str,
        typer.Argument(
            help="Pipeline with angel_linker: folder, package or en_angel_mini; or a baseline: "
            "exact, tfidf, scispacy, scispacy-hnsw."
        ),
    ],
    corpus: Annotated[Path, typer.Argument(help="Corpus with gold mentions.")],
    output: NewFolder,
    format: CorpusFormat = None,
    kb: Annotated[
        Path | None,
        typer.Option(help="Vocabulary to link to, a folder or file; else the pipeline's own."),
    ] = None,
    predicted: Annotated[
        bool, typer.Option("--predicted", help="The pipeline finds the mentions itself.")
    ] = False,
    k: Annotated[int, typer.Option("-k", help="Accuracies at 1 to k.")] = 5,
    label: Annotated[
        list[str] | None, typer.Option(help="Only mentions with this label; may be repeated.")
    ] = None,
    train: Annotated[
        Path | None, typer.Option(help="Training corpus, to tell what was seen.")
    ] = None,
    train_names: Annotated[
        bool, typer.Option("--train-names", help="Its mention strings become names as well.")
    ] = False,
    negatives: Annotated[
        int, typer.Option(help="Names of other concepts to score for each mention.")
    ] = 0,
    preprocessing: Preset = None,
    abbreviations: Abbreviations = None,
    option: ReaderOptions = None,
) -> None:
    """Evaluate a pipeline or a baseline; write metrics, predictions and a report."""
    from ..evaluation.report import REPORT
    from ..evaluation.run import evaluate as run

    metrics = run(
        pipeline,
        corpus,
        format,
        kb,
        output,
        predicted=predicted,
        k=k,
        labels=label or (),
        train=train,
        train_names=train_names,
        negatives=negatives,
        preprocessing=_steps(preprocessing, abbreviations),
        corpus_options=_reader_options(option),
    )
    typer.echo(
        f"{metrics['mentions']:,.0f} mentions, {metrics['coverage']:.1f} % with a concept of the "
        f"vocabulary, {metrics['mentions_per_second']:,.1f} a second"
    )
    for count in ("lenient", "strict"):
        figures = {key: v for key, v in metrics[count].items() if key.startswith("acc@")}
        values = "  ".join(f"{key} {value:.1f}" for key, value in figures.items())
        typer.echo(f"  {count:<8} {values}")
    typer.echo(f"Report: {output / REPORT}")


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(help="Folder that `evaluate` wrote.")],
    second: Annotated[Path, typer.Argument(help="Another one, of the same mentions.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for a report of both.")
    ] = None,
) -> None:
    """Compare two evaluations of the same mentions."""
    from ..evaluation.compare import compare as run
    from ..evaluation.report import REPORT

    comparison = run(first, second, output)
    for count in ("lenient", "strict"):
        values = comparison[count]
        typer.echo(
            f"{count}: {values['a']:.1f} against {values['b']:.1f} % at rank 1 "
            f"of {values['mentions']:,} mentions"
        )
        for part in ("counts", "test"):
            shown = ", ".join(f"{key} {_figure(value)}" for key, value in values[part].items())
            typer.echo(f"  {shown}")
    typer.echo(
        "p_bootstrap: how surprising the difference is. p_t_test: the ANGEL paper's test, whose p "
        "falls with the number of resamples; quote it beside the paper's only."
    )
    if output is not None:
        typer.echo(f"Report: {output / REPORT}")


@app.command()
def annotate(
    inputs: Annotated[
        list[str], typer.Argument(help="Files or folders; with --ray also object stores.")
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="Folder, new or that of the run to continue.")
    ],
    pipeline: Annotated[
        str | None,
        typer.Option(help="Pipeline with angel_linker: folder or package; else the shipped one."),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(help="Format of the inputs; inferred from each if not given."),
    ] = None,
    to: Annotated[
        str, typer.Option(help="Output: jsonl, parquet, pubtator, bioc_json or docbin.")
    ] = "jsonl",
    mentions: Annotated[
        str,
        typer.Option(
            help="Take the entities of the `input`, find them with the `pipeline`, or `auto`: "
            "take them where a document has any."
        ),
    ] = "auto",
    candidates: Annotated[
        bool, typer.Option("--candidates", help="Give out all candidates of a mention.")
    ] = False,
    cache: Annotated[
        bool, typer.Option("--cache", help="Search equal mentions in equal context once a shard.")
    ] = False,
    shard_size: Annotated[int, typer.Option(help="Documents of a shard.")] = 1000,
    batch_size: Annotated[
        int, typer.Option(help="Documents that go through the pipeline together.")
    ] = 64,
    workers: Annotated[int, typer.Option(help="Processes; with `--device cuda` for each GPU.")] = 1,
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda:1, or cuda for every GPU; else the pipeline's.")
    ] = None,
    ray: Annotated[str | None, typer.Option(help="Address of a Ray cluster, or `local`.")] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at a fault instead of recording it.")
    ] = False,
    option: ReaderOptions = None,
) -> None:
    """Annotate large document sets; started again, it goes on where it was interrupted."""
    from ..annotation.run import annotate as run

    manifest = run(
        inputs,
        pipeline,
        output=output,
        input_format=format,
        output_format=to,
        mentions=mentions,  # type: ignore[arg-type]  # checked by annotate
        candidates=candidates,
        cache=cache,
        shard_size=shard_size,
        batch_size=batch_size,
        workers=workers,
        device=device,
        ray=ray,
        strict=strict,
        options=_reader_options(option),
    )
    counts = ", ".join(f"{value:,} {name}" for name, value in manifest["counts"].items())
    typer.echo(f"{counts}: {output}")
    broken = [source for source in manifest.get("inputs", ()) if source.get("error")]
    for source in manifest.get("inputs", ()):
        if source.get("error"):
            typer.echo(f"Not read to its end: {source['error']}", err=True)
        elif faults := source.get("counts", {}).get("faults"):
            typer.echo(f"{source['name']}: {faults:,} faults, see the manifest", err=True)
    if broken:
        raise typer.Exit(1)


def _steps(preset: str | None, abbreviations: str | None) -> Any:
    """The preprocessing that was asked for, None where none was."""
    if preset is None and abbreviations is None:
        return None
    from dataclasses import replace

    from ..corpora.preprocessing import PUBLISHED, Preprocessing

    if preset is not None and preset not in PUBLISHED:
        raise AngelError(Errors.E705.format(preset=preset, known=", ".join(PUBLISHED)))
    steps = Preprocessing() if preset is None else PUBLISHED[preset]
    return steps if abbreviations is None else replace(steps, abbreviations=abbreviations)  # type: ignore[arg-type]


def _read_prepared(
    corpus: Path, format: str | None, steps: Any, kb: Any, options: dict[str, Any]
) -> Any:
    """Documents of a corpus after the steps, if any."""
    from ..corpora.preprocessing import preprocess
    from ..corpora.registry import read_corpus

    documents = read_corpus(corpus, format, **options)
    return documents if steps is None else preprocess(documents, steps, known=kb)


def _reader_options(values: list[str] | None) -> dict[str, Any]:
    """`["sources=MSH,NCI", "suppressed=yes"]` → `{"sources": "MSH,NCI", "suppressed": "yes"}`; the
    reader converts them."""
    options: dict[str, Any] = {}
    for value in values or ():
        name, equals, content = value.partition("=")
        if not name or not equals:
            raise AngelError(Errors.E704.format(value=value))
        options[name] = content
    return options


def _print_counts(kb: Any, folder: Path) -> None:
    counts = kb.meta["counts"]
    typer.echo(
        f"{counts['concepts']:,} concepts, {counts['spellings']:,} names "
        f"({counts['names']:,} in normal form): {folder}"
    )


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _figure(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
