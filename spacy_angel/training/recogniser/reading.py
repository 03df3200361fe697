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

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from ...corpora.registry import read_corpus
from ...errors import AngelError, Errors
from ...recognition.finder import FinderConfig
from ...recognition.network import NO_WORD, Row
from ...recognition.words import WordReader
from ..data.batches import chunks
from ..models.losses import IGNORE
from .config import ReadingSettings
from .data import as_batch
from .module import NO_CASE

_TEXTS_AT_ONCE = 256
# A long article's windows are cut from parts: characters.
_PART = 20_000
# Of ten such words eight get the mask and one is another; one stays, so that words which are seen
# are predicted, too.
_MASK, _OTHER = 0.8, 0.9


@dataclass(frozen=True)
class UnmarkedTexts:
    """Windows of texts, one after the other as one long row of pieces.

    pieces (np.ndarray): int32[pieces].
    cases (np.ndarray): int8[pieces], of each piece's word; `module.NO_CASE` where the text has lost
        its capitals.
    begins (np.ndarray): bool[pieces], whether a word begins there.
    form (FinderConfig): the recogniser's; its windows are this long.
    mask_id (int): the piece that stands for one that is not shown.
    settings (ReadingSettings): how much is masked.
    """

    pieces: np.ndarray
    cases: np.ndarray
    begins: np.ndarray
    form: FinderConfig
    mask_id: int
    settings: ReadingSettings

    def __len__(self) -> int:
        return len(self.pieces) // self.form.room

    def window(self, index: int) -> Row:
        """index (int): below the number of windows. RETURNS (Row): with nothing masked."""
        part = slice(index * self.form.room, (index + 1) * self.form.room)
        begins = self.begins[part].copy()
        # What is left of a word that another window began.
        begins[0] = True
        words = np.cumsum(begins) - 1
        encoder = self.form.encoder
        return Row(
            [encoder["bos_token_id"], *self.pieces[part].tolist(), encoder["eos_token_id"]],
            [0, *self.cases[part].tolist(), 0],
            [NO_WORD, *words.tolist(), NO_WORD],
            int(words[-1]) + 1,
        )

    def batch(self, seed: int, step: int) -> dict[str, Tensor]:
        """What an update reads: the same for the same step, so that a killed run goes on as it was.

        seed (int): of the course and process. step (int): number of the update.
        RETURNS (dict[str, Tensor]): that of `data.as_batch`, and `targets` int64[rows, width]: the
            pieces of the words that are masked, `IGNORE` elsewhere.
        """
        chance = np.random.default_rng((seed, step))
        rows = [self.window(i) for i in chance.integers(len(self), size=self.settings.windows)]
        shown = [
            mask_words(
                row, self.settings.masked, self.mask_id, self.form.encoder["vocab_size"], chance
            )
            for row in rows
        ]
        batch = as_batch([row for row, _ in shown], self.form.encoder["pad_token_id"])
        targets = torch.full_like(batch["input_ids"], IGNORE)
        for i, (_, own) in enumerate(shown):
            targets[i, : len(own)] = torch.from_numpy(own)
        return {**batch, "targets": targets}


def mask_words(
    row: Row, share: float, mask_id: int, n_pieces: int, chance: np.random.Generator
) -> tuple[Row, np.ndarray]:
    """Mask whole words of a window.

    row (Row): the window. share (float): of its words, so many, one at least.
    mask_id (int): the mask. n_pieces (int): of the vocabulary. chance (np.random.Generator):
        chooses.
    RETURNS (tuple[Row, np.ndarray]): the window as it is shown, in which a word under the mask has
        no case either; int64[pieces], what the encoder has to predict, `IGNORE` elsewhere.
    """
    size = max(1, round(share * row.n_words))
    how = np.full(row.n_words, np.nan)
    how[chance.choice(row.n_words, size=size, replace=False)] = chance.random(size)
    # `NO_WORD` reads the last place.
    of_pieces = np.append(how, np.nan)[np.array(row.words)]
    pieces, cases = np.array(row.pieces), np.array(row.cases)
    targets = np.where(np.isnan(of_pieces), IGNORE, pieces)
    is_masked = of_pieces < _MASK
    is_other = (of_pieces >= _MASK) & (of_pieces < _OTHER)
    pieces = np.where(is_masked, mask_id, pieces)
    pieces = np.where(is_other, chance.integers(n_pieces, size=len(pieces)), pieces)
    cases = np.where(is_masked & (cases != NO_CASE), 0, cases)
    return Row(pieces.tolist(), cases.tolist(), row.words, row.n_words), targets


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
    if not settings.files or not settings.windows:
        return None
    if reader.mask_id is None:
        raise AngelError(Errors.E625.format(setting="reading.texts"))
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
        reader.mask_id,
        settings,
    )
    if not len(read):
        raise AngelError(Errors.E627.format(paths=", ".join(settings.files), room=form.room))
    return read


def _parts(text: str) -> Iterator[str]:
    return (text[i : i + _PART] for i in range(0, len(text), _PART))
