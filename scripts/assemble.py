"""Put recogniser, model and vocabulary together into one pipeline."""

from pathlib import Path
from typing import Annotated

import typer

from spacy_angel.errors import AngelError
from spacy_angel.pipelines.assemble import assemble
from spacy_angel.training.config import load_config


def main(
    model: Annotated[str, typer.Option(help="Encoder-decoder: folder or hub name.")],
    kb: Annotated[Path, typer.Option(exists=True, help="Vocabulary, a folder or file.")],
    output: Annotated[Path, typer.Option(help="Folder of the pipeline.")],
    ner: Annotated[
        str | None,
        typer.Option(help="Trained pipeline that finds the mentions; else they are given."),
    ] = None,
    name: Annotated[str, typer.Option(help="The pipeline is called `en_angel_NAME`.")] = "mini",
    dtype: Annotated[
        str, typer.Option(help="The model runs in float32, bfloat16 or int8.")
    ] = "float32",
    storage: Annotated[
        str, typer.Option(help="Its weights are saved as int8, bfloat16 or float32.")
    ] = "int8",
    length_penalty: Annotated[
        float | None,
        typer.Option(
            help="Of the search: 1 as published, 0 for the plain sum; else that of --training."
        ),
    ] = None,
    training: Annotated[
        Path | None,
        typer.Option(exists=True, help="Training config; the pipeline searches as the file says."),
    ] = None,
    calibrate: Annotated[
        list[Path] | None,
        typer.Option(exists=True, help="Development corpus for the limits; may be repeated."),
    ] = None,
    description: Annotated[
        Path | None,
        typer.Option(exists=True, help="JSON with description, author, sources for meta.json."),
    ] = None,
) -> None:
    """Assemble a pipeline and save it; with --calibrate it knows when to link to nothing."""
    try:
        fitted = assemble(
            model,
            kb,
            output,
            ner=ner,
            name=name,
            dtype=dtype,  # type: ignore[arg-type]  # checked by Generator.from_pretrained
            storage=storage,  # type: ignore[arg-type]  # checked by Generator.to_disk
            length_penalty=_length_penalty(length_penalty, training),
            calibrate=calibrate or (),
            description=description,
        )
    except AngelError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(1) from error
    if fitted is not None:
        typer.echo(fitted.report())
    size = sum(file.stat().st_size for file in output.rglob("*") if file.is_file())
    typer.echo(f"Pipeline: {output} ({size / 1e6:.1f} MB)")


def _length_penalty(given: float | None, training: Path | None) -> float:
    if given is not None:
        return given
    if training is None:
        return 1.0
    return load_config(training).development.search.length_penalty


if __name__ == "__main__":
    typer.run(main)
