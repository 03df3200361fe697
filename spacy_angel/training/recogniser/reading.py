"""Texts in which nothing is marked, with words masked that the encoder has to predict.

    text         Mutations of BRCA1 were found in two families .
    read         Mutations of [MASK] were found in two families .
    predicted                 brca ##1

So it learns the field's words and what stands beside them, of which the corpora hold little (Devlin
et al. 2019, section 3.1, with whole words masked; on texts of the field Gururangan et al. 2020,
arXiv:2004.10964).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from ...corpora.registry import read_corpus
from ...errors import AngelError
from ...recognition.finder import FinderConfig
from ...recognition.network import NO_WORD, Row
from ...recognition.words import WordReader
from ..data.batches import chunks
from ..models.losses import IGNORE
from .config import ReadingSettings
from .data import numbered
from .module import NO_CASE
from .rows import read_arrays, write_arrays

_TEXTS_AT_ONCE = 256
# A long article's windows are cut from parts: characters.
_PART = 20_000
# Of ten such words eight get the mask and one is another; one stays, so that words which are seen
# are predicted, too.
_MASK, _OTHER = 0.8, 0.9


@dataclass(frozen=True)
class FullWindows:
    """Windows as the encoder reads them, each with the two tokens around it.

    pieces (np.ndarray): int64[windows, width], ids.
    cases (np.ndarray): int64[windows, width], of each piece's word.
    words (np.ndarray): int64[windows, width], number of each piece's word in its window, `NO_WORD`
        for the tokens around.
    """

    pieces: np.ndarray
    cases: np.ndarray
    words: np.ndarray

    @property
    def n_words(self) -> np.ndarray:
        """RETURNS (np.ndarray): int64[windows]."""
        return self.words.max(axis=1) + 1

    def tensors(self) -> dict[str, Tensor]:
        """RETURNS (dict[str, Tensor]): those of `data.as_batch`."""
        arrays = {
            "input_ids": self.pieces,
            "attention_mask": np.ones_like(self.pieces),
            "cases": self.cases,
            "words": numbered(self.words, self.n_words),
        }
        return {name: torch.from_numpy(values) for name, values in arrays.items()}


@dataclass(frozen=True)
class UnmarkedTexts:
    """Windows of texts, one after the other as one long row of pieces.

    pieces (np.ndarray): int32[pieces].
    cases (np.ndarray): int8[pieces], of each piece's word; `module.NO_CASE` where the text has lost
        its capitals, which come last.
    begins (np.ndarray): bool[pieces], whether a word begins there.
    form (FinderConfig): the recogniser's; its windows are this long.
    mask_id (int): the piece that stands for one that is not shown.
    settings (ReadingSettings): how much is read and masked.
    taught (np.ndarray | None): float16[words, labels, tags], what teachers say of the first
        `n_cased` windows.
    """

    pieces: np.ndarray
    cases: np.ndarray
    begins: np.ndarray
    form: FinderConfig
    mask_id: int
    settings: ReadingSettings
    taught: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.pieces) // self.form.room

    @cached_property
    def n_cased(self) -> int:
        """RETURNS (int): windows that show case throughout."""
        return int(np.count_nonzero(self.cases != NO_CASE)) // self.form.room

    @cached_property
    def _first_words(self) -> np.ndarray:
        """RETURNS (np.ndarray): int64[n_cased + 1], where the words of each stand in `taught`."""
        begins = self.begins[: self.n_cased * self.form.room].reshape(self.n_cased, -1)
        # A window begins with a word, or what is left of one.
        n_words = begins.sum(axis=1) + ~begins[:, 0]
        return np.concatenate([[0], n_words.cumsum()])

    def windows(self, indices: np.ndarray) -> FullWindows:
        """indices (np.ndarray): int64[windows]. RETURNS (FullWindows): with nothing masked."""
        at = indices[:, None] * self.form.room + np.arange(self.form.room)
        begins = self.begins[at]
        # What is left of a word that another window began.
        begins[:, 0] = True
        encoder = self.form.encoder
        return FullWindows(
            _around(self.pieces[at], encoder["bos_token_id"], encoder["eos_token_id"]),
            _around(self.cases[at], 0, 0),
            _around(begins.cumsum(axis=1) - 1, NO_WORD, NO_WORD),
        )

    def row(self, index: int) -> Row:
        """index (int): below the number of windows. RETURNS (Row): with nothing masked."""
        one = self.windows(np.array([index]))
        pieces, cases, words = (values[0].tolist() for values in (one.pieces, one.cases, one.words))
        return Row(pieces, cases, words, int(one.n_words[0]))

    def batch(self, seed: int, step: int) -> dict[str, dict[str, Tensor]]:
        """What an update reads: the same for the same step, so that a killed run goes on as it was.

        seed (int): of the course and process. step (int): number of the update.
        RETURNS (dict[str, dict[str, Tensor]]): `masked`, with the tensors of `data.as_batch` and
            `targets` int64[windows, width]: the pieces of the words that are masked, `IGNORE`
            elsewhere; and `asked`, with these tensors and `taught` float32[words, labels, tags].
        """
        chance = np.random.default_rng((seed, step))
        batch = {}
        if self.settings.windows:
            whole = self.windows(chance.integers(len(self), size=self.settings.windows))
            n_pieces = self.form.encoder["vocab_size"]
            shown, targets = mask_words(whole, self.settings.masked, self.mask_id, n_pieces, chance)
            batch["masked"] = {**shown.tensors(), "targets": torch.from_numpy(targets)}
        if self.taught is not None:
            indices = chance.integers(self.n_cased, size=self.settings.taught)
            begins = self._first_words
            parts = [self.taught[begins[i] : begins[i + 1]] for i in indices]
            said = torch.from_numpy(np.concatenate(parts).astype(np.float32))
            batch["asked"] = {**self.windows(indices).tensors(), "taught": said}
        return batch

    def to_disk(self, path: Path) -> None:
        """path (Path): file to write; without what teachers say."""
        names = ("pieces", "cases", "begins")
        write_arrays(path, {name: getattr(self, name) for name in names})

    @classmethod
    def from_disk(
        cls, path: Path, settings: ReadingSettings, form: FinderConfig, reader: WordReader
    ) -> "UnmarkedTexts":
        """path (Path): that `to_disk` wrote. settings (ReadingSettings), form (FinderConfig),
        reader (WordReader): the recogniser's. RETURNS (UnmarkedTexts): read.
        RAISES (AngelError): it is damaged, or the tokenizer has no mask."""
        return cls(
            **read_arrays(path), form=form, mask_id=_mask(settings, reader), settings=settings
        )


def _around(inner: np.ndarray, first: int, last: int) -> np.ndarray:
    around = ((0, 0), (first, last))
    return np.pad(inner.astype(np.int64), ((0, 0), (1, 1)), constant_values=around)


def mask_words(
    whole: FullWindows, share: float, mask_id: int, n_pieces: int, chance: np.random.Generator
) -> tuple[FullWindows, np.ndarray]:
    """Mask whole words.

    whole (FullWindows): the windows. share (float): of the words of each, so many, one at least.
    mask_id (int): the mask. n_pieces (int): of the vocabulary. chance (np.random.Generator):
        chooses.
    RETURNS (tuple[FullWindows, np.ndarray]): the windows as they are shown, in which a word under
        the mask has no case either; int64[windows, width], what the encoder has to predict,
        `IGNORE` elsewhere.
    """
    n_words = whole.n_words[:, None]
    drawn = chance.random(whole.pieces.shape)
    drawn[np.arange(drawn.shape[1]) >= n_words] = np.inf
    is_chosen = drawn.argsort(axis=1).argsort(axis=1) < np.maximum(1, np.rint(share * n_words))
    how = np.where(is_chosen, chance.random(drawn.shape), np.nan)
    # `NO_WORD` reads the last place, where no word stands: there are two tokens that are none.
    of_pieces = np.take_along_axis(how, whole.words % drawn.shape[1], axis=1)
    targets = np.where(np.isnan(of_pieces), IGNORE, whole.pieces)
    is_masked = of_pieces < _MASK
    is_other = (of_pieces >= _MASK) & (of_pieces < _OTHER)
    pieces = np.where(is_masked, mask_id, whole.pieces)
    pieces = np.where(is_other, chance.integers(n_pieces, size=pieces.shape), pieces)
    cases = np.where(is_masked & (whole.cases != NO_CASE), 0, whole.cases)
    return FullWindows(pieces, cases, whole.words), targets


def read_unmarked(
    settings: ReadingSettings, form: FinderConfig, reader: WordReader
) -> UnmarkedTexts | None:
    """Read all texts.

    settings (ReadingSettings): names the files. form (FinderConfig), reader (WordReader): the
        recogniser's.
    RETURNS (UnmarkedTexts | None): six bytes a piece; None where no file is named or no
        window is to be read.
    RAISES (AngelError): a file cannot be read, the texts do not fill a window, or the tokenizer has
        no mask.
    """
    if not settings.files or not (settings.windows or settings.taught):
        return None
    mask_id = _mask(settings, reader)
    pieces, cases, begins = [np.zeros(0, np.int32)], [np.zeros(0, np.int8)], [np.zeros(0, bool)]
    for path in settings.files:
        is_lower = path in settings.lower_cased
        texts = (part for document in read_corpus(path) for part in _parts(document.text))
        for group in chunks(tqdm(texts, desc=f"Reading {path}", unit=" texts"), _TEXTS_AT_ONCE):
            for words in reader(group):
                begin = np.zeros(len(words.pieces), bool)
                begin[words.offsets[:-1]] = True
                of_words = np.full_like(words.cases, NO_CASE) if is_lower else words.cases
                pieces.append(words.pieces.astype(np.int32))
                cases.append(np.repeat(of_words, np.diff(words.offsets)).astype(np.int8))
                begins.append(begin)
    read = UnmarkedTexts(
        np.concatenate(pieces),
        np.concatenate(cases),
        np.concatenate(begins),
        form,
        mask_id,
        settings,
    )
    for enough, files in (
        (len(read), settings.files),
        (read.n_cased or not settings.taught, settings.texts),
    ):
        if not enough:
            raise AngelError(
                f"The texts of [reading] ({', '.join(files)}) do not fill {form.room} pieces."
            )
    return read


def _mask(settings: ReadingSettings, reader: WordReader) -> int:
    if reader.mask_id is None and settings.windows:
        raise AngelError(
            "reading.windows needs a mask token, which the tokenizer of recogniser.start lacks."
        )
    return reader.mask_id or 0


def _parts(text: str) -> Iterator[str]:
    return (text[i : i + _PART] for i in range(0, len(text), _PART))
