"""Fine-tune on the names of the gold concepts: positive-only training."""

from pathlib import Path
from typing import Annotated

import typer

from spacy_angel.training.command import ConfigFile, run_script, run_stage


def main(
    ctx: typer.Context,
    config: ConfigFile,
    output: Annotated[Path, typer.Option(help="Folder of the stage.")],
    start: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            help="A pre-trained model's folder; without it, the config's backbone.",
        ),
    ] = None,
) -> None:
    """Fine-tune on the corpus of a config; --section.name VALUE overrides its settings.

    Run again after a kill, it goes on. The model lies in OUTPUT/model.
    """
    from spacy_angel.training.stages import fine_tune

    run_stage(ctx, config, lambda settings: fine_tune(settings, output, start))


if __name__ == "__main__":
    run_script(main)
