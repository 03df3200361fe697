"""Token ids of training examples, and batches of examples of similar length."""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from spacy.util import minibatch
from torch import Tensor
from torch.utils.data import Dataset, Sampler
from tqdm import tqdm

from ...errors import AngelWarning
from ...model.mention import Mention
from ...model.prompts import PromptEncoder
from ..models.losses import IGNORE

PAIR = ("chosen", "rejected")
_T = TypeVar("_T")
# Every new tensor shape costs memory on the CPU and a kernel choice on the GPU.
_MULTIPLE = 8
_POOL = 64


@dataclass(frozen=True, slots=True)
class Example:
    """A mention and a target name.

    mention (Mention): the mention in its context.
    name (str): the target, in normal form.
    """

    mention: Mention
    name: str


@dataclass(frozen=True, slots=True)
class PreferencePair:
    """A mention with a correct and a wrong name.

    mention (Mention): the mention in its context.
    chosen (str), rejected (str): names in normal form.
    """

    mention: Mention
    chosen: str
    rejected: str


@dataclass
class TokenRows(Dataset):
    """The rows of a training set.

    table (pa.Table): columns of token ids, lists of int32: `source`, `prefix`, and `name` or
        `chosen` and `rejected`. int32 keeps millions of rows in memory.
    values (dict[str, np.ndarray]): float32[rows] each, e.g. log-probabilities of the reference.
    """

    table: pa.Table
    values: dict[str, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, index: int) -> dict[str, np.ndarray]:
        names = self.table.column_names
        row = {name: self.table[name][index].values.to_numpy() for name in names}
        return row | {name: column[index] for name, column in self.values.items()}

    @property
    def lengths(self) -> tuple[np.ndarray, np.ndarray]:
        """RETURNS (tuple[np.ndarray, np.ndarray]): int64[rows], lengths of the encoder input and of
        the decoder input (the longer one of a pair)."""
        source, prefix, *targets = (
            pc.list_value_length(column).to_numpy() for column in self.table.columns
        )
        return source, prefix + np.max(targets, axis=0)


def encode(
    items: Iterable[Example] | Iterable[PreferencePair],
    prompts: PromptEncoder,
    max_target_tokens: int,
    targets: Sequence[str] = ("name",),
) -> TokenRows:
    """Convert examples or pairs to token ids.

    items (Iterable[Example] | Iterable[PreferencePair]): read once, in chunks.
    prompts (PromptEncoder): of the model.
    max_target_tokens (int): maximum length of the decoder input; longer rows are skipped with a
        warning.
    targets (Sequence[str]): `("name",)`, or `PAIR` for pairs.
    RETURNS (TokenRows): columns `source`, `prefix`, and the targets.
    """
    kind = pa.large_list(pa.int32())
    schema = pa.schema([(name, kind) for name in ("source", "prefix", *targets)])
    parts = [schema.empty_table()]
    dropped = 0
    for chunk in minibatch(progress(items, "Tokenizing", "examples"), 1024):
        # Examples of a mention are adjacent, so its context is tokenized once.
        mentions = list(dict.fromkeys(item.mention for item in chunk))
        row_of = {mention: row for row, mention in enumerate(mentions)}
        sources, prefixes = prompts.source_ids(mentions), prompts.prefix_ids(mentions)
        rows = [row_of[item.mention] for item in chunk]
        lists = [[sources[row] for row in rows], [prefixes[row] for row in rows]]
        lists += [prompts.encode_names([getattr(x, name) for x in chunk]) for name in targets]
        # The end token is only predicted, never part of the input.
        kept = [
            row
            for row in zip(*lists, strict=True)
            if len(row[1]) + max(map(len, row[2:])) - 1 <= max_target_tokens
        ]
        dropped += len(chunk) - len(kept)
        arrays = [pa.array(column, kind) for column in zip(*kept, strict=True)]
        parts += [pa.table(arrays, schema)] if kept else []
    encoded = TokenRows(pa.concat_tables(parts).combine_chunks())
    if dropped:
        warnings.warn(
            f"{dropped:,} of {dropped + len(encoded):,} examples are longer than the "
            "model's decoder input and are left out.",
            AngelWarning,
            stacklevel=3,
        )
    return encoded


def collate(rows: Sequence[Mapping[str, np.ndarray]], pad_token_id: int) -> dict[str, Tensor]:
    """Make a batch of examples, or of preference pairs: all chosen names, then all rejected ones.

    For source [0, 5, 2], prefix [2, 7], and name [8, 9, 2], `decoder_input_ids` are [2, 7, 8, 9]
    and `labels` [-100, 8, 9, 2]: each position predicts its label, and the prefix has no labels.
    Rows are padded on the right to multiples of 8.

    rows (Sequence[Mapping[str, np.ndarray]]): rows from `encode`.
    pad_token_id (int): of the model.
    RETURNS (dict[str, Tensor]): `input_ids`, `attention_mask`, `decoder_input_ids`, `labels`:
        int64[sequences, tokens]; the `values` of the rows, float32[rows].
    """
    targets = [name for name in ("name", *PAIR) if name in rows[0]]
    sequences = [(row["source"], row["prefix"], row[name]) for name in targets for row in rows]
    n_source = padded(max(len(source) for source, _, _ in sequences))
    n_target = padded(max(len(prefix) + len(name) - 1 for _, prefix, name in sequences))
    n = len(sequences)
    batch = {
        "input_ids": np.full((n, n_source), pad_token_id),
        "attention_mask": np.zeros((n, n_source), dtype=np.int64),
        "decoder_input_ids": np.full((n, n_target), pad_token_id),
        "labels": np.full((n, n_target), IGNORE),
    }
    for i, (source, prefix, name) in enumerate(sequences):
        first, last = len(prefix) - 1, len(prefix) + len(name) - 1
        batch["input_ids"][i, : len(source)] = source
        batch["attention_mask"][i, : len(source)] = 1
        batch["decoder_input_ids"][i, :last] = [*prefix, *name[:-1]]
        batch["labels"][i, first:last] = name
    for value in rows[0].keys() - {"source", "prefix", *targets}:
        batch[value] = np.array([row[value] for row in rows], dtype=np.float32)
    return {name: torch.from_numpy(values) for name, values in batch.items()}


@dataclass(eq=False)
class LengthSampler(Sampler[int]):
    """Random order of an epoch in which rows of similar length share a batch; an incomplete batch
    comes last.

    The order depends only on seed and epoch, so a resumed run continues with the same order.

    lengths (tuple[np.ndarray, np.ndarray]): int64[rows] of encoder and decoder inputs.
    batch_size (int): rows per update, over all processes.
    seed (int): random seed. epoch (int): the current epoch, from 0.
    """

    lengths: tuple[np.ndarray, np.ndarray]
    batch_size: int
    seed: int = 0
    epoch: int = 0

    def __len__(self) -> int:
        return len(self.lengths[0])

    def set_epoch(self, epoch: int) -> None:
        """epoch (int): number of the next epoch, from 0."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        rng = np.random.default_rng((self.seed, self.epoch))
        source, target = self.lengths
        order = rng.permutation(len(source))
        # Sort pools of 64 batches by length, and shuffle the batches of each pool.
        pool = _POOL * self.batch_size
        for start in range(0, len(order), pool):
            rows = order[start : start + pool]
            rows = rows[np.lexsort((target[rows], -(-source[rows] // _MULTIPLE)))]
            whole = len(rows) - len(rows) % self.batch_size
            batches = rows[:whole].reshape(-1, self.batch_size)
            yield from rng.permutation(batches).ravel().tolist()
            yield from rows[whole:].tolist()


def progress(items: Iterable[_T], title: str, unit: str, total: int | None = None) -> Iterable[_T]:
    """items (Iterable[_T]): any items. title (str), unit (str): displayed. total (int | None):
    number of items. RETURNS (Iterable[_T]): the items, with a progress bar on a terminal, which
    disappears at the end."""
    return tqdm(items, title, total, leave=False, unit=f" {unit}", disable=None)


def padded(length: int) -> int:
    """RETURNS (int): the next multiple, which limits the number of different shapes."""
    return -(-length // _MULTIPLE) * _MULTIPLE
