"""`spacy-angel assemble`: recogniser, model and vocabulary → one pipeline."""

from pathlib import Path
from typing import Annotated

import typer

from .options import ModelPreset, ModelTokenizer


def assemble(
    model: Annotated[str, typer.Option(help="Encoder-decoder: folder, hub name or en_angel_mini.")],
    kb: Annotated[Path, typer.Option(help="Vocabulary, a folder or file, or en_angel_mini.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the pipeline.")],
    tokenizer: ModelTokenizer = None,
    preset: ModelPreset = None,
    ner: Annotated[
        str | None,
        typer.Option(
            help="Pipeline that finds the mentions, e.g. en_angel_mini; else they are given."
        ),
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
        str | None,
        typer.Option(help="Training config, a file or name; the pipeline searches as it says."),
    ] = None,
    calibrate: Annotated[
        list[Path] | None,
        typer.Option(exists=True, help="Development corpus for the thresholds; may be repeated."),
    ] = None,
    description: Annotated[
        Path | None,
        typer.Option(exists=True, help="JSON with description, author, sources for meta.json."),
    ] = None,
) -> None:
    """Assemble a pipeline and save it; with --calibrate its thresholds are fitted."""
    from ..pipelines.assemble import assemble

    fitted = assemble(
        model,
        kb,
        output,
        tokenizer=tokenizer,
        preset=preset,
        ner=ner,
        name=name,
        dtype=dtype,  # type: ignore[arg-type]  # checked by Generator.from_pretrained
        storage=storage,  # type: ignore[arg-type]  # checked by Generator.to_disk
        length_penalty=_length_penalty(length_penalty, training),
        calibrate=calibrate or (),
        description=description,
    )
    if fitted is not None:
        typer.echo(fitted.report())
    size = sum(file.stat().st_size for file in output.rglob("*") if file.is_file())
    typer.echo(f"Pipeline: {output} ({size / 1e6:.1f} MB)")


def _length_penalty(given: float | None, training: str | None) -> float:
    if given is not None:
        return given
    if training is None:
        return 1.0
    from ..training.course.config import find_config, load_config

    return load_config(find_config(training)).development.search.length_penalty
