"""Finds mentions in texts with a trained recognizer, which is saved as a folder:

recogniser.json            labels, window, overlap, and the fields of the encoder's config.json
tokenizer.json             the encoder's tokenizer
model.int8.safetensors     the weights, or model.safetensors
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import srsly
import torch

from ..errors import AngelError
from ..files.atomic import write_json, write_text
from ..files.json_values import checked, parse_as
from ..model.checkpoint import DTYPES
from ..model.fastest import fastest_dtype
from ..model.weights import pack_weights, read_weights, unpack_weights, write_weights
from .found import FoundMention, trim_spans
from .network import NO_WORD, Row, TaggingNetwork
from .tags import OUTSIDE, best_tags, spans_of
from .windows import cut_windows, owned_words
from .words import WordReader, Words

CONFIG_FILE = "recogniser.json"
_TOKENIZER_FILE = "tokenizer.json"
# Fields of the encoder's config: its architecture, and the special tokens around a text.
ENCODER_FIELDS = (
    *("activation_function", "bos_token_id", "d_model", "encoder_attention_heads"),
    *("encoder_ffn_dim", "encoder_layers", "eos_token_id", "max_position_embeddings"),
    *("pad_token_id", "scale_embedding", "vocab_size"),
)
_AROUND = 2
MIN_POSSIBLE, MIN_SHARE = 0.1, 0.2
"""Minimum probability of each word of a possible mention, and its minimum share of the probability
of the most probable word."""


@dataclass(frozen=True)
class FinderConfig:
    """The configuration of a recognizer.

    labels (tuple[str, ...]): in the order of the rows of tags.
    window (int): maximum number of word pieces that the encoder reads at once, including the two
        special tokens.
    overlap (int): maximum number of word pieces that two adjacent windows share.
    encoder (dict[str, Any]): the fields `ENCODER_FIELDS` of the encoder's config.
    """

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}
    labels: tuple[str, ...]
    window: int
    overlap: int
    encoder: dict[str, Any]

    def __post_init__(self) -> None:
        if missing := sorted(set(ENCODER_FIELDS) - set(self.encoder)):
            raise ValueError(f"the encoder's {', '.join(missing)} missing")
        longest = self.encoder["max_position_embeddings"]
        if not 2 * self.overlap + _AROUND < self.window <= longest:
            raise ValueError(
                f"a window of {self.window} pieces with an overlap of {self.overlap} (it needs "
                f"more than twice the overlap, and the encoder reads up to {longest})"
            )

    @property
    def room(self) -> int:
        """RETURNS (int): maximum number of word pieces of the text in a window."""
        return self.window - _AROUND

    def row(self, words: Words, begin: int, end: int) -> Row:
        """words (Words): the words of a text. begin, end (int): index of the window's first word,
        and of the word after its last one. RETURNS (Row): input of the encoder. A single word that
        is too long is truncated."""
        first, last = int(words.offsets[begin]), int(words.offsets[end])
        last = min(last, first + self.room)
        sizes = np.diff(words.offsets[begin : end + 1])
        numbers = np.repeat(np.arange(end - begin), sizes)[: last - first]
        cases = words.cases[begin:end][numbers]
        first_id, last_id = self.encoder["bos_token_id"], self.encoder["eos_token_id"]
        return Row(
            [first_id, *words.pieces[first:last].tolist(), last_id],
            [0, *cases.tolist(), 0],
            [NO_WORD, *numbers.tolist(), NO_WORD],
            end - begin,
        )


class TaggedText(NamedTuple):
    """The predictions of a recognizer for a text.

    labels (tuple[str, ...]): the recognizer's labels.
    words (Words): the words of the text.
    log_probs (np.ndarray): float32[words, labels, tags].
    mentions (list[FoundMention]): the most probable mentions, sorted by position. Mentions with
        different labels may overlap.
    """

    labels: tuple[str, ...]
    words: Words
    log_probs: np.ndarray
    mentions: list[FoundMention]

    def probability(self, start: int, end: int, label: str) -> float | None:
        """Get the probability that a span belongs to mentions of a label, regardless of what found
        it.

        start, end (int): character offsets. label (str): any label.
        RETURNS (float | None): the mean over the words of the span; None if the recognizer does not
            know the label or the span contains no word.
        """
        first = int(np.searchsorted(self.words.ends, start, side="right"))
        last = int(np.searchsorted(self.words.starts, end, side="left"))
        if label not in self.labels or first >= last:
            return None
        outside = self.log_probs[first:last, self.labels.index(label), OUTSIDE]
        return float(1 - np.exp(outside).mean())

    def possible_mentions(self) -> list[FoundMention]:
        """RETURNS (list[FoundMention]): the longest sequences of words that belong to mentions of a
        label with a probability of at least `MIN_POSSIBLE` each, without less probable words at
        their edges, see `MIN_SHARE`; with their mean probability."""
        inside = 1 - np.exp(self.log_probs[:, :, OUTSIDE])
        found = []
        for label in range(len(self.labels)):
            likely = np.flatnonzero(inside[:, label] >= MIN_POSSIBLE)
            for run in np.split(likely, np.flatnonzero(np.diff(likely) > 1) + 1):
                if len(run):
                    run = run[inside[run, label] >= MIN_SHARE * inside[run, label].max()]
                    start, end = int(self.words.starts[run[0]]), int(self.words.ends[run[-1]])
                    mean = float(inside[run, label].mean())
                    found.append(FoundMention(start, end, self.labels[label], mean))
        return found


class MentionFinder:
    """A trained recognizer.

    config (FinderConfig): its configuration.
    reader (WordReader): its tokenizer.
    network (TaggingNetwork): its network.
    dtype (str): type in which the network runs, one of `DTYPES`.
    """

    def __init__(
        self,
        config: FinderConfig,
        reader: WordReader,
        network: TaggingNetwork,
        dtype: str = "float32",
    ) -> None:
        self.config = config
        self.reader = reader
        self.network = network
        self._dtype = dtype

    def __reduce__(self) -> tuple[Any, ...]:
        place = str(self.network.device), self._dtype
        return MentionFinder.from_bytes, (self.to_bytes(), *place)

    @property
    def labels(self) -> tuple[str, ...]:
        """RETURNS (tuple[str, ...]): the labels of the mentions that it finds."""
        return self.config.labels

    def find(self, texts: Sequence[str]) -> list[list[FoundMention]]:
        """texts (Sequence[str]): of any length. RETURNS (list[list[FoundMention]]): the mentions of
        each text, sorted by position. Mentions with different labels may overlap."""
        return [one.mentions for one in self.read(texts)]

    def read(self, texts: Sequence[str]) -> list[TaggedText]:
        """texts (Sequence[str]): of any length. RETURNS (list[TaggedText]): the predictions for
        each text."""
        words = self.reader(texts)
        windows = [cut_windows(w.offsets, self.config.room, self.config.overlap) for w in words]
        rows = [
            self.config.row(of_text, *window)
            for of_text, cut in zip(words, windows, strict=True)
            for window in cut
        ]
        scored = iter(self.network.score(rows))
        log_probs = [self._join(cut, [next(scored) for _ in cut]) for cut in windows]
        tags = best_tags(log_probs)
        found = map(self._mentions, words, log_probs, tags)
        mentions = map(trim_spans, texts, found)
        return [
            TaggedText(self.labels, *one) for one in zip(words, log_probs, mentions, strict=True)
        ]

    def _join(self, windows: list[tuple[int, int]], scores: list[np.ndarray]) -> np.ndarray:
        """RETURNS (np.ndarray): float32[words, labels, tags]; the scores of each word come from the
        window that owns it."""
        parts = [
            part[begin - start : end - start]
            for (start, _), (begin, end), part in zip(
                windows, owned_words(windows), scores, strict=True
            )
        ]
        empty = np.zeros((0, self.network.n_labels, 3), dtype=np.float32)
        return np.concatenate([empty, *parts])

    def _mentions(
        self, words: Words, log_probs: np.ndarray, tags: np.ndarray
    ) -> list[FoundMention]:
        found = []
        for label, begin, end in spans_of(tags):
            place = np.arange(begin, end)
            mean = log_probs[place, label, tags[begin:end, label]].mean()
            start, stop = int(words.starts[begin]), int(words.ends[end - 1])
            found.append(FoundMention(start, stop, self.labels[label], float(np.exp(mean))))
        return found

    def to_disk(self, folder: Path, storage: str | None = None) -> None:
        """Save the recognizer.

        folder (Path): created if it does not exist.
        storage (str | None): type of the saved weights, one of `DTYPES`; None for int8 if they were
            loaded from int8, and otherwise for the type in use.
        """
        folder.mkdir(parents=True, exist_ok=True)
        write_weights(folder, self.network.state_dict(DTYPES[storage] if storage else None))
        write_text(folder / _TOKENIZER_FILE, self.reader.definition)
        write_json(folder / CONFIG_FILE, asdict(self.config))

    @classmethod
    def from_disk(
        cls, folder: Path, device: str = "cpu", dtype: str = "float32"
    ) -> "MentionFinder":
        """Load a recognizer.

        folder (Path): a folder written by `to_disk`.
        device (str): where the network runs.
        dtype (str): one of `DTYPES`, or `auto` for the fastest one on this machine.
        RETURNS (MentionFinder): the recognizer.
        RAISES (AngelError): a file is missing or damaged, or int8 is requested on a device other
            than the CPU.
        """
        try:
            config = parse_as((folder / CONFIG_FILE).read_bytes(), FinderConfig)
            definition = (folder / _TOKENIZER_FILE).read_text(encoding="utf8")
        except (OSError, ValueError) as error:
            raise AngelError(f"Cannot open the recognizer in {folder}: {error}.") from error
        weights = read_weights(folder)
        try:
            return _build(config, definition, weights, device, dtype)
        except KeyError as error:
            problem = f"the weights lack {error.args[0]}"
            raise AngelError(f"Cannot open the recognizer in {folder}: {problem}.") from error

    def to_bytes(self) -> bytes:
        """RETURNS (bytes): the files that `to_disk` writes, serialized."""
        weights = pack_weights(self.network.state_dict())
        parts = {"config": asdict(self.config), "tokenizer": self.reader.definition}
        return srsly.msgpack_dumps({**parts, "weights": weights})

    @classmethod
    def from_bytes(
        cls, data: bytes, device: str = "cpu", dtype: str = "float32"
    ) -> "MentionFinder":
        """data (bytes): the result of `to_bytes`. device (str), dtype (str): see `from_disk`.
        RETURNS (MentionFinder): the recognizer."""
        parts = srsly.msgpack_loads(data)
        config = checked(parts["config"], FinderConfig)
        weights = unpack_weights(parts["weights"])
        return _build(config, parts["tokenizer"], weights, device, dtype)


def _build(
    config: FinderConfig, definition: str, weights: dict[str, torch.Tensor], device: str, dtype: str
) -> MentionFinder:
    chosen = torch.device(device)
    if dtype == "auto":
        dtype = fastest_dtype(chosen, with_int8=True)
    encoder = SimpleNamespace(**config.encoder)
    network = TaggingNetwork(encoder, weights, chosen, DTYPES[dtype])
    return MentionFinder(config, WordReader(definition), network, dtype)
