"""Corpora → what a recogniser learns from, and what it is measured on.

What a corpus says of each word and label:

    NCBI-disease      Sorafenib  in  renal  cancer
    DISEASE           O          O   B      I
    CHEMICAL          open       …                     the corpus marks no chemicals

Partial annotation as in AIONER (Luo et al. 2023, Bioinformatics 39(5)), with tags of its own for
each label in place of a task word before the text: what is open takes no loss.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import md5
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
from ...corpora.documents import CorpusDocument, GoldMention
from ...corpora.note_text import restyled
from ...corpora.recogniser_data import mentions_by_label, names_by_label, swap_mentions
from ...corpora.registry import read_corpus
from ...errors import AngelError, Errors
from ...recognition.finder import FinderConfig
from ...recognition.found import FoundMention
from ...recognition.network import Row
from ...recognition.tags import N_TAGS, tags_of
from ...recognition.windows import cut_windows
from ...recognition.words import WordReader, Words
from ...vocabulary.kb import ConceptKB
from ...vocabulary.lookup.occurrences import Occurrences
from ...vocabulary.names.labels import find_entries
from ...vocabulary.sources.build import build_vocabulary
from ..data.batches import chunks, padded
from ..models.losses import IGNORE
from .config import OPEN, RecogniserConfig, RecogniserCorpus

_ARTICLE = re.compile(r"[0-9]{5,}")
_AT_ONCE = 256
_SHORTEST_NAME = 5

TaggedRow = tuple[Row, np.ndarray, np.ndarray | None]
"""A window, the tags of its words, and what a teacher says of them."""


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
                    Errors.E622.format(
                        label=mention.label, text=mention.text, path=corpus.path, corpus=name
                    )
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
    RETURNS (Annotated): annotated with these labels as well; what it marks itself is left open for
        them where it is no name.
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


def _silver(config: RecogniserConfig) -> dict[str, dict[str, Occurrences]]:
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
    silver = _silver(config)
    mask_id = reader.mask_id
    if config.data.masked and mask_id is None:
        raise AngelError(Errors.E625.format(masked=config.data.masked))
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


@dataclass(frozen=True)
class MentionCounts:
    """How many mentions of a label are right.

    right (int): found with exactly these characters.
    found (int): all that were found, but for those that touch what is left open.
    gold (int): all that there are.
    """

    right: int = 0
    found: int = 0
    gold: int = 0

    def __add__(self, other: "MentionCounts") -> "MentionCounts":
        return MentionCounts(
            self.right + other.right, self.found + other.found, self.gold + other.gold
        )

    @property
    def f_score(self) -> float:
        """RETURNS (float): harmonic mean of precision and recall, 0 without anything right."""
        return 2 * self.right / (self.found + self.gold) if self.right else 0.0


def count_mentions(
    texts: Sequence[Annotated], found: Sequence[Sequence[FoundMention]]
) -> dict[tuple[str, str], MentionCounts]:
    """Hold what was found against the annotation, label by label: of labels that a corpus does not
    annotate nothing is counted.

    texts (Sequence[Annotated]): documents.
    found (Sequence[Sequence[FoundMention]]): in each of them.
    RETURNS (dict[tuple[str, str], MentionCounts]): by label and corpus.
    """
    counts: dict[tuple[str, str], MentionCounts] = {}
    for annotated, mentions in zip(texts, found, strict=True):
        for label in annotated.labels:
            own = annotated.document.mentions
            gold = {(m.start, m.end) for m in own if m.label == label}
            left_open = [(m.start, m.end) for m in own if m.label == label + OPEN]
            places = {
                (m.start, m.end)
                for m in mentions
                if m.label == label
                and (
                    (m.start, m.end) in gold
                    or not any(m.start < end and start < m.end for start, end in left_open)
                )
            }
            key = (label, annotated.corpus)
            new = MentionCounts(len(gold & places), len(places), len(gold))
            counts[key] = counts.get(key, MentionCounts()) + new
    return counts


def by_label(counts: Mapping[tuple[str, str], MentionCounts]) -> dict[str, MentionCounts]:
    """counts (Mapping): from `count_mentions`. RETURNS (dict[str, MentionCounts]): over all
    corpora."""
    summed: dict[str, MentionCounts] = {}
    for (label, _), one in counts.items():
        summed[label] = summed.get(label, MentionCounts()) + one
    return summed
