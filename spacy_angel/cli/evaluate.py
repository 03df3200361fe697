"""`spacy-angel evaluate` and `spacy-angel compare`: figures and reports."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .options import (
    Abbreviations,
    CorpusFormat,
    NewFolder,
    Preset,
    ReaderOptions,
    preprocessing_steps,
    reader_options,
)

# What the protocols give, and how documents become one figure.
_RATES = ("strict", "lenient", "precision", "recall", "f")
_MEANS = ("averaged", "micro")
# The most frequent wrong strings of a part that is under its floor.
_SHOWN_WRONG = 10


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
        Path | None, typer.Option(help="Training corpus, to separate what was seen.")
    ] = None,
    train_names: Annotated[
        bool, typer.Option("--train-names", help="Its mention strings become names as well.")
    ] = False,
    negatives: Annotated[
        int, typer.Option(help="Names of other concepts to score for each mention.")
    ] = 0,
    noise: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND[:EDITS]",
            help="Also with noise in the mentions, one and two edits in each or as many as given: "
            "`typo`, `keyboard`, `swapped`, `missing`, `doubled`, `ocr`, `spelling`, `hyphen`, "
            "`order`, `plural`, `case`, `blank`, `mixed`; may be repeated.",
        ),
    ] = None,
    noise_seed: Annotated[int, typer.Option(help="Chooses what the noise does.")] = 0,
    protocol: Annotated[
        list[str] | None,
        typer.Option(
            help="Count also as the field does: belb (gold mentions, one identifier), hunflair2 "
            "(the pipeline's own mentions), document (identifiers of a document); may be repeated.",
        ),
    ] = None,
    floors: Annotated[
        Path | None,
        typer.Option(
            help="TOML with the least precision and recall, of all links, by label and by "
            "vocabulary; below one of them the command ends with 1 and the most frequent wrong "
            "strings.",
        ),
    ] = None,
    preprocessing: Preset = None,
    abbreviations: Abbreviations = None,
    option: ReaderOptions = None,
) -> None:
    """Evaluate a pipeline or a baseline; write metrics, predictions and a report."""
    from ..evaluation.files import REPORT
    from ..evaluation.floors import read_floors
    from ..evaluation.run import evaluate as run

    to_hold = None if floors is None else read_floors(floors)

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
        noise=noise or (),
        noise_seed=noise_seed,
        protocols=protocol or (),
        preprocessing=preprocessing_steps(preprocessing, abbreviations),
        corpus_options=reader_options(option),
    )
    typer.echo(
        f"{metrics['mentions']:,.0f} mentions, {metrics['coverage']:.1f} % with a concept of the "
        f"vocabulary, {metrics['mentions_per_second']:,.1f} a second"
    )
    for count in ("lenient", "strict"):
        figures = {key: v for key, v in metrics[count].items() if key.startswith("acc@")}
        values = "  ".join(f"{key} {value:.1f}" for key, value in figures.items())
        typer.echo(f"  {count:<8} {values}")
    kb_id = metrics["kb_id"]
    typer.echo(f"  kb_id    acc@1 {kb_id['acc@1']:.1f}")
    if kb_id["nil"]:
        typer.echo(
            f"  NIL      {kb_id['nil']:,} mentions whose concept the vocabulary has, "
            f"{kb_id['nil_right_first']:,} of them with the right one first"
        )
    _print_what_counts(metrics)
    _print_further(metrics)
    typer.echo(f"Report: {output / REPORT}")
    if to_hold is not None and not _hold(to_hold, output, metrics):
        raise typer.Exit(1)


def _hold(floors: Any, output: Path, metrics: dict[str, Any]) -> bool:
    """Whether the figures are not under their floors; says how each part did."""
    from ..evaluation.files import read_predictions
    from ..evaluation.floors import hold_floors

    results = hold_floors(floors, read_predictions(output), metrics.get("spurious_links", {}))
    for result in results:
        rates = (
            f"{name} {getattr(result, name):.1f}"
            + ("" if least is None else f" (floor {least:g}{', below' * (name in result.below)})")
            for name, least in (
                ("precision", result.floor.precision),
                ("recall", result.floor.recall),
            )
        )
        typer.echo(f"Floor of {result.floor}: {', '.join(rates)}")
        for (mention, link, gold), n in result.wrong.most_common(_SHOWN_WRONG * bool(result.below)):
            typer.echo(f"  {n:>4,} × “{mention}” {link}, gold {gold}")
    return not any(result.below for result in results)


def _print_what_counts(metrics: dict[str, Any]) -> None:
    """How the corpus was read, and what of the mentions that were found counts."""
    from ..corpora.entity_types import READ_AS

    labels = {label: c for label, c in metrics.get("labels", {}).items() if c["mentions"]}
    if len(labels) > 1:
        shares = (
            f"{label or 'no label'} {counts['in_vocabulary']:,} of {counts['mentions']:,}"
            for label, counts in labels.items()
        )
        typer.echo(f"  in the vocabulary: {', '.join(shares)}")
    counts = metrics["run"].get("corpus_report", {}).get("counts", {})
    if spaces := {k.removeprefix(READ_AS): n for k, n in counts.items() if k.startswith(READ_AS)}:
        read = ", ".join(f"{n:,} as {space}" for space, n in spaces.items())
        typer.echo(f"  identifiers without a prefix are read by their labels: {read}")
    if metrics["run"]["predicted"]:
        for key, title in (("detection", "found"), ("linking", "links")):
            values = "  ".join(f"{rate} {metrics[key][rate]:.1f}" for rate in _RATES[2:])
            typer.echo(f"  {title:<8} {values}")
    if losses := metrics.get("losses"):
        from ..evaluation.losses import loss_table

        typer.echo(loss_table(losses))
    if left_out := metrics.get("types", {}).get("left_out"):
        types = ", ".join(f"{name} {number:,.0f}" for name, number in left_out.items())
        typer.echo(f"  found, but not marked in this corpus, so not counted: {types}")


def _print_further(metrics: dict[str, Any]) -> None:
    """What was asked for besides: noise, protocols; and how well the scores are calibrated."""
    if confidence := metrics.get("confidence"):
        typer.echo(f"  expected calibration error {confidence['ece']:.1f} points")
        if "80" in confidence["coverage"]:
            precision = confidence["coverage"]["80"]["precision"]
            typer.echo(f"  {precision:.1f} % of the links right at 80 % coverage")
    for kind, points in metrics.get("noise", {}).items():
        values = "  ".join(f"{edits}: {point['strict']:.1f}" for edits, point in points.items())
        typer.echo(f"  strict acc@1 by edits, noise {kind}: {values}")
    for name, figures in metrics.get("protocols", {}).items():
        for mean in [mean for mean in _MEANS if mean in figures] or [""]:
            rates = figures[mean] if mean else figures
            values = "  ".join(f"{rate} {rates[rate]:.1f}" for rate in _RATES if rate in rates)
            typer.echo(f"  {name} {mean}: {values}".replace(" :", ":"))


def compare(
    first: Annotated[Path, typer.Argument(help="Folder that `evaluate` wrote.")],
    second: Annotated[Path, typer.Argument(help="Another one, of the same mentions.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for a report of both, and figures."),
    ] = None,
) -> None:
    """Compare two evaluations of the same mentions."""
    from ..evaluation.compare import compare as run
    from ..evaluation.files import REPORT

    comparison = run(first, second, output)
    for count in ("lenient", "strict", "kb_id"):
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


def _figure(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
