"""Gold mentions of a corpus as names in a vocabulary."""

from collections.abc import Iterable, Iterator

from ..vocabulary.names.identifiers import split_ids
from .documents import CorpusDocument


def mention_names(documents: Iterable[CorpusDocument]) -> Iterator[tuple[str, str]]:
    """Yield gold mentions as names of their concepts. Composites (`breast and ovarian cancer`) are
    skipped.

    documents (Iterable[CorpusDocument]): e.g. from `corpora.read_corpus`.
    YIELDS (tuple[str, str]): identifier and name.
    """
    for document in documents:
        for mention in document.mentions:
            ids = split_ids(mention.concept_ids)
            if len(ids) == 1:
                yield ids[0], mention.text
