"""`spacy-angel train`: the stages of a config, and both stages on a corpus of your own."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..about import SHIPPED_NAME
from ..errors import AngelError, missing_package

if TYPE_CHECKING:
    from ..training.course.config import TrainingConfig

train_app = typer.Typer(invoke_without_command=True, no_args_is_help=True)
# What is no option is an override, `--section.name VALUE`.
_OVERRIDES = {"allow_extra_args": True, "ignore_unknown_options": True}

ConfigName = Annotated[
    str,
    typer.Argument(
        metavar="CONFIG",
        help="Config file or name, e.g. mini/ncbi; --section.name VALUE overrides.",
    ),
]
Start = Annotated[str, typer.Option(help="Model to start from: folder, hub name, en_angel_mini.")]
StageFolder = Annotated[Path, typer.Option("--output", "-o", help="Folder of the stage.")]


@train_app.callback()
def own(
    ctx: typer.Context,
    train: Annotated[
        list[Path] | None, typer.Option(exists=True, help="Training corpus; may be repeated.")
    ] = None,
    dev: Annotated[
        list[Path] | None, typer.Option(exists=True, help="Development corpus; may be repeated.")
    ] = None,
    kb: Annotated[
        str | None, typer.Option(help="Vocabulary: folder, file or en_angel_mini.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for stages, table, pipeline.")
    ] = None,
    start: Start = SHIPPED_NAME,
    ner: Annotated[
        str, typer.Option(help="Pipeline whose recognizer the assembled pipeline gets.")
    ] = SHIPPED_NAME,
    config: Annotated[
        str, typer.Option(help="The recipe: a config file, or the name of one that ships.")
    ] = "own",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="SECTION.NAME=VALUE",
            help="A setting of the recipe, e.g. positive.optimizer.epochs=5; may be repeated.",
        ),
    ] = None,
) -> None:
    """Train a model: on a corpus of your own in one go, or stage by stage as a config describes.

    With --train, --dev, --kb and --output, both stages are trained, starting from the shipped
    model. A table shows the accuracy before and after, and OUTPUT/pipeline is a pipeline with the
    best model. Run again after an interruption, it continues.
    """
    needed = {"--train": train, "--dev": dev, "--kb": kb, "--output": output}
    if ctx.invoked_subcommand is not None:
        if given := [name for name, value in needed.items() if value is not None]:
            raise AngelError(
                f"{' '.join(given)} must come after the command {ctx.invoked_subcommand!r}."
            )
        return
    if train is None or dev is None or kb is None or output is None:
        missing = " ".join(name for name, value in needed.items() if value is None)
        raise AngelError(f"Missing: {missing}. Expected --train, --dev, --kb and --output.")
    _check_extra()
    from accelerate import PartialState

    from ..files.atomic import write_text
    from ..model.bart import is_supported
    from ..model.checkpoint import open_checkpoint
    from ..pipelines.assemble import assemble
    from ..training.course.both_stages import TABLE_FILE, run_stages

    recipe = _read_config(config, [f"--{setting}" for setting in settings or []])
    run = run_stages(recipe, output, train=train, dev=dev, kb=kb, start=start)
    if not PartialState().is_main_process:
        return
    found_any = run.best.development[1] > 0
    assemble(
        str(run.best.folder),
        run.kb,
        output / "pipeline",
        ner=ner,
        name="own",
        storage="int8" if is_supported(open_checkpoint(run.best.folder).config) else None,
        length_penalty=recipe.development.search.length_penalty,
        calibrate=dev if found_any else (),
    )
    table = run.table()
    if found_any:
        table = f"{_pipelines_table(run.dev[0], run.kb, output)}\n{table}"
        write_text(output / TABLE_FILE, table)
    typer.echo(f"{table}\nPipeline: {output / 'pipeline'}")


@train_app.command(context_settings=_OVERRIDES)
def pretrain(
    ctx: typer.Context,
    config: ConfigName,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for both stages.")],
) -> None:
    """Pre-train on the vocabulary of a config, in both stages.

    Run again after an interruption, it continues. The model is in OUTPUT/negative/model.
    """
    _run(ctx, config, lambda stages, settings: stages.pretrain(settings, output))


@train_app.command(context_settings=_OVERRIDES)
def positive(
    ctx: typer.Context,
    config: ConfigName,
    output: StageFolder,
    start: Annotated[
        str | None, typer.Option(help="A pre-trained model: folder, hub name or en_angel_mini.")
    ] = None,
    from_backbone: Annotated[
        bool, typer.Option("--from-backbone", help="Start from the config's backbone instead.")
    ] = False,
) -> None:
    """Fine-tune on the names of the gold concepts: positive-only training.

    Run again after an interruption, it continues. The model is in OUTPUT/model.
    """
    if (start is None) != from_backbone:
        raise AngelError(
            "Positive-only training needs one of `--start MODEL` and `--from-backbone`."
        )
    _run(ctx, config, lambda stages, settings: stages.fine_tune(settings, output, start))


@train_app.command(context_settings=_OVERRIDES)
def mine(
    ctx: typer.Context,
    config: ConfigName,
    start: Start,
    output: Annotated[Path, typer.Option("--output", "-o", help="JSONL to write.")],
) -> None:
    """Predict names for the training mentions and pair right names with wrong ones."""
    _run(ctx, config, lambda stages, x: f"{stages.mine(x, start, output)} pairs in {output}")


@train_app.command(context_settings=_OVERRIDES)
def negative(
    ctx: typer.Context,
    config: ConfigName,
    start: Start,
    output: StageFolder,
    pairs: Annotated[
        Path | None, typer.Option(exists=True, help="Pairs that `mine` wrote; else they are mined.")
    ] = None,
) -> None:
    """Fine-tune on pairs of right and wrong names: negative-aware training.

    Run again after an interruption, it continues. The model is in OUTPUT/model.
    """
    _run(ctx, config, lambda stages, x: stages.train_preferences(x, start, output, pairs))


@train_app.command(context_settings=_OVERRIDES)
def recogniser(ctx: typer.Context, config: ConfigName, output: StageFolder) -> None:
    """Train a recognizer of mentions on corpora that each annotate some of its labels.

    Run again after an interruption, it continues. The model for the component angel_recogniser is
    in OUTPUT/model.
    """
    _check_extra()
    from ..training.course.config import find_config, parse_overrides
    from ..training.recogniser.config import load_recogniser_config
    from ..training.recogniser.training import score_table, train_recogniser

    settings = load_recogniser_config(find_config(config), parse_overrides(ctx.args))
    scores = train_recogniser(settings, output)
    if any(scores.values()):
        typer.echo(score_table(scores, settings.recogniser.labels))
    typer.echo(f"Recognizer: {output / 'model'}")


def _check_extra() -> None:
    for package in ("accelerate", "confection", "datasets", "trl"):
        if find_spec(package) is None:
            raise AngelError(missing_package("Training", package, "train"))


def _pipelines_table(dev: Path, kb: Path, output: Path) -> str:
    """Accuracy of the shipped and of the new pipeline on the development corpus."""
    from ..evaluation.run import evaluate

    rows = []
    for title, pipeline, vocabulary in (
        (f"{SHIPPED_NAME} as it ships", SHIPPED_NAME, kb),
        ("trained", str(output / "pipeline"), None),
    ):
        found = evaluate(pipeline, dev, None, vocabulary, output / "metrics" / title.split()[0])
        shares = (found["strict"]["acc@1"], found["kb_id"]["acc@1"])
        rows.append(f"| {title} | {shares[0]:.1f} | {shares[1]:.1f} |")
    head = f"| pipeline | right concept first (n = {found['mentions']:,.0f}) | linked to it |"
    note = "Development mentions; the trained pipeline was calibrated on them."
    return "\n".join([head, "|---|---|---|", *rows, "", note, ""])


def _read_config(config: str, overrides: list[str]) -> "TrainingConfig":
    import logging

    from ..training.course.config import find_config, load_config, parse_overrides

    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    return load_config(find_config(config), parse_overrides(overrides))


def _run(ctx: typer.Context, config: str, stage: "Callable[[Any, TrainingConfig], Any]") -> None:
    """Read a config with its overrides, run a stage of `training.stages`, and print its result in
    the first process."""
    _check_extra()
    from accelerate import PartialState

    from ..training import stages

    result = stage(stages, _read_config(config, ctx.args))
    if PartialState().is_main_process:
        typer.echo(result)
