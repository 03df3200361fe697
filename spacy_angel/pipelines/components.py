"""What a linker in a pipeline is given: the work of other components, and gold mentions."""

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
    """Components whose work a linker reads.

    nlp (Language): the pipeline. linker (AngelLinker): a linker in it.
    given_mentions (bool): the documents have their mentions, so that components which write
        entities do not run.
    RETURNS (list[str]): their names, in the order of the pipeline.
    """
    place = next(i for i, (_, component) in enumerate(nlp.pipeline) if component is linker)
    before = nlp.pipe_names[:place]
    if not given_mentions:
        return before
    return [name for name in before if "doc.ents" not in nlp.get_pipe_meta(name).assigns]


def given_doc(document: "CorpusDocument", nlp: "Language") -> "Doc":
    """document (CorpusDocument): with gold mentions. nlp (Language): makes its tokens.
    RETURNS (Doc): see `corpora.to_doc`; a linker reads in the mentions' places what is to be."""
    from ..corpora.docs import to_doc
    from ..linking.mentions.reading import READ_AS

    doc = to_doc(document, nlp)
    doc.user_data[READ_AS] = [[m.start, m.end, m.read_as] for m in document.mentions if m.read_as]
    return doc


class MentionPipe:
    """Makes documents ready for a linker: with their mentions in the span group `gold`, or with
    those that the pipeline finds.

    nlp (Language): the pipeline, of which nothing runs from the linker on.
    linker (AngelLinker): the linker in it.
    """

    def __init__(self, nlp: "Language", linker: "AngelLinker") -> None:
        self._nlp = nlp
        self._not_run = {
            given: set(nlp.pipe_names).difference(
                components_before(nlp, linker, given_mentions=given)
            )
            for given in (False, True)
        }

    def __call__(self, documents: "Sequence[CorpusDocument]", *, given: bool) -> "Iterator[Doc]":
        """documents (Sequence[CorpusDocument]): a batch. given (bool): with their mentions.
        RETURNS (Iterator[Doc]): one a document."""
        docs = [
            given_doc(document, self._nlp) if given else self._nlp.make_doc(document.text)
            for document in documents
        ]
        return self._nlp.pipe(docs, batch_size=len(docs), disable=self._not_run[given])


def each_together(
    items: Sequence[_Item],
    is_given: Callable[[_Item], bool],
    link: "Callable[[list[_Item], bool], Sequence[_Result]]",
) -> list[_Result]:
    """Link what has its mentions together, and what has none.

    items (Sequence[_Item]): in any order. is_given (Callable): whether one has its mentions.
    link (Callable): some, and whether they have their mentions → one result each.
    RETURNS (list[_Result]): in the order of the items.
    """
    given = [is_given(item) for item in items]
    results: dict[int, _Result] = {}
    for kind in (True, False):
        if places := [i for i, one in enumerate(given) if one is kind]:
            alike = link([items[i] for i in places], kind)
            results.update(zip(places, alike, strict=True))
    return [results[i] for i in range(len(items))]


def types_for_vocabulary(linker: "AngelLinker", kb: "ConceptKB") -> dict[str, tuple[str, ...]]:
    """What a linker's labels are limited to with another vocabulary than its own.

    linker (AngelLinker): e.g. the shipped one, whose diseases are limited to the types of MeSH's
        branches `C` and `F03`.
    kb (ConceptKB): what it links to.
    RETURNS (dict[str, tuple[str, ...]]): its `types_by_label`; without limits where the vocabulary
        lacks one of the types, for then they were not meant for it.
    """
    limits = linker.settings.types_by_label
    wanted = {name for types in limits.values() for name in types}
    return dict(limits) if wanted <= set(kb.types) else {}


def name_of(nlp: "Language", linker: "AngelLinker") -> str:
    """nlp (Language): the pipeline. linker (AngelLinker): a linker in it.
    RETURNS (str): its name there."""
    return next(name for name, component in nlp.pipeline if component is linker)
