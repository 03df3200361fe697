"""Run the components before a linker on documents, and calibrate the linker on a corpus."""

from collections.abc import Iterable, Iterator, Sequence

from spacy.language import Language
from spacy.tokens import Doc

from ..corpora.docs import GOLD_SPANS, to_doc
from ..corpora.documents import CorpusDocument
from ..corpora.entity_types import complete_ids
from ..linking.decision.calibration import Calibration
from ..linking.linker import AngelLinker
from ..linking.mentions.reading import READ_AS


def components_before(
    nlp: Language, linker: AngelLinker, *, given_mentions: bool = False
) -> list[str]:
    """Components that run before a linker.

    nlp (Language): the pipeline. linker (AngelLinker): a linker in it.
    given_mentions (bool): the documents have mentions, so leave out the components that write
        entities.
    RETURNS (list[str]): their names, in the order of the pipeline.
    """
    before = nlp.pipe_names[: nlp.pipe_names.index(linker.name)]
    if given_mentions:
        return [name for name in before if "doc.ents" not in nlp.get_pipe_meta(name).assigns]
    return before


def given_doc(document: CorpusDocument, nlp: Language) -> Doc:
    """document (CorpusDocument): with gold mentions. nlp (Language): tokenizes it.
    RETURNS (Doc): see `corpora.to_doc`; a mention's `read_as` replaces its text for the linker."""
    doc = to_doc(document, nlp)
    doc.user_data[READ_AS] = [[m.start, m.end, m.read_as] for m in document.mentions if m.read_as]
    return doc


def prepare_docs(
    nlp: Language, linker: AngelLinker, documents: Sequence[CorpusDocument], *, given: bool
) -> Iterator[Doc]:
    """Run the components before a linker on a batch of documents.

    nlp (Language): the pipeline. linker (AngelLinker): a linker in it.
    documents (Sequence[CorpusDocument]): the batch.
    given (bool): put the mentions of the documents in the span group `gold`, and skip the
        components that write entities; otherwise the pipeline finds the mentions.
    RETURNS (Iterator[Doc]): one per document.
    """
    run = components_before(nlp, linker, given_mentions=given)
    docs = [given_doc(one, nlp) if given else nlp.make_doc(one.text) for one in documents]
    return nlp.pipe(docs, batch_size=len(docs), disable=set(nlp.pipe_names) - set(run))


def calibrate_on(
    nlp: Language, linker: AngelLinker, documents: Iterable[CorpusDocument]
) -> Calibration:
    """Calibrate a linker on the gold mentions of a corpus, including overlapping ones.

    nlp (Language): the pipeline; the components before the linker that do not write entities run.
    linker (AngelLinker): its linker, which uses the fitted settings from now on.
    documents (Iterable[CorpusDocument]): e.g. from `corpora.read_corpus`.
    RETURNS (Calibration): see `AngelLinker.calibrate`.
    RAISES (AngelError): no mention's right concept is among its candidates.
    """
    # A bare number that does not resolve would teach the linker that the mention is NIL.
    known = list(complete_ids(documents, linker.kb.resolve))
    with linker.using(candidates={"span_key": GOLD_SPANS}):
        return linker.calibrate(prepare_docs(nlp, linker, known, given=True))
