"""A linker's limits and probabilities fitted on the gold mentions of a corpus."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.language import Language

    from ..corpora.documents import CorpusDocument
    from ..linking.calibration import Calibration
    from ..linking.linker import AngelLinker


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
