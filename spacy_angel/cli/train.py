"""`spacy-angel train`: the stages of a config, and a whole course on a corpus of one's own."""

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
        help="A config file, or the name of one that ships: see `spacy-angel train configs`. "
        "--section.name VALUE overrides its settings.",
    ),
]
Start = Annotated[
    str,
    typer.Option(help="The positive-only model: folder, hub name or en_angel_mini."),
]
Before = Annotated[
    str | None,
    typer.Option(help="The model that positive-only training began with; for folds of pairs."),
]
StageFolder = Annotated[Path, typer.Option("--output", "-o", help="Folder of the stage.")]


@train_app.callback()
def own(
    ctx: typer.Context,
    train: Annotated[
        list[Path] | None,
        typer.Option("--train", exists=True, help="Corpus to train on; may be repeated."),
    ] = None,
    dev: Annotated[
        list[Path] | None,
        typer.Option("--dev", exists=True, help="Corpus to measure on; may be repeated."),
    ] = None,
    kb: Annotated[
        str | None,
        typer.Option(help="Vocabulary: folder, file, or en_angel_mini for the shipped one."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for stages, table, pipeline.")
    ] = None,
    start: Annotated[
        str, typer.Option(help="The model to begin with: folder, hub name or en_angel_mini.")
    ] = SHIPPED_NAME,
    ner: Annotated[
        str, typer.Option(help="Pipeline that finds the mentions in the assembled one.")
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
    """Train a model: on a corpus of your own in one go, or stage by stage as a config says.

    With --train, --dev, --kb and --output both stages are run, from the model that ships; a table
    shows what it knew before and after, and OUTPUT/pipeline links. Run again after a kill, it goes
    on.
    """
    needed = {"--train": train, "--dev": dev, "--kb": kb, "--output": output}
    if ctx.invoked_subcommand is not None:
        if given := [name for name, value in needed.items() if value is not None]:
            raise AngelError(
                f"{' '.join(given)} must come after the command {ctx.invoked_subcommand!r}."
            )
        return
    if missing := [name for name, value in needed.items() if value is None]:
        raise AngelError(
            f"Missing: {' '.join(missing)}. Expected --train CORPUS --dev CORPUS --kb VOCABULARY "
            "--output FOLDER, or a command."
        )
    assert train is not None
    assert dev is not None
    assert kb is not None
    assert output is not None
    _check_extra()
    _train_own(train, dev, kb, output, start, ner, config, settings or [])


@train_app.command(context_settings=_OVERRIDES)
def pretrain(
    ctx: typer.Context,
    config: ConfigName,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for both stages.")],
) -> None:
    """Pre-train over the vocabulary of a config, in both stages.

    Run again after a kill, it goes on. The model lies in OUTPUT/negative/model.
    """
    _check_extra()
    from ..training.stages import pretrain

    _run(ctx, config, lambda settings: pretrain(settings, output))


@train_app.command(context_settings=_OVERRIDES)
def positive(
    ctx: typer.Context,
    config: ConfigName,
    output: StageFolder,
    start: Annotated[
        str | None,
        typer.Option(help="A pre-trained model: folder, hub name or en_angel_mini."),
    ] = None,
    from_backbone: Annotated[
        bool,
        typer.Option("--from-backbone", help="Without pre-training, from the config's backbone."),
    ] = False,
) -> None:
    """Fine-tune on the names of the gold concepts: positive-only training.

    Run again after a kill, it goes on. The model lies in OUTPUT/model.
    """
    if (start is None) != from_backbone:
        raise AngelError(
            "Positive-only training needs one of `--start MODEL` and `--from-backbone`."
        )
    _check_extra()
    from ..training.stages import fine_tune

    _run(ctx, config, lambda settings: fine_tune(settings, output, start))


@train_app.command(context_settings=_OVERRIDES)
def mine(
    ctx: typer.Context,
    config: ConfigName,
    start: Start,
    output: Annotated[Path, typer.Option("--output", "-o", help="JSONL to write.")],
    before: Before = None,
) -> None:
    """Search for the training mentions and pair right names with wrong ones."""
    _check_extra()
    from ..training.stages import mine

    _run(ctx, config, lambda settings: f"{mine(settings, start, output, before)} pairs in {output}")


@train_app.command(context_settings=_OVERRIDES)
def negative(
    ctx: typer.Context,
    config: ConfigName,
    start: Start,
    output: StageFolder,
    pairs: Annotated[
        Path | None,
        typer.Option(exists=True, help="Pairs that `mine` wrote; without it, they are mined."),
    ] = None,
    before: Before = None,
) -> None:
    """Fine-tune on pairs of right and wrong names: negative-aware training.

    Run again after a kill, it goes on. The model lies in OUTPUT/model.
    """
    _check_extra()
    from ..training.stages import train_preferences

    _run(ctx, config, lambda settings: train_preferences(settings, start, output, pairs, before))


@train_app.command(context_settings=_OVERRIDES)
def recogniser(
    ctx: typer.Context,
    config: ConfigName,
    output: StageFolder,
    prepare: Annotated[
        bool,
        typer.Option(
            "--prepare",
            help="Only read the corpora and texts into OUTPUT, e.g. to train on another machine.",
        ),
    ] = False,
) -> None:
    """Train a recogniser of mentions on corpora that each annotate some of its labels.

    Run again after a kill, it goes on. It lies in OUTPUT/model, for the component angel_recogniser.
    """
    _check_extra()
    from ..training.course.config import parse_overrides
    from ..training.recogniser.config import load_recogniser_config
    from ..training.recogniser.training import (
        prepare_recogniser,
        score_table,
        train_recogniser,
    )
    from ..training.settings.configs import find_config

    settings = load_recogniser_config(find_config(config), parse_overrides(ctx.args))
    if prepare:
        rows = len(prepare_recogniser(settings, output).rows)
        typer.echo(f"Windows to learn from: {rows} in {output}")
        return
    scores = train_recogniser(settings, output)
    if any(scores.values()):
        typer.echo(score_table(scores, settings.recogniser.labels))
    typer.echo(f"Recogniser: {output / 'model'}")


@train_app.command()
def average(
    models: Annotated[
        list[str], typer.Argument(help="Model folders, or en_angel_mini; or of recognisers.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Model folder to write.")],
    share: Annotated[
        list[float] | None,
        typer.Option(help="Of each folder, in their order, in proportion; else equal."),
    ] = None,
) -> None:
    """Average models that go back to one, e.g. A B -o MEAN --share 2 --share 1."""
    _check_extra()
    from ..model.checkpoint import checkpoint_folder
    from ..training.models.averaging import average_models
    from ..training.recogniser.averaging import average_recognisers, is_recogniser

    if all(is_recogniser(Path(model)) for model in models):
        average_recognisers([Path(model) for model in models], output, share)
    else:
        folders = [checkpoint_folder(model, local_files_only=True) for model in models]
        average_models(folders, output, share)
    typer.echo(f"Mean of {len(models)} models: {output}")


@train_app.command()
def configs(
    init: Annotated[
        Path | None,
        typer.Option("--init", file_okay=False, help="Copy them to this folder, to be changed."),
    ] = None,
) -> None:
    """List the configs that ship, each with its first line."""
    from ..training.settings.configs import copy_configs, shipped_configs

    for name, title in shipped_configs().items():
        typer.echo(f"{name:<28}{title}")
    if init is not None:
        copy_configs(init)
        typer.echo(f"Copied to {init}")


def _check_extra() -> None:
    for package in ("accelerate", "confection", "datasets", "trl"):
        if find_spec(package) is None:
            raise AngelError(missing_package("Training", package, "train"))


def _train_own(
    train: list[Path],
    dev: list[Path],
    kb: str,
    output: Path,
    start: str,
    ner: str,
    config: str,
    settings: list[str],
) -> None:
    from accelerate import PartialState

    from ..files.atomic import write_text
    from ..model.bart import is_supported
    from ..model.checkpoint import open_checkpoint
    from ..pipelines.assemble import assemble
    from ..training.course.both_stages import TABLE_FILE, run_course, table

    recipe = _read_config(config, [f"--{setting}" for setting in settings])
    course = run_course(recipe, output, train=train, dev=dev, kb=kb, start=start)
    if not PartialState().is_main_process:
        return
    found_any = course.best.development[1] > 0
    assemble(
        str(course.best.folder),
        course.kb,
        output / "pipeline",
        ner=ner,
        name="own",
        storage="int8" if is_supported(open_checkpoint(course.best.folder).config) else None,
        length_penalty=recipe.development.search.length_penalty,
        calibrate=dev if found_any else (),
    )
    models = table(course.standings, course.best)
    if found_any:
        models = f"{_pipelines_table(course.dev[0], course.kb, output)}\n{models}"
        write_text(output / TABLE_FILE, models)
    typer.echo(models)
    typer.echo(f"Pipeline: {output / 'pipeline'}")


def _pipelines_table(dev: Path, kb: Path, output: Path) -> str:
    """What the pipeline that ships does with the development corpus over the same vocabulary, and
    what the new one does."""
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

    from ..training.course.config import load_config, parse_overrides
    from ..training.settings.configs import find_config

    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    return load_config(find_config(config), parse_overrides(overrides))


def _run(ctx: typer.Context, config: str, stage: "Callable[[TrainingConfig], Any]") -> None:
    """Read a config with its overrides, run a stage, and say what came of it: of several processes
    the first one does."""
    from accelerate import PartialState

    result = stage(_read_config(config, ctx.args))
    if PartialState().is_main_process:
        typer.echo(result)
