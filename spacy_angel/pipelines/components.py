"""Run the components before a linker on documents, and calibrate the linker on a corpus."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from spacy.language import Language
from spacy.tokens import Doc

from ..corpora.docs import GOLD_SPANS, to_doc
from ..corpora.documents import CorpusDocument
from ..corpora.entity_types import complete_ids
from ..linking.decision.calibration import Calibration
from ..linking.linker import AngelLinker
from ..linking.mentions.reading import READ_AS
from ..vocabulary.kb import ConceptKB

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


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


def link_by_source(
    items: Sequence[_Item],
    given: Sequence[bool],
    link: Callable[[list[_Item], bool], Iterable[_Result]],
) -> list[_Result]:
    """Link the items that have mentions in one batch, and the others in another.

    items (Sequence[_Item]): in any order. given (Sequence[bool]): whether each has mentions.
    link (Callable): links a batch; the second argument says whether its items have mentions.
    RETURNS (list[_Result]): in the order of the items.
    """
    pairs = list(zip(items, given, strict=True))
    results = {
        kind: iter(link([item for item, own in pairs if own is kind], kind)) for kind in set(given)
    }
    return [next(results[kind]) for kind in given]


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


def types_for_vocabulary(linker: AngelLinker, kb: ConceptKB) -> dict[str, tuple[str, ...]]:
    """What a linker's labels are limited to with another vocabulary than its own.

    linker (AngelLinker): e.g. the shipped one, whose diseases are limited to the types of MeSH's
        branches `C` and `F03`.
    kb (ConceptKB): what it links to.
    RETURNS (dict[str, tuple[str, ...]]): its `types_by_label`; empty if the vocabulary lacks one of
        the types, since the limits were made for another vocabulary then.
    """
    limits = linker.settings.candidates.types_by_label or {}
    return dict(limits) if set().union(*limits.values()) <= set(kb.types) else {}
