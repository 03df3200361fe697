"""`spacy-angel evaluate` and `spacy-angel compare`: metrics and reports."""

from pathlib import Path
from typing import Annotated, Any

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
    _print_metrics(metrics)
    typer.echo(f"Report: {output / REPORT}")


def _print_metrics(metrics: dict[str, Any]) -> None:
    typer.echo(
        f"{metrics['mentions']:,} mentions, {metrics['coverage']:.1f} % with a concept in the "
        "vocabulary"
    )
    for count in ("lenient", "strict", "kb_id"):
        _print_rates(count, {k: v for k, v in metrics[count].items() if k.startswith("acc@")})
    if metrics["run"]["predicted"]:
        _print_rates("found", metrics["detection"])
        _print_rates("links", metrics["linking"])
    for name, figures in metrics.get("protocols", {}).items():
        _print_rates(name, figures.get("micro", figures))


def _print_rates(title: str, figures: dict[str, Any]) -> None:
    rates = [f"{name} {value:.1f}" for name, value in figures.items() if isinstance(value, float)]
    if rates:
        typer.echo(f"  {title:<8} {'  '.join(rates)}")


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

    comparison = run(first, second, output)
    for count in ("lenient", "strict", "kb_id"):
        values = comparison[count]
        test = values["test"]
        typer.echo(
            f"{count}: {values['a']:.1f} against {values['b']:.1f} % at rank 1 "
            f"of {values['mentions']:,} mentions"
        )
        typer.echo(f"  {', '.join(f'{key} {n}' for key, n in values['counts'].items())}")
        typer.echo(
            f"  difference {test['difference']:.2f} (95 % interval {test['low']:.2f} to "
            f"{test['high']:.2f}, paired bootstrap), p {test['p']:.2g} (exact McNemar test)"
        )
    if output is not None:
        typer.echo(f"Report: {output / REPORT}")
