"""Splits texts into words, and words into the pieces that an encoder reads.

Words are the units into which the tokenizer splits a text before it applies its vocabulary. BERT's
tokenizer splits at spaces and all punctuation, so mentions almost always begin and end at word
boundaries:

    text    IL-2   in
    words   IL - 2 in
    case    capitals, none, none, small letters
    glued   –  yes yes no

An uncased vocabulary does not distinguish capitals, nor `IL-2` from `IL - 2`. The encoder gets this
information as the number of each word's case (`CASES`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tokenizers import Tokenizer

_SHAPES = ("none", "small", "capital", "letter", "capitals", "mixed")
CASES = 1 + 2 * len(_SHAPES)
"""Numbers of a word's case: 0 for what is no word, then two for each shape of its letters, the
second one for a word that stands close to the one before."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text.

    starts, ends (np.ndarray): int64[words], character offsets.
    cases (np.ndarray): int64[words], less than `CASES`.
    pieces (np.ndarray): int64[pieces], their ids in the encoder's vocabulary.
    offsets (np.ndarray): int64[words + 1]; word `i` consists of
        `pieces[offsets[i] : offsets[i + 1]]`.
    """

    starts: np.ndarray
    ends: np.ndarray
    cases: np.ndarray
    pieces: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.starts)


class WordReader:
    """Splits texts into words and pieces.

    definition (str): content of the `tokenizer.json` of a fast tokenizer.
    """

    def __init__(self, definition: str) -> None:
        self.definition = definition
        self._tokenizer = Tokenizer.from_str(definition)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        # `[SEP]` in a text is not a special token.
        self._tokenizer.encode_special_tokens = True

    def __call__(self, texts: Sequence[str]) -> list[Words]:
        """texts (Sequence[str]): any texts. RETURNS (list[Words]): the words of each text."""
        encoded = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [
            _words(text, one.ids, one.offsets, one.word_ids)
            for text, one in zip(texts, encoded, strict=True)
        ]


def _words(
    text: str, ids: list[int], spans: list[tuple[int, int]], word_ids: list[int | None]
) -> Words:
    # A byte-level vocabulary has pieces for line ends, which are not words.
    kept = [i for i, (start, end) in enumerate(spans) if text[start:end].strip()]
    pieces = np.array([ids[i] for i in kept], dtype=np.int64)
    of_word = [word_ids[i] for i in kept]
    firsts = [k for k, word in enumerate(of_word) if not k or word != of_word[k - 1]]
    offsets = np.array([*firsts, len(kept)], dtype=np.int64)
    starts = np.array([spans[kept[k]][0] for k in firsts], dtype=np.int64)
    ends = np.array([spans[kept[k - 1]][1] for k in offsets[1:]], dtype=np.int64)
    glued = np.zeros(len(starts), dtype=np.int64)
    glued[1:] = starts[1:] == ends[:-1]
    shapes = [shape_of(text[a:b]) for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
    cases = 1 + 2 * np.array(shapes, dtype=np.int64) + glued
    return Words(starts, ends, cases, pieces, offsets)


def shape_of(word: str) -> int:
    """word (str): not empty. RETURNS (int): its letter case: 0 no letter (`2`), 1 lower case
    (`mice`), 2 capitalized (`Mice`), 3 a single capital (`A`), 4 upper case (`IL`), 5 mixed case
    (`mRNA`)."""
    if word.islower():
        return 1
    if word.isupper():
        return 3 if sum(map(str.isalpha, word)) == 1 else 4
    if word[0].isupper() and word[1:].islower():
        return 2
    return 5 if any(map(str.isupper, word)) else 0
