"""Documents → windows of words with their tags, and batches of them, see `texts`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from random import Random
from types import MappingProxyType

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset
from tqdm import tqdm

from ...about import DATA, SHIPPED_NAMES
from ...corpora.documents import CorpusDocument
from ...corpora.note_text import restyled
from ...corpora.recogniser_data import mentions_by_label, names_by_label, swap_mentions
from ...errors import AngelError, Errors
from ...recognition.finder import FinderConfig
from ...recognition.network import Row
from ...recognition.tags import N_TAGS, tags_of
from ...recognition.windows import cut_windows
from ...recognition.words import WordReader, Words
from ...vocabulary.kb import ConceptKB
from ...vocabulary.lookup.occurrences import Occurrences
from ..data.batches import chunks, padded
from ..models.losses import IGNORE
from .config import OPEN, RecogniserConfig
from .texts import Annotated, silver_names, with_names

_AT_ONCE = 256

TaggedRow = tuple[Row, np.ndarray, np.ndarray | None]
"""A window, the tags of its words, and what a teacher says of them."""


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


@dataclass
class TaggedRows(Dataset):
    """Windows with the tags of their words.

    rows (list[Row]): as the encoder reads them.
    tags (list[np.ndarray]): int8[words, labels] of each.
    taught (list[np.ndarray | None]): float16[words, labels, tags] of each, a teacher's
        probabilities.
    """

    rows: list[Row]
    tags: list[np.ndarray]
    taught: list[np.ndarray | None]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> "TaggedRow":
        return self.rows[index], self.tags[index], self.taught[index]

    @property
    def lengths(self) -> tuple[np.ndarray, np.ndarray]:
        """RETURNS (tuple[np.ndarray, np.ndarray]): int64[rows], pieces, twice: `LengthSampler`
        asks for two sides."""
        lengths = np.array([len(row) for row in self.rows], dtype=np.int64)
        return lengths, lengths


def make_rows(
    texts: Sequence[Annotated],
    config: RecogniserConfig,
    form: FinderConfig,
    reader: WordReader,
    taught: Mapping[str, np.ndarray] = MappingProxyType({}),
) -> TaggedRows:
    """What is learned from, all passes one after the other.

    texts (Sequence[Annotated]): the documents.
    config (RecogniserConfig): how often and how changed they are read.
    form (FinderConfig), reader (WordReader): the recogniser's.
    taught (Mapping[str, np.ndarray]): text to what a teacher says of its words, see
        `teacher.teach`; a reading that is changed has it no more.
    RETURNS (TaggedRows): the windows.
    RAISES (AngelError): words are to be masked, and the tokenizer has no mask.
    """
    pools = _name_pools(texts, config.data.names)
    silver = silver_names(config)
    mask_id = reader.mask_id
    if config.data.masked and mask_id is None:
        raise AngelError(Errors.E625.format(setting="data.masked"))
    made = TaggedRows([], [], [])
    for number in range(config.data.passes):
        readings = _readings(texts, config, pools, silver, number)
        bar = tqdm(readings, desc=f"Pass {number + 1}", total=len(texts), unit=" texts")
        for group in chunks(bar, _AT_ONCE):
            all_words = reader([annotated.document.text for annotated, _ in group])
            for whole, (annotated, chance) in zip(all_words, group, strict=True):
                of_words = word_tags(whole, annotated, form.labels)
                of_teacher = taught.get(annotated.document.text)
                first = chance.randint(form.room // 4, form.room) if number else None
                words = whole
                if number and config.data.masked and mask_id is not None:
                    words = masked(whole, config.data.masked, mask_id, chance)
                for begin, end in cut_windows(words.offsets, form.room, form.overlap, first):
                    learned = None if of_teacher is None else of_teacher[begin:end]
                    if learned is not None or (of_words[begin:end] != IGNORE).any():
                        made.rows.append(form.row(words, begin, end))
                        made.tags.append(of_words[begin:end])
                        made.taught.append(learned)
    return made


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


def as_batch(rows: Sequence[Row], pad_token_id: int) -> dict[str, Tensor]:
    """What a network reads at once.

    rows (Sequence[Row]): windows.
    pad_token_id (int): fills the gaps.
    RETURNS (dict[str, Tensor]): `input_ids`, `attention_mask`, `cases` [rows, width], all int64;
        `words` int64[pieces] and `n_words` int64[rows] as `mean_by_word` takes them.
    """
    shape = (len(rows), padded(max(len(row) for row in rows)))
    ids = np.full(shape, pad_token_id, dtype=np.int64)
    mask, cases = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for i, row in enumerate(rows):
        ids[i, : len(row)], cases[i, : len(row)], mask[i, : len(row)] = row.pieces, row.cases, 1
    arrays = {
        "input_ids": ids,
        "attention_mask": mask,
        "cases": cases,
        "words": np.array([word for row in rows for word in row.words], dtype=np.int64),
        "n_words": np.array([row.n_words for row in rows], dtype=np.int64),
    }
    return {name: torch.from_numpy(values) for name, values in arrays.items()}


def collate(items: Sequence[TaggedRow], pad_token_id: int) -> dict[str, Tensor]:
    """A batch with its tags.

    items (Sequence[TaggedRow]): of `TaggedRows`.
    pad_token_id (int): fills the gaps.
    RETURNS (dict[str, Tensor]): that of `as_batch`, `tags` int64[words, labels], and where a
        teacher has read one of the rows `taught` float32[words, labels, tags].
    """
    batch = as_batch([row for row, _, _ in items], pad_token_id)
    tags = np.concatenate([own for _, own, _ in items]).astype(np.int64)
    batch["tags"] = torch.from_numpy(tags)
    if any(taught is not None for _, _, taught in items):
        parts = [
            np.zeros((*own.shape, N_TAGS), np.float32) if taught is None else taught
            for _, own, taught in items
        ]
        batch["taught"] = torch.from_numpy(np.concatenate(parts).astype(np.float32))
    return batch
