"""Pre-train over a vocabulary, in both stages."""

from pathlib import Path
from typing import Annotated

import typer

from spacy_angel.training.command import ConfigFile, run_script, run_stage


def main(
    ctx: typer.Context,
    config: ConfigFile,
    output: Annotated[Path, typer.Option(help="Folder for both stages.")],
) -> None:
    """Pre-train over the vocabulary of a config; --section.name VALUE overrides its settings.

    Run again after a kill, it goes on. The model lies in OUTPUT/negative/model.
    """
    from spacy_angel.training.stages import pretrain

    run_stage(ctx, config, lambda settings: pretrain(settings, output))


if __name__ == "__main__":
    run_script(main)
