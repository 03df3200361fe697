"""`spacy-angel calibrate`: fit the settings of a linker to a corpus."""

from pathlib import Path
from typing import Annotated

import typer

from .options import (
    Abbreviations,
    CorpusFormat,
    OtherVocabulary,
    OwnPipeline,
    Preset,
    ReaderOptions,
    open_source,
    preprocessing_steps,
    read_prepared,
    reader_options,
)


def calibrate(
    pipeline: OwnPipeline,
    corpus: Annotated[Path, typer.Argument(help="Development corpus with gold mentions.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for the pipeline with the fitted settings."),
    ] = None,
    kb: OtherVocabulary = None,
    format: CorpusFormat = None,
    preprocessing: Preset = None,
    abbreviations: Abbreviations = None,
    option: ReaderOptions = None,
) -> None:
    """Fit the reranker's weights and the threshold to a corpus; with `rerank` off the model's
    search.temperature, threshold and search.min_log_prob."""
    from ..pipelines.calibrate import calibrate_on

    nlp, linker = open_source(pipeline, kb)
    steps = preprocessing_steps(preprocessing, abbreviations)
    documents = read_prepared(corpus, format, steps, linker.kb, reader_options(option))
    typer.echo(calibrate_on(nlp, linker, documents).report())
    if output is None:
        typer.echo("Nothing is written. Use `-o FOLDER` to save the pipeline with these settings.")
    else:
        nlp.to_disk(output)
        typer.echo(f"Pipeline: {output}")
