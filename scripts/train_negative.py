"""Fine-tune on pairs of right and wrong names: negative-aware training."""

from pathlib import Path
from typing import Annotated

import typer

from spacy_angel.training.command import ConfigFile, StartFolder, run_script, run_stage


def main(
    ctx: typer.Context,
    config: ConfigFile,
    start: StartFolder,
    output: Annotated[Path, typer.Option(help="Folder of the stage.")],
    pairs: Annotated[
        Path | None,
        typer.Option(
            exists=True, help="Pairs of mine_preferences.py; without it, mined in rounds."
        ),
    ] = None,
) -> None:
    """Train on preference pairs; --section.name VALUE overrides the config's settings.

    Run again after a kill, it goes on. The model lies in OUTPUT/model.
    """
    from spacy_angel.training.stages import train_preferences

    run_stage(ctx, config, lambda settings: train_preferences(settings, start, output, pairs))


if __name__ == "__main__":
    run_script(main)
