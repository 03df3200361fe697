"""Training data of a recognizer: corpora → annotated documents → windows of tagged words → batches.

Annotation of a word for each label:

    NCBI-disease      Sorafenib  in  renal  cancer
    DISEASE           O          O   B      I
    CHEMICAL          ignored    …                     chemicals are not annotated in the corpus

Partial annotation as in AIONER (Luo et al. 2023, Bioinformatics 39(5)), but with separate tags for
each label instead of a task token before the text.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import md5
from itertools import pairwise
from random import Random
from typing import NamedTuple

import numpy as np
import torch
from spacy.util import minibatch
from torch import Tensor

from ...corpora.documents import CorpusDocument
from ...corpora.recogniser_data import mentions_by_label, swap_mentions
from ...corpora.registry import read_corpus
from ...errors import AngelError
from ...recognition.finder import FinderConfig
from ...recognition.network import NO_WORD, Row
from ...recognition.tags import tags_of
from ...recognition.windows import cut_windows
from ...recognition.words import WordReader, Words
from ...vocabulary.names.labels import find_entries
from ..data.batches import padded, progress
from ..models.losses import IGNORE
from .config import IGNORED, RecognizerConfig, RecognizerCorpus, RecognizerData
from .layouts import rewrite_layout

_TEXTS_AT_ONCE = 256
_ARTICLE = re.compile(r"[0-9]{5,}")


@dataclass(frozen=True)
class Annotated:
    """A document with the labels of the recognizer.

    document (CorpusDocument): with the labels of the recognizer; labels of ignored mentions end
        with a question mark.
    labels (frozenset[str]): labels that are annotated in it.
    """

    document: CorpusDocument
    labels: frozenset[str]


@dataclass(frozen=True)
class RecognizerTexts:
    """All documents of a config.

    train (list[Annotated]): for training.
    choose (list[Annotated]): for choosing the checkpoint.
    test (list[Annotated]): for evaluation at the end.
    """

    train: list[Annotated]
    choose: list[Annotated]
    test: list[Annotated]


def digit_of(doc_id: str) -> int:
    """doc_id (str): identifier of a document. RETURNS (int): 0 to 9, the same for all documents of
    an article, whose identifiers share their first number with at least five digits (PMID, PMC)."""
    match = _ARTICLE.search(doc_id)
    article = match[0] if match else doc_id
    return int(md5(article.encode()).hexdigest(), 16) % 10


def read_texts(config: RecognizerConfig) -> RecognizerTexts:
    """config (RecognizerConfig): names the files. RETURNS (RecognizerTexts): the documents. RAISES
    (AngelError): a file cannot be read, or the label of a mention is not in the config."""
    data = config.data
    texts = RecognizerTexts([], [], [])
    for name, corpus in config.corpora.items():
        for annotated in _read_corpus(name, corpus, data.seed):
            digit = digit_of(annotated.document.doc_id)
            if digit in data.choose:
                texts.choose.append(annotated)
            elif digit in data.test:
                texts.test.append(annotated)
            else:
                chance = Random(f"copies {data.seed} {annotated.document.doc_id}").random()
                texts.train.extend([annotated] * int(corpus.copies + chance))
    return texts


def _read_corpus(name: str, corpus: RecognizerCorpus, seed: int) -> Iterator[Annotated]:
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
        unique = tuple(dict.fromkeys(mentions))
        yield Annotated(replace(document, mentions=unique), corpus.annotated)


class TaggedRow(NamedTuple):
    """A window for training.

    pieces, cases, words (np.ndarray): int32, int8, and int16[pieces], see `network.Row`.
    tags (np.ndarray): int8[words, labels], see `word_tags`.
    """

    pieces: np.ndarray
    cases: np.ndarray
    words: np.ndarray
    tags: np.ndarray

    @classmethod
    def of(cls, row: Row, tags: np.ndarray) -> "TaggedRow":
        """row (Row), tags (np.ndarray): of a window. RETURNS (TaggedRow): both, in compact
        types."""
        pieces, cases = np.array(row.pieces, np.int32), np.array(row.cases, np.int8)
        return cls(pieces, cases, np.array(row.words, np.int16), tags)


class TaggedRows(list[TaggedRow]):
    """The windows for training."""

    @property
    def lengths(self) -> tuple[np.ndarray, np.ndarray]:
        """RETURNS (tuple[np.ndarray, np.ndarray]): int64[windows], number of tokens, twice, because
        `LengthSampler` sorts by two lengths."""
        lengths = np.array([len(row.pieces) for row in self])
        return lengths, lengths


def word_tags(words: Words, annotated: Annotated, labels: Sequence[str]) -> np.ndarray:
    """Return the tags of a document's words.

    Words of a mention that begins or ends inside a word are ignored, as are those of mentions with
    a question mark. Of overlapping mentions with the same label, only the longest is used.

    words (Words): words of the text.
    annotated (Annotated): the document.
    labels (Sequence[str]): labels of the recognizer.
    RETURNS (np.ndarray): int8[words, labels]; `IGNORE` for words that are not used.
    """
    spans: list[tuple[int, int, int]] = []
    ignored: list[tuple[int, int, int]] = []
    for mention in sorted(annotated.document.mentions, key=lambda m: (m.start - m.end, m.start)):
        label = labels.index(mention.label.removesuffix(IGNORED))
        begin = int(np.searchsorted(words.ends, mention.start, side="right"))
        end = int(np.searchsorted(words.starts, mention.end, side="left"))
        if begin >= end:
            continue
        fits = words.starts[begin] == mention.start and words.ends[end - 1] == mention.end
        whole = fits and not mention.label.endswith(IGNORED)
        (spans if whole else ignored).append((label, begin, end))
    tags = tags_of(spans, len(words), len(labels))
    for label, begin, end in ignored:
        part = tags[begin:end, label]
        part[part == 0] = IGNORE
    is_annotated = np.array([label in annotated.labels for label in labels])
    tags[:, ~is_annotated] = IGNORE
    return tags


def make_rows(
    texts: Sequence[Annotated], data: RecognizerData, form: FinderConfig, reader: WordReader
) -> TaggedRows:
    """Make the windows for training, epoch by epoch.

    texts (Sequence[Annotated]): the documents.
    data (RecognizerData): epochs and sampling.
    form (FinderConfig), reader (WordReader): of the recognizer.
    RETURNS (TaggedRows): the windows with annotations.
    """
    rows = TaggedRows()
    for number in range(data.epochs):
        bar = progress(_one_epoch(texts, data, number), f"Epoch {number + 1}", "texts", len(texts))
        for group in minibatch(bar, _TEXTS_AT_ONCE):
            all_words = reader([annotated.document.text for annotated, _ in group])
            for words, (annotated, rng) in zip(all_words, group, strict=True):
                tags = word_tags(words, annotated, form.labels)
                first = rng.randint(form.room // 4, form.room) if number else None
                for begin, end in cut_windows(words.offsets, form.room, form.overlap, first):
                    if (tags[begin:end] != IGNORE).any():
                        rows.append(TaggedRow.of(form.row(words, begin, end), tags[begin:end]))
    return rows


def _one_epoch(
    texts: Sequence[Annotated], data: RecognizerData, number: int
) -> Iterator[tuple[Annotated, Random]]:
    """YIELDS (tuple[Annotated, Random]): each text as used in this epoch, with a random
    generator."""
    names: Mapping[str, Sequence[str]] = {
        label: mentions
        for label, mentions in mentions_by_label(one.document for one in texts).items()
        if not label.endswith(IGNORED)
    }
    for i, annotated in enumerate(texts):
        rng = Random(f"{data.seed} {number} {i}")
        document = annotated.document
        if number and not _overlapping(document):
            # The second number is not used; drawing it keeps the windows of a seed as they were.
            drawn, _ = rng.random(), rng.random()
            if drawn < data.swapped:
                document = swap_mentions(document, names, rng)
        # A generator of its own keeps the windows of a seed as they are without rewritten layouts.
        own = Random(f"layout {data.seed} {number} {i}")
        if number and own.random() < data.layouts:
            document = rewrite_layout(document, own)
        annotated = replace(annotated, document=document)
        yield annotated, rng


def _overlapping(document: CorpusDocument) -> bool:
    spans = sorted((mention.start, mention.end) for mention in document.mentions)
    return any(end > start for (_, end), (start, _) in pairwise(spans))


def collate(rows: Sequence[TaggedRow], pad_token_id: int) -> dict[str, Tensor]:
    """Make a batch of windows.

    rows (Sequence[TaggedRow]): from `make_rows`.
    pad_token_id (int): of the encoder.
    RETURNS (dict[str, Tensor]): int64[rows, width] `input_ids`, `attention_mask`, `cases`, and
        `words`, the word of each token, numbered over all rows, or `NO_WORD`; int64[words, labels]
        `tags`.
    """
    shape = (len(rows), padded(max(len(row.pieces) for row in rows)))
    ids = np.full(shape, pad_token_id, dtype=np.int64)
    mask, cases = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    words = np.full(shape, NO_WORD, dtype=np.int64)
    n_words = 0
    for i, row in enumerate(rows):
        n = len(row.pieces)
        ids[i, :n], cases[i, :n], mask[i, :n] = row.pieces, row.cases, 1
        own = row.words.astype(np.int64)
        words[i, :n] = np.where(own == NO_WORD, NO_WORD, own + n_words)
        n_words += len(row.tags)
    arrays = {
        "input_ids": ids,
        "attention_mask": mask,
        "cases": cases,
        "words": words,
        "tags": np.concatenate([row.tags for row in rows]).astype(np.int64),
    }
    return {name: torch.from_numpy(values) for name, values in arrays.items()}
