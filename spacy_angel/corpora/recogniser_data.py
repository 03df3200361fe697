"""Replacement of mentions with other names, so that a recognizer learns from the context."""

import re
from collections.abc import Iterable, Mapping, Sequence
from random import Random

from .documents import CorpusDocument
from .text_changes import replace_spans


def mentions_by_label(documents: Iterable[CorpusDocument]) -> dict[str, list[str]]:
    """Collect the mentions of documents by label.

    documents (Iterable[CorpusDocument]): documents with labels from `labels.yml`.
    RETURNS (dict[str, list[str]]): all mentions with each label, including repetitions.
    """
    mentions: dict[str, list[str]] = {}
    for document in documents:
        for mention in document.mentions:
            mentions.setdefault(mention.label, []).append(mention.text)
    return mentions


def swap_mentions(
    document: CorpusDocument, names: Mapping[str, Sequence[str]], rng: Random
) -> CorpusDocument:
    """Replace the mentions of a document with names. Equal mentions are replaced with equal names.

    document (CorpusDocument): document with labels from `vocabulary/names/labels.yml`.
    names (Mapping[str, Sequence[str]]): names by label; mentions with other labels are kept.
    rng (Random): random generator.
    RETURNS (CorpusDocument): the new document, with adjusted offsets.
    """
    chosen: dict[str, str] = {}
    for mention in document.mentions:
        if mention.label in names and mention.text not in chosen:
            chosen[mention.text] = as_written(rng.choice(names[mention.label]), rng)
    places = sorted((m.start, m.end, chosen[m.text]) for m in document.mentions if m.text in chosen)
    return replace_spans(document, places)


def as_written(name: str, rng: Random) -> str:
    """Lowercase a name with a probability of 0.5, unless it has a capital inside a word (`IDDM`).

    name (str): name in a vocabulary.
    rng (Random): random generator.
    RETURNS (str): the name.
    """
    plain = not re.search(r"\S[A-Z]", name)
    return name.lower() if plain and rng.random() < 0.5 else name
