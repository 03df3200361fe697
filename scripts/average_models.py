"""Write the mean of the weights of models that go back to the same fine-tuned one."""

from pathlib import Path
from typing import Annotated

import typer

from spacy_angel.errors import AngelError
from spacy_angel.training.averaging import average_models


def main(
    folders: Annotated[
        list[Path], typer.Argument(exists=True, file_okay=False, help="Model folders.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Model folder to write.")],
    share: Annotated[
        list[float] | None,
        typer.Option(help="Of each folder, in their order, in proportion; else equal."),
    ] = None,
) -> None:
    """Average models, e.g. average_models.py A B -o MEAN --share 2 --share 1."""
    try:
        average_models(folders, output, share)
    except (AngelError, OSError) as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(1) from error
    typer.echo(f"Mean of {len(folders)} models: {output}")


if __name__ == "__main__":
    typer.run(main)
