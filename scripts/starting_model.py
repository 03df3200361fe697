"""Put the model that positive-only training begins with into a folder of the project."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from spacy_angel.errors import AngelError

BACKBONE = "backbone"


def main(
    ctx: typer.Context,
    config: Annotated[Path, typer.Argument(exists=True, help="A file of configs/.")],
    start: Annotated[
        str,
        typer.Option(help=f"A folder, a hub name, or `{BACKBONE}` for the config's, untrained."),
    ],
    output: Annotated[Path, typer.Option(help="Folder to write.")],
) -> None:
    """Copy a model, published or trained before; --section.name VALUE overrides settings."""
    from spacy_angel.training.course.config import load_config, parse_overrides
    from spacy_angel.training.stages import starting_model

    settings = load_config(config, parse_overrides(ctx.args))
    starting_model(settings, None if start == BACKBONE else start).save(output)
    print(f"{start}: {output}")


if __name__ == "__main__":
    app = typer.Typer(add_completion=False)
    app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(main)
    try:
        app()
    except AngelError as error:
        # A person reads this: the message says what to do, a traceback would not.
        sys.exit(f"Error: {error}")
