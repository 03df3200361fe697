"""`spacy-angel assemble`: build a pipeline from a recognizer, a model, and a vocabulary."""

from pathlib import Path
from typing import Annotated

import typer

from .options import NewFolder


def assemble(
    model: Annotated[
        str, typer.Option(help="Encoder-decoder: folder, hub name, or en_angel_mini.")
    ],
    kb: Annotated[Path, typer.Option(help="Vocabulary: folder, file, or en_angel_mini.")],
    output: NewFolder,
    ner: Annotated[
        str | None, typer.Option(help="Pipeline whose recognizer to use, e.g. en_angel_mini.")
    ] = None,
    name: Annotated[str, typer.Option(help="Name of the pipeline, after `en_angel_`.")] = "mini",
    storage: Annotated[
        str, typer.Option(help="Type of the saved weights: int8, bfloat16, or float32.")
    ] = "int8",
    length_penalty: Annotated[
        float, typer.Option(help="Length penalty of the search, as in the training config.")
    ] = 1.0,
    calibrate: Annotated[
        list[Path] | None,
        typer.Option(exists=True, help="Development corpus to calibrate on; may be repeated."),
    ] = None,
) -> None:
    """Assemble a pipeline and save it; with --calibrate, calibrate it first."""
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
