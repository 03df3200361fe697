"""`spacy-angel train`: train both stages on your own corpus, or single stages of a config."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..about import SHIPPED_NAME
from ..errors import AngelError
from .options import check_extra

if TYPE_CHECKING:
    from ..training.course.both_stages import TrainingRun
    from ..training.settings.config_tables import TrainingConfig

train_app = typer.Typer(invoke_without_command=True, no_args_is_help=True)
# Unknown options override the config, `--section.name VALUE`.
_OVERRIDES = {"allow_extra_args": True, "ignore_unknown_options": True}
_PACKAGES = ("accelerate", "confection", "datasets", "trl")

ConfigName = Annotated[
    str,
    typer.Argument(
        metavar="CONFIG",
        help="Config file or name, e.g. mini/ncbi; override values with --section.name VALUE.",
    ),
]
Start = Annotated[
    str, typer.Option(help="Initial model: folder, hub name (NAME@REVISION), or en_angel_mini.")
]
StageFolder = Annotated[Path, typer.Option("--output", "-o", help="Folder of the stage.")]
Push = Annotated[
    str | None,
    typer.Option(
        "--push-to-hub",
        metavar="USER/NAME",
        help="Upload the model to this repository on the Hugging Face Hub.",
    ),
]


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
        str | None, typer.Option(help="Vocabulary: folder, file, or en_angel_mini.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Folder to write.")] = None,
    start: Start = SHIPPED_NAME,
    ner: Annotated[str, typer.Option(help="Pipeline whose recognizer to use.")] = SHIPPED_NAME,
    config: Annotated[str, typer.Option(help="Config file, or the name of a shipped one.")] = "own",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="SECTION.NAME=VALUE",
            help="Override a value of the config, e.g. positive.optimizer.epochs=5; may be "
            "repeated.",
        ),
    ] = None,
    push: Push = None,
) -> None:
    """Train a model on your own corpus with one command, or stage by stage with a config.

    With --train, --dev, --kb, and --output, both stages are trained, starting from the shipped
    model. Three pipelines are then compared on held-out documents (every second one of --dev): the
    shipped, the calibrated, and the trained one. The best is saved in OUTPUT/pipeline. To continue
    an interrupted run, run the same command again.
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
    check_extra("train", *_PACKAGES)
    from accelerate import PartialState

    from ..files.atomic import write_text
    from ..training.course.both_stages import run_stages
    from ..training.models.backbones import push_to_hub

    recipe = _read_config(config, [f"--{setting}" for setting in settings or []])
    run = run_stages(recipe, output, train=train, dev=dev, kb=kb, start=start)
    if not PartialState().is_main_process:
        return
    pipelines = _best_pipeline(run, output, ner, recipe.development.search.length_penalty)
    table = f"{pipelines}\n{run.table()}"
    write_text(output / "table.md", table)
    typer.echo(f"{table}\nPipeline: {output / 'pipeline'}")
    if push is not None:
        typer.echo(f"Model: {push_to_hub(Path(run.best.folder), push)}")


@train_app.command(context_settings=_OVERRIDES)
def pretrain(
    ctx: typer.Context,
    config: ConfigName,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for both stages.")],
    push: Push = None,
) -> None:
    """Pre-train on the vocabulary of a config, in both stages.

    To continue an interrupted run, run the same command again. The model is in
    OUTPUT/negative/model.
    """
    _run(ctx, config, lambda stages, settings: stages.pretrain(settings, output), push)


@train_app.command(context_settings=_OVERRIDES)
def positive(
    ctx: typer.Context,
    config: ConfigName,
    output: StageFolder,
    start: Annotated[
        str | None, typer.Option(help="Initial model: folder, hub name, or en_angel_mini.")
    ] = None,
    from_backbone: Annotated[
        bool, typer.Option("--from-backbone", help="Start from the backbone in the config instead.")
    ] = False,
    push: Push = None,
) -> None:
    """Fine-tune on the names of the gold concepts (positive-only training).

    To continue an interrupted run, run the same command again. The model is in OUTPUT/model.
    """
    if (start is None) != from_backbone:
        raise AngelError(
            "Positive-only training needs one of `--start MODEL` and `--from-backbone`."
        )
    _run(ctx, config, lambda stages, settings: stages.fine_tune(settings, output, start), push)


@train_app.command(context_settings=_OVERRIDES)
def mine(
    ctx: typer.Context,
    config: ConfigName,
    start: Start,
    output: Annotated[Path, typer.Option("--output", "-o", help="JSON lines file to write.")],
) -> None:
    """Predict names for the training mentions, and form pairs of correct and wrong names."""
    _run(ctx, config, lambda stages, x: f"{stages.mine(x, start, output)} pairs in {output}")


@train_app.command(context_settings=_OVERRIDES)
def negative(
    ctx: typer.Context,
    config: ConfigName,
    start: Start,
    output: StageFolder,
    pairs: Annotated[
        Path | None, typer.Option(exists=True, help="Pairs written by `mine`; mined if not given.")
    ] = None,
    push: Push = None,
) -> None:
    """Fine-tune on pairs of correct and wrong names (negative-aware training).

    To continue an interrupted run, run the same command again. The model is in OUTPUT/model.
    """
    _run(ctx, config, lambda stages, x: stages.train_preferences(x, start, output, pairs), push)


@train_app.command(context_settings=_OVERRIDES)
def recogniser(ctx: typer.Context, config: ConfigName, output: StageFolder) -> None:
    """Train a recognizer on corpora that each annotate some of its labels.

    To continue an interrupted run, run the same command again. The model for the component
    angel_recogniser is in OUTPUT/model.
    """
    check_extra("train", *_PACKAGES)
    from weasel.util import parse_config_overrides

    from ..training.course.config import find_config
    from ..training.recognizer.config import load_recognizer_config
    from ..training.recognizer.training import score_table, train_recognizer

    overrides = parse_config_overrides(ctx.args, env_var=None)
    settings = load_recognizer_config(find_config(config), overrides)
    scores = train_recognizer(settings, output)
    if any(scores.values()):
        typer.echo(score_table(scores, settings.recogniser.labels))
    typer.echo(f"Recognizer: {output / 'model'}")


def _best_pipeline(run: "TrainingRun", output: Path, ner: str, length_penalty: float) -> str:
    """Assemble the pipelines, save the best one on held-out documents (the earlier one on a tie) in
    OUTPUT/pipeline, and return a table."""
    from ..evaluation.compare import compare
    from ..evaluation.run import evaluate
    from ..files.markdown import markdown_table
    from ..model.bart import is_supported
    from ..model.checkpoint import open_checkpoint
    from ..pipelines.assemble import assemble

    calibrate = [run.calibrate] if run.best.development[1] else []
    candidates: dict[str, tuple[str, str, list[Path]]] = {
        "shipped": (f"{SHIPPED_NAME} as it ships", SHIPPED_NAME, []),
        "calibrated": (f"{SHIPPED_NAME}, calibrated", SHIPPED_NAME, calibrate),
        "trained": (f"{run.best.stage} model, calibrated", run.best.folder, calibrate),
    }
    if run.best.folder == SHIPPED_NAME:
        del candidates["trained"]
    metrics, folders = output / "metrics", output / "pipelines"
    accuracies = {}
    for name, (_, model, corpora) in candidates.items():
        storage: Any = "int8" if is_supported(open_checkpoint(model).config) else None
        assemble(
            model,
            run.kb,
            folders / name,
            ner=ner,
            name="own",
            storage=storage,
            length_penalty=length_penalty,
            calibrate=corpora,
        )
        found = evaluate(folders / name, run.held_out, output=metrics / name)
        accuracies[name] = found["kb_id"]["acc@1"]
    best = max(accuracies, key=accuracies.__getitem__)
    shutil.rmtree(output / "pipeline", ignore_errors=True)
    (folders / best).rename(output / "pipeline")
    shutil.rmtree(folders)
    rows = []
    for name, (title, *_) in candidates.items():
        test = compare(metrics / "shipped", metrics / name)["kb_id"]["test"]
        rows.append(
            {
                "pipeline": title + (" (in the pipeline)" if name == best else ""),
                f"linked to the right concept (n = {found['mentions']:,})": accuracies[name],
                "difference (95 % interval)": (
                    "{difference:+.1f} ({low:+.1f} to {high:+.1f})".format(**test)
                ),
            }
        )
    note = "Mentions of held-out documents, which are given to the linker. On a tie the earlier"
    return f"{markdown_table(rows)}\n\n{note} pipeline is kept.\n"


def _read_config(config: str, overrides: list[str]) -> "TrainingConfig":
    from weasel.util import parse_config_overrides

    from ..training.course.config import find_config, load_config

    return load_config(find_config(config), parse_config_overrides(overrides, env_var=None))


def _run(
    ctx: typer.Context,
    config: str,
    stage: "Callable[[Any, TrainingConfig], Any]",
    push: str | None = None,
) -> None:
    """Read a config with its overrides, run a stage of `training.stages`, and print its result in
    the main process."""
    check_extra("train", *_PACKAGES)
    from accelerate import PartialState

    from ..training import stages
    from ..training.models.backbones import push_to_hub

    result = stage(stages, _read_config(config, ctx.args))
    if PartialState().is_main_process:
        typer.echo(result)
        if push is not None:
            typer.echo(f"Model: {push_to_hub(result.folder, push)}")
