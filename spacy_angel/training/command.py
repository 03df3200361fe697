"""What the training scripts share."""

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from ..errors import AngelError
from .config import TrainingConfig, load_config, parse_overrides

ConfigFile = Annotated[Path, typer.Argument(exists=True, help="A file of configs/.")]
StartFolder = Annotated[Path, typer.Option(exists=True, help="The positive-only model's folder.")]


def run_stage(ctx: typer.Context, config: Path, stage: Callable[[TrainingConfig], object]) -> None:
    """Read a config with its overrides, run a stage, and say what came of it.

    ctx (typer.Context): holds the overrides, `--section.name VALUE`.
    config (Path): config file.
    stage (Callable[[TrainingConfig], object]): its result is printed, by the first of several
        processes.
    """
    from accelerate import PartialState

    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    try:
        result = stage(load_config(config, parse_overrides(ctx.args)))
    except AngelError as error:
        # A person reads this: the message says what to do, a traceback would not.
        sys.exit(f"Error: {error}")
    if PartialState().is_main_process:
        print(result)


def run_script(main: Callable[..., None]) -> None:
    """main (Callable[..., None]): becomes the command, which also takes overrides."""
    app = typer.Typer(add_completion=False)
    app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(main)
    app()
