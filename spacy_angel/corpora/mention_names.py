"""Gold mentions of a corpus as names of a vocabulary."""

from collections.abc import Iterable, Iterator

from ..vocabulary.names.identifiers import split_ids
from .documents import CorpusDocument


def mention_names(documents: Iterable[CorpusDocument]) -> Iterator[tuple[str, str]]:
    """Gold mentions as names of their concepts. A composite (`breast and ovarian cancer`) is a
    name of neither part and left out.

    documents (Iterable[CorpusDocument]): e.g. from `corpora.read_corpus`.
    YIELDS (tuple[str, str]): identifier and text.
    """
    for document in documents:
        for mention in document.mentions:
            ids = split_ids(mention.concept_ids)
            if len(ids) == 1:
                yield ids[0], mention.text
