"""Corpora → documents with the labels of a recogniser, and what they leave open.

What a corpus says of each word and label:

    NCBI-disease      Sorafenib  in  renal  cancer
    DISEASE           O          O   B      I
    CHEMICAL          open       …                     the corpus marks no chemicals

Partial annotation as in AIONER (Luo et al. 2023, Bioinformatics 39(5)), with tags of its own for
each label in place of a task word before the text: what is open takes no loss.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import md5
from pathlib import Path
from random import Random

from ...corpora.documents import CorpusDocument, GoldMention
from ...corpora.registry import read_corpus
from ...errors import AngelError
from ...vocabulary.kb import ConceptKB
from ...vocabulary.lookup.occurrences import Occurrences
from ...vocabulary.names.labels import find_entries
from ...vocabulary.sources.build import build_vocabulary
from .config import OPEN, RecogniserConfig, RecogniserCorpus

_ARTICLE = re.compile(r"[0-9]{5,}")


_SHORTEST_NAME = 5


@dataclass(frozen=True)
class Annotated:
    """A document with the labels of the recogniser.

    document (CorpusDocument): its mentions' labels are those of the recogniser, or such with a
        question mark, for what is left open.
    corpus (str): its name in the config.
    labels (frozenset[str]): those that are annotated in it.
    """

    document: CorpusDocument
    corpus: str
    labels: frozenset[str]


@dataclass(frozen=True)
class RecogniserTexts:
    """All documents of a config.

    train (list[Annotated]): to learn from.
    choose (list[Annotated]): to choose the best checkpoint on.
    last_look (list[Annotated]): to measure on at the end.
    """

    train: list[Annotated]
    choose: list[Annotated]
    last_look: list[Annotated]


def article_of(doc_id: str) -> str:
    """doc_id (str): of a document. RETURNS (str): the first number of five digits or more in it
    (PMID, PMC), or else the id: what stands in several corpora, or in parts, is one article."""
    match = _ARTICLE.search(doc_id)
    return match[0] if match else doc_id


def digit_of(doc_id: str) -> int:
    """doc_id (str): of a document. RETURNS (int): 0 to 9, by the article."""
    return int(md5(article_of(doc_id).encode()).hexdigest(), 16) % 10


def read_texts(config: RecogniserConfig) -> RecogniserTexts:
    """config (RecogniserConfig): names the files. RETURNS (RecogniserTexts): the documents.
    RAISES (AngelError): a file cannot be read, or a mention's label is not in the config."""
    data = config.data
    never = {article_of(d.doc_id) for path in data.never for d in read_corpus(path)}
    texts = RecogniserTexts([], [], [])
    for name, corpus in config.corpora.items():
        for annotated in _read_corpus(name, corpus, data.seed):
            digit = digit_of(annotated.document.doc_id)
            held = digit in (*data.choose, *data.last_look)
            if article_of(annotated.document.doc_id) in never or (corpus.silver and held):
                continue
            if digit in data.choose:
                texts.choose.append(annotated)
            elif digit in data.last_look:
                texts.last_look.append(annotated)
            else:
                texts.train.extend([annotated] * _copies(annotated, corpus.copies, data.seed))
    return texts


def _copies(annotated: Annotated, copies: float, seed: int) -> int:
    chance = Random(f"copies {seed} {annotated.document.doc_id}")
    return int(copies) + (chance.random() < copies % 1)


def _read_corpus(name: str, corpus: RecogniserCorpus, seed: int) -> Iterator[Annotated]:
    for document in read_corpus(corpus.path, corpus.format, strict=corpus.strict):
        chance = Random(f"{seed} {document.doc_id}")
        if not document.mentions and chance.random() >= corpus.without_mentions:
            continue
        mentions = []
        for mention in document.mentions:
            spelled = find_entries(mention.label, corpus.labels)
            if not spelled:
                raise AngelError(
                    f"{corpus.path}: the label {mention.label!r} of {mention.text!r} is not in "
                    f"[corpora.{name}.labels]. Add it."
                )
            if label := corpus.labels[spelled[0]]:
                mentions.append(replace(mention, label=label, concept_ids="", parts=()))
        mentions += _left_open(document, corpus.left_open)
        unique = tuple(dict.fromkeys(mentions))
        yield Annotated(replace(document, mentions=unique), name, corpus.annotated)


def _left_open(document: CorpusDocument, strings: Mapping[str, Sequence[str]]) -> list[GoldMention]:
    found = []
    for label, words in strings.items():
        pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})\b", re.IGNORECASE)
        found += [
            GoldMention(match.start(), match.end(), match[0], label + OPEN)
            for match in pattern.finditer(document.text)
        ]
    return found


def with_names(annotated: Annotated, names: Mapping[str, Occurrences]) -> Annotated:
    """Take the names of vocabularies for mentions.

    annotated (Annotated): a document.
    names (Mapping[str, Occurrences]): label to what finds the names.
    RETURNS (Annotated): with each name as a mention of its label, and the label among those that
        are annotated. The corpus's own mentions take no loss for that label, except where a name
        stands.
    """
    document = annotated.document
    mentions = list(document.mentions)
    for label, occurrences in names.items():
        found = occurrences.find(document.text)
        mentions += [
            GoldMention(o.start, o.end, document.text[o.start : o.end], label) for o in found
        ]
        mentions += [replace(mention, label=label + OPEN) for mention in document.mentions]
    unique = tuple(dict.fromkeys(mentions))
    labels = annotated.labels | set(names)
    return replace(annotated, document=replace(document, mentions=unique), labels=labels)


def silver_names(config: RecogniserConfig) -> dict[str, dict[str, Occurrences]]:
    """RETURNS (dict[str, dict[str, Occurrences]]): for each corpus, label to what finds the names
    that are taken for mentions."""
    paths = {path for corpus in config.corpora.values() for path in corpus.names.values()}
    names = {path: _names_of(path) for path in sorted(paths)}
    return {
        name: {label: names[path] for label, path in corpus.names.items()}
        for name, corpus in config.corpora.items()
    }


def _names_of(path: str) -> Occurrences:
    kb = ConceptKB.from_disk(path) if Path(path).is_dir() else build_vocabulary([Path(path)], None)
    return Occurrences(kb, everything=True, min_length=_SHORTEST_NAME)
