"""Gold mentions of a corpus as names of a vocabulary."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..vocabulary.kb import ConceptKB
from ..vocabulary.names.identifiers import split_ids
from .documents import CorpusDocument


def add_corpus_mentions(
    folder: Path, documents: Iterable[CorpusDocument], source: str
) -> dict[str, Any]:
    """Add the mention strings of a training corpus to a stored vocabulary as names.

    folder (Path): the vocabulary; it is written anew.
    documents (Iterable[CorpusDocument]): see `mention_names`.
    source (str): the corpus, for the record.
    RETURNS (dict[str, Any]): the record of the step, see `ConceptKB.add_mentions`.
    RAISES (AngelError): folder or corpus cannot be read; the vocabulary stays as it was then.
    """
    kb = ConceptKB.from_disk(folder, rules=False)
    step = kb.add_mentions(mention_names(documents), source)
    kb.to_disk(folder)
    return step


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
