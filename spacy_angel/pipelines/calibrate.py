"""A linker's thresholds and probabilities fitted on the gold mentions of a corpus."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .components import components_before, given_doc

if TYPE_CHECKING:
    from spacy.language import Language

    from ..corpora.documents import CorpusDocument
    from ..linking.decision.calibration import Calibration
    from ..linking.linker import AngelLinker


def calibrate_on(
    nlp: "Language", linker: "AngelLinker", documents: "Iterable[CorpusDocument]"
) -> "Calibration":
    """Calibrate a linker on the gold mentions of a corpus, overlapping ones included.

    nlp (Language): the pipeline; what stands before the linker in it and does not write entities
        runs on the documents.
    linker (AngelLinker): its linker, which uses the fitted settings from now on.
    documents (Iterable[CorpusDocument]): e.g. from `corpora.read_corpus`.
    RETURNS (Calibration): see `AngelLinker.calibrate`.
    RAISES (AngelError): no mention's right concept is among its candidates.
    """
    from ..corpora.docs import GOLD_SPANS
    from ..corpora.entity_types import complete_ids

    # A number that the vocabulary does not know would teach the linker to call its mention NIL.
    documents = complete_ids(documents, linker.kb.resolve)
    kept = components_before(nlp, linker, given_mentions=True)
    docs = nlp.pipe(
        (given_doc(document, nlp) for document in documents),
        disable=set(nlp.pipe_names).difference(kept),
    )
    with linker.using(span_key=GOLD_SPANS):
        return linker.calibrate(docs)
