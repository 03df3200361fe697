"""`spacy-angel calibrate`: fit the reranker of a pipeline to a corpus."""

from pathlib import Path
from typing import Annotated

import typer

from . import options


def calibrate(
    pipeline: options.OwnPipeline,
    corpus: Annotated[Path, typer.Argument(help="Development corpus with gold mentions.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for the calibrated pipeline."),
    ] = None,
    kb: options.OtherVocabulary = None,
    format: options.CorpusFormat = None,
    preprocessing: options.Preset = None,
    abbreviations: options.Abbreviations = None,
    option: options.ReaderOptions = None,
) -> None:
    """Fit the weights of the reranker and the threshold to a corpus."""
    from ..corpora.preprocessing import preprocess
    from ..corpora.registry import read_corpus
    from ..pipelines.components import calibrate_on

    nlp, linker = options.open_source(pipeline, kb)
    documents = read_corpus(corpus, format, **options.reader_options(option))
    if steps := options.preprocessing_steps(preprocessing, abbreviations):
        documents = preprocess(documents, steps, known=linker.kb)
    typer.echo(calibrate_on(nlp, linker, documents).report())
    if output is None:
        typer.echo("Nothing is written. To save the calibrated pipeline, use `-o FOLDER`.")
    else:
        nlp.to_disk(output)
        typer.echo(f"Pipeline: {output}")
