"""Saved pipelines with a linker in them: opening, and calibrating on a corpus."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import AngelError, Errors

if TYPE_CHECKING:
    from spacy.language import Language

    from ..corpora.documents import CorpusDocument
    from ..linking.calibration import Calibration
    from ..linking.linker import AngelLinker


def open_pipeline(pipeline: "str | Path | Language") -> "tuple[Language, AngelLinker]":
    """Load a pipeline and find its linker.

    pipeline (str | Path | Language): a folder, an installed package, `en_angel_mini` for what
        ships in this one, or a loaded pipeline.
    RETURNS (tuple[Language, AngelLinker]): the pipeline, and the first linker in it.
    RAISES (AngelError): it cannot be loaded, or has no linker.
    """
    import spacy

    from ..about import SHIPPED_NAME
    from ..linking.linker import AngelLinker
    from .shipped import load

    if pipeline == SHIPPED_NAME:
        nlp = load()
    elif isinstance(pipeline, str | Path):
        try:
            nlp = spacy.load(pipeline)
        except OSError as error:
            reason = str(error).splitlines()[0].rstrip(".")
            raise AngelError(Errors.E706.format(pipeline=str(pipeline), reason=reason)) from error
    else:
        nlp = pipeline
    for _, component in nlp.pipeline:
        if isinstance(component, AngelLinker):
            return nlp, component
    raise AngelError(Errors.E707.format(names=", ".join(nlp.pipe_names) or "none"))


def calibrate_on(
    nlp: "Language", linker: "AngelLinker", documents: "Iterable[CorpusDocument]"
) -> "Calibration":
    """Calibrate a linker on the gold mentions of a corpus, overlapping ones included.

    nlp (Language): the pipeline; what stands before the linker in it and does not write entities
        runs on the documents.
    linker (AngelLinker): its linker, which uses the fitted settings from now on; they stand in the
        pipeline's config, as if it had been made with them.
    documents (Iterable[CorpusDocument]): e.g. from `corpora.read_corpus`.
    RETURNS (Calibration): see `AngelLinker.calibrate`.
    RAISES (AngelError): no mention's right concept is among its candidates.
    """
    from ..corpora.docs import GOLD_SPANS, to_doc

    at = next(i for i, (_, component) in enumerate(nlp.pipeline) if component is linker)
    kept = [
        name for name in nlp.pipe_names[:at] if "doc.ents" not in nlp.get_pipe_meta(name).assigns
    ]
    docs = nlp.pipe(
        (to_doc(document, nlp) for document in documents),
        disable=[name for name in nlp.pipe_names if name not in kept],
    )
    span_key = linker.settings.span_key
    linker.settings = replace(linker.settings, span_key=GOLD_SPANS)
    try:
        fitted = linker.calibrate(docs)
    finally:
        linker.settings = replace(linker.settings, span_key=span_key)
    nlp.get_pipe_config(nlp.pipe_names[at]).update(fitted.settings)
    linker.config_settings = replace(linker.config_settings, **fitted.settings)
    return fitted
