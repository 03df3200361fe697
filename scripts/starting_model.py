"""Put the model that positive-only training starts from into a folder of the project."""

from pathlib import Path
from typing import Annotated

import typer
from command import run

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
    from weasel.util import parse_config_overrides

    from spacy_angel.training.course.config import load_config
    from spacy_angel.training.stages import starting_model

    settings = load_config(config, parse_config_overrides(ctx.args, env_var=None))
    starting_model(settings, None if start == BACKBONE else start).save(output)
    print(f"{start}: {output}")


if __name__ == "__main__":
    app = typer.Typer(add_completion=False)
    app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(main)
    run(app)
