"""Search for the training mentions and pair right names with wrong ones."""

from pathlib import Path
from typing import Annotated

import typer

from spacy_angel.training.command import ConfigFile, StartFolder, run_script, run_stage


def main(
    ctx: typer.Context,
    config: ConfigFile,
    start: StartFolder,
    output: Annotated[Path, typer.Option(help="JSONL to write.")],
    before: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            help="The model that positive-only training began with; for negative.pairs.folds.",
        ),
    ] = None,
) -> None:
    """Mine preference pairs; --section.name VALUE overrides the config's settings."""
    from spacy_angel.training.stages import mine

    run_stage(
        ctx,
        config,
        lambda settings: f"{mine(settings, start, output, before)} pairs in {output}",
    )


if __name__ == "__main__":
    run_script(main)
