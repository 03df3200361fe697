"""`spacy-angel assemble`: recognizer, model and vocabulary become one pipeline."""

from pathlib import Path
from typing import Annotated

import typer

from .options import NewFolder


def assemble(
    model: Annotated[str, typer.Option(help="Encoder-decoder: folder, hub name or en_angel_mini.")],
    kb: Annotated[Path, typer.Option(help="Vocabulary, a folder or file, or en_angel_mini.")],
    output: NewFolder,
    ner: Annotated[
        str | None, typer.Option(help="Pipeline that finds the mentions, e.g. en_angel_mini.")
    ] = None,
    name: Annotated[str, typer.Option(help="The pipeline is called `en_angel_NAME`.")] = "mini",
    storage: Annotated[
        str, typer.Option(help="Save the weights as int8, bfloat16 or float32.")
    ] = "int8",
    length_penalty: Annotated[
        float, typer.Option(help="Of the search; use that of the training config.")
    ] = 1.0,
    calibrate: Annotated[
        list[Path] | None,
        typer.Option(exists=True, help="Development corpus to calibrate on; may be repeated."),
    ] = None,
) -> None:
    """Assemble a pipeline and save it; with --calibrate, fit its settings first."""
    from ..pipelines.assemble import assemble

    fitted = assemble(
        model,
        kb,
        output,
        ner=ner,
        name=name,
        storage=storage,  # type: ignore[arg-type]  # checked by Generator.to_disk
        length_penalty=length_penalty,
        calibrate=calibrate or (),
    )
    if fitted is not None:
        typer.echo(fitted.report())
    size = sum(file.stat().st_size for file in output.rglob("*") if file.is_file())
    typer.echo(f"Pipeline: {output} ({size / 1e6:.1f} MB)")
