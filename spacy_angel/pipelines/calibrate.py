"""Calibrate a linker on the gold mentions of a corpus."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .components import MentionPipe

if TYPE_CHECKING:
    from spacy.language import Language

    from ..corpora.documents import CorpusDocument
    from ..linking.decision.calibration import Calibration
    from ..linking.linker import AngelLinker


def calibrate_on(
    nlp: "Language", linker: "AngelLinker", documents: "Iterable[CorpusDocument]"
) -> "Calibration":
    """Calibrate a linker on the gold mentions of a corpus, including overlapping ones.

    nlp (Language): the pipeline; the components before the linker that do not write entities run.
    linker (AngelLinker): its linker, which uses the fitted settings from now on.
    documents (Iterable[CorpusDocument]): e.g. from `corpora.read_corpus`.
    RETURNS (Calibration): see `AngelLinker.calibrate`.
    RAISES (AngelError): no mention's right concept is among its candidates.
    """
    from ..corpora.docs import GOLD_SPANS
    from ..corpora.entity_types import complete_ids

    # A bare number that does not resolve would teach the linker that the mention is NIL.
    known = list(complete_ids(documents, linker.kb.resolve))
    with linker.using(span_key=GOLD_SPANS):
        return linker.calibrate(MentionPipe(nlp, linker)(known, given=True))
