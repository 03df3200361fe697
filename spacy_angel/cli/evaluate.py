"""`spacy-angel evaluate` and `spacy-angel compare`: metrics and reports."""

from pathlib import Path
from typing import Annotated

import typer

from . import options


def evaluate(
    pipeline: Annotated[
        str,
        typer.Argument(help="Pipeline (folder or package) or baseline (exact, tfidf)."),
    ],
    corpus: Annotated[Path, typer.Argument(help="Corpus with gold mentions.")],
    output: options.NewFolder,
    format: options.CorpusFormat = None,
    kb: Annotated[
        Path | None,
        typer.Option(help="Vocabulary (folder or file); the pipeline's own if not given."),
    ] = None,
    predicted: Annotated[
        bool, typer.Option("--predicted", help="Let the pipeline find the mentions.")
    ] = False,
    label: Annotated[
        list[str] | None,
        typer.Option(help="Evaluate only mentions with this label; may be repeated."),
    ] = None,
    train_names: Annotated[
        Path | None,
        typer.Option(help="Training corpus whose mention strings are added to the vocabulary."),
    ] = None,
    protocol: Annotated[
        list[str] | None,
        typer.Option(
            help="Also report a published protocol: belb (gold mentions), hunflair2 (predicted "
            "mentions), or document (identifiers of documents); may be repeated."
        ),
    ] = None,
    preprocessing: options.Preset = None,
    abbreviations: options.Abbreviations = None,
    option: options.ReaderOptions = None,
) -> None:
    """Evaluate a pipeline or a baseline, and write metrics, predictions, and a report."""
    from ..evaluation.files import REPORT
    from ..evaluation.report import figure_table, protocol_table
    from ..evaluation.run import evaluate as run

    metrics = run(
        pipeline,
        corpus,
        format,
        kb,
        output,
        predicted=predicted,
        labels=label or (),
        train_names=train_names,
        protocols=protocol or (),
        preprocessing=options.preprocessing_steps(preprocessing, abbreviations),
        corpus_options=options.reader_options(option),
    )
    coverage = f"{metrics['coverage']:.1f} % with a concept in the vocabulary"
    typer.echo(f"{metrics['mentions']:,} mentions, {coverage}\n")
    typer.echo(figure_table(metrics, ("lenient", "strict", "kb_id")))
    if predicted:
        typer.echo(f"\n{figure_table(metrics, ('detection', 'linking'))}")
    for name, figures in metrics.get("protocols", {}).items():
        typer.echo(f"\n{name}:\n{protocol_table(figures)}")
    typer.echo(f"\nReport: {output / REPORT}")


def compare(
    first: Annotated[Path, typer.Argument(help="Output folder of `evaluate`.")],
    second: Annotated[Path, typer.Argument(help="Another one, with the same mentions.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for a report.")
    ] = None,
) -> None:
    """Compare two evaluations of the same mentions."""
    from ..evaluation.compare import compare as run
    from ..evaluation.files import REPORT
    from ..evaluation.report import comparison_table

    typer.echo(comparison_table(run(first, second, output), (str(first), str(second))))
    if output is not None:
        typer.echo(f"Report: {output / REPORT}")
