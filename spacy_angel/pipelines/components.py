"""What a linker in a pipeline reads: gold mentions, and the work of the components before it."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from ..corpora.documents import CorpusDocument
    from ..linking.linker import AngelLinker
    from ..vocabulary.kb import ConceptKB

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def components_before(
    nlp: "Language", linker: "AngelLinker", *, given_mentions: bool = False
) -> list[str]:
    """Components that run before a linker.

    nlp (Language): the pipeline. linker (AngelLinker): a linker in it.
    given_mentions (bool): the documents have mentions, so leave out the components that write
        entities.
    RETURNS (list[str]): their names, in the order of the pipeline.
    """
    before = nlp.pipe_names[: nlp.pipe_names.index(name_of(nlp, linker))]
    if given_mentions:
        return [name for name in before if "doc.ents" not in nlp.get_pipe_meta(name).assigns]
    return before


def given_doc(document: "CorpusDocument", nlp: "Language") -> "Doc":
    """document (CorpusDocument): with gold mentions. nlp (Language): tokenizes it.
    RETURNS (Doc): see `corpora.to_doc`; a mention's `read_as` replaces its text for the linker."""
    from ..corpora.docs import to_doc
    from ..linking.mentions.reading import READ_AS

    doc = to_doc(document, nlp)
    doc.user_data[READ_AS] = [[m.start, m.end, m.read_as] for m in document.mentions if m.read_as]
    return doc


class MentionPipe:
    """Prepares documents for a linker: with their mentions in the span group `gold`, or with those
    that the pipeline finds.

    nlp (Language): the pipeline; the linker and what follows it do not run.
    linker (AngelLinker): the linker in it.
    """

    def __init__(self, nlp: "Language", linker: "AngelLinker") -> None:
        self._nlp = nlp
        self._linker = linker

    def __call__(self, documents: "Sequence[CorpusDocument]", *, given: bool) -> "Iterator[Doc]":
        """documents (Sequence[CorpusDocument]): a batch. given (bool): with their mentions.
        RETURNS (Iterator[Doc]): one per document."""
        nlp = self._nlp
        run = components_before(nlp, self._linker, given_mentions=given)
        docs = [given_doc(one, nlp) if given else nlp.make_doc(one.text) for one in documents]
        return nlp.pipe(docs, batch_size=len(docs), disable=set(nlp.pipe_names) - set(run))


def each_together(
    items: Sequence[_Item],
    is_given: Callable[[_Item], bool],
    link: "Callable[[list[_Item], bool], Sequence[_Result]]",
) -> list[_Result]:
    """Link the items that have mentions in one call, and those that have none in another.

    items (Sequence[_Item]): in any order. is_given (Callable): whether an item has mentions.
    link (Callable): links items; the second argument says whether they have mentions.
    RETURNS (list[_Result]): in the order of the items.
    """
    results: dict[int, _Result] = {}
    for given in (True, False):
        if indices := [i for i, item in enumerate(items) if is_given(item) is given]:
            linked = link([items[i] for i in indices], given)
            results.update(zip(indices, linked, strict=True))
    return [results[i] for i in range(len(items))]


def types_for_vocabulary(linker: "AngelLinker", kb: "ConceptKB") -> dict[str, tuple[str, ...]]:
    """What a linker's labels are limited to with another vocabulary than its own.

    linker (AngelLinker): e.g. the shipped one, whose diseases are limited to the types of MeSH's
        branches `C` and `F03`.
    kb (ConceptKB): what it links to.
    RETURNS (dict[str, tuple[str, ...]]): its `types_by_label`; empty if the vocabulary lacks one of
        the types, since the limits were made for another vocabulary then.
    """
    limits = linker.settings.types_by_label
    wanted = {name for types in limits.values() for name in types}
    return dict(limits) if wanted <= set(kb.types) else {}


def name_of(nlp: "Language", linker: "AngelLinker") -> str:
    """nlp (Language): the pipeline. linker (AngelLinker): a linker in it.
    RETURNS (str): its name there."""
    return next(name for name, component in nlp.pipeline if component is linker)
