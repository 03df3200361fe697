"""Documents → windows of words with their tags, and batches of them, see `texts`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from ...about import DATA, SHIPPED_NAMES
from ...corpora.documents import CorpusDocument
from ...corpora.note_text import restyled
from ...corpora.recogniser_data import mentions_by_label, names_by_label, swap_mentions
from ...errors import AngelError
from ...recognition.finder import FinderConfig
from ...recognition.network import NO_WORD, Row
from ...recognition.tags import tags_of
from ...recognition.windows import cut_windows
from ...recognition.words import WordReader, Words
from ...vocabulary.kb import ConceptKB
from ...vocabulary.lookup.occurrences import Occurrences
from ..data.batches import chunks, padded
from ..models.losses import IGNORE
from .config import OPEN, RecogniserConfig
from .rows import TaggedRow, TaggedRows
from .texts import Annotated, silver_names, with_names

_AT_ONCE = 256


def word_tags(words: Words, annotated: Annotated, labels: Sequence[str]) -> np.ndarray:
    """Tags of a document's words.

    A mention that begins or ends inside a word leaves its words open, as does what has a question
    mark; of mentions with one label that overlap the longest stays.

    words (Words): of its text.
    annotated (Annotated): the document.
    labels (Sequence[str]): of the recogniser.
    RETURNS (np.ndarray): int8[words, labels]; `IGNORE` where nothing is to be learned.
    """
    spans: list[tuple[int, int, int]] = []
    left_open: list[tuple[int, int, int]] = []
    for mention in sorted(annotated.document.mentions, key=lambda m: (m.start - m.end, m.start)):
        label = labels.index(mention.label.removesuffix(OPEN))
        begin = int(np.searchsorted(words.ends, mention.start, side="right"))
        end = int(np.searchsorted(words.starts, mention.end, side="left"))
        if begin >= end:
            continue
        fits = words.starts[begin] == mention.start and words.ends[end - 1] == mention.end
        whole = fits and not mention.label.endswith(OPEN)
        (spans if whole else left_open).append((label, begin, end))
    tags = tags_of(spans, len(words), len(labels))
    for label, begin, end in left_open:
        part = tags[begin:end, label]
        part[part == 0] = IGNORE
    is_annotated = np.array([label in annotated.labels for label in labels])
    tags[:, ~is_annotated] = IGNORE
    return tags


def make_rows(
    texts: Sequence[Annotated], config: RecogniserConfig, form: FinderConfig, reader: WordReader
) -> TaggedRows:
    """What is learned from, all passes one after the other.

    texts (Sequence[Annotated]): the documents.
    config (RecogniserConfig): how often and how changed they are read.
    form (FinderConfig), reader (WordReader): the recogniser's.
    RETURNS (TaggedRows): the windows; without teachers those alone in which something is annotated.
    RAISES (AngelError): words are to be masked, and the tokenizer has no mask.
    """
    if config.data.masked and reader.mask_id is None:
        raise AngelError(
            "data.masked needs a mask token, which the tokenizer of recogniser.start lacks."
        )
    return TaggedRows.of(_windows(texts, config, form, reader), len(form.labels))


def _windows(
    texts: Sequence[Annotated], config: RecogniserConfig, form: FinderConfig, reader: WordReader
) -> Iterator[tuple[Row, np.ndarray]]:
    pools = _name_pools(texts, config.data.names)
    silver = silver_names(config)
    mask_id = reader.mask_id
    for number in range(config.data.passes):
        readings = _readings(texts, config, pools, silver, number)
        bar = tqdm(readings, desc=f"Pass {number + 1}", total=len(texts), unit=" texts")
        for group in chunks(bar, _AT_ONCE):
            all_words = reader([annotated.document.text for annotated, _ in group])
            for whole, (annotated, chance) in zip(all_words, group, strict=True):
                tags = word_tags(whole, annotated, form.labels)
                first = chance.randint(form.room // 4, form.room) if number else None
                words = whole
                if number and config.data.masked and mask_id is not None:
                    words = masked(whole, config.data.masked, mask_id, chance)
                for begin, end in cut_windows(words.offsets, form.room, form.overlap, first):
                    own = tags[begin:end]
                    if config.recogniser.teachers or (own != IGNORE).any():
                        yield form.row(words, begin, end), own


def masked(words: Words, share: float, mask_id: int, chance: Random) -> Words:
    """Hide some words; their cases stay.

    words (Words): of a text. share (float): of them, so many are hidden on average.
    mask_id (int): the piece that stands in place of theirs. chance (Random): chooses.
    RETURNS (Words): as many, of as many pieces.
    """
    hidden = np.array([chance.random() < share for _ in range(len(words))], dtype=bool)
    of_pieces = np.repeat(hidden, np.diff(words.offsets))
    return replace(words, pieces=np.where(of_pieces, mask_id, words.pieces))


def _readings(
    texts: Sequence[Annotated],
    config: RecogniserConfig,
    pools: Sequence[Mapping[str, Sequence[str]]],
    silver: Mapping[str, Mapping[str, Occurrences]],
    number: int,
) -> Iterator[tuple[Annotated, Random]]:
    """YIELDS (tuple[Annotated, Random]): each text as this pass reads it, and its chance."""
    data = config.data
    for i, annotated in enumerate(texts):
        chance = Random(f"{data.seed} {number} {i}")
        document = annotated.document
        if number and not _overlapping(document):
            if chance.random() < data.swapped:
                document = swap_mentions(document, chance.choice(pools), chance)
            if chance.random() < data.restyled:
                document = restyled(document, chance)
        read = replace(annotated, document=document)
        yield with_names(read, silver[annotated.corpus]), chance


def _overlapping(document: CorpusDocument) -> bool:
    spans = sorted((mention.start, mention.end) for mention in document.mentions)
    return any(end > start for (_, end), (start, _) in pairwise(spans))


def _name_pools(
    texts: Iterable[Annotated], vocabularies: Iterable[str]
) -> list[Mapping[str, Sequence[str]]]:
    own = mentions_by_label(annotated.document for annotated in texts)
    pools: list[Mapping[str, Sequence[str]]] = [
        {label: names for label, names in own.items() if not label.endswith(OPEN)}
    ]
    for name in vocabularies:
        folder = DATA / name / "angel_linker" / "kb" if name in SHIPPED_NAMES else Path(name)
        pools.append(names_by_label(ConceptKB.from_disk(folder)))
    return pools


def as_batch(rows: Sequence[Row], pad_token_id: int, width: int = 0) -> dict[str, Tensor]:
    """What a network reads at once.

    rows (Sequence[Row]): windows.
    pad_token_id (int): fills the gaps.
    width (int): places of each row; 0: as many as the longest one needs.
    RETURNS (dict[str, Tensor]): int64[rows, width] all: `input_ids`, `attention_mask`, `cases`, and
        `words`, each piece's word, counted through all rows, or `NO_WORD`.
    """
    shape = (len(rows), width or padded(max(len(row) for row in rows)))
    ids = np.full(shape, pad_token_id, dtype=np.int64)
    mask, cases = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    words = np.full(shape, NO_WORD, dtype=np.int64)
    for i, row in enumerate(rows):
        ids[i, : len(row)], cases[i, : len(row)], mask[i, : len(row)] = row.pieces, row.cases, 1
        words[i, : len(row)] = row.words
    arrays = {
        "input_ids": ids,
        "attention_mask": mask,
        "cases": cases,
        "words": numbered(words, [row.n_words for row in rows]),
    }
    return {name: torch.from_numpy(values) for name, values in arrays.items()}


def numbered(words: np.ndarray, n_words: Sequence[int] | np.ndarray) -> np.ndarray:
    """words (np.ndarray): int64[rows, width], each piece's word in its row, or `NO_WORD`.
    n_words (Sequence[int] | np.ndarray): of each row.
    RETURNS (np.ndarray): int64[rows, width], counted through all rows."""
    before = np.cumsum(n_words) - np.asarray(n_words)
    return np.where(words == NO_WORD, NO_WORD, words + before[:, None])


def collate(items: Sequence[TaggedRow], pad_token_id: int, width: int = 0) -> dict[str, Tensor]:
    """A batch with its tags.

    items (Sequence[TaggedRow]): of `TaggedRows`.
    pad_token_id (int), width (int): see `as_batch`.
    RETURNS (dict[str, Tensor]): that of `as_batch`, `tags` int64[words, labels], and where there
        are teachers `taught` float32[words, labels, tags].
    """
    batch = as_batch([row for row, _, _ in items], pad_token_id, width)
    tags = np.concatenate([own for _, own, _ in items]).astype(np.int64)
    batch["tags"] = torch.from_numpy(tags)
    taught = [own for _, _, own in items if own is not None]
    if taught:
        batch["taught"] = torch.from_numpy(np.concatenate(taught).astype(np.float32))
    return batch
