"""Words of mentions and names: what a name lacks of a mention, and which words of a concept's other
names occur in the text.

`outer hair cell` and `inner hair cell` share most letters, but not their meaning. A text with `TS`
and `thymidylate` is about the gene TYMS, one of whose names is thymidylate synthase.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from rapidfuzz.distance import OSA, Prefix
from rapidfuzz.process import cdist

from ...vocabulary.lookup.words import common_words
from ...vocabulary.names.concepts import normalize_name

if TYPE_CHECKING:
    from ...model.mention import Mention

MAX_NAMES = 48
"""Maximum number of names of a concept that are looked for in the text, the first ones."""
_WORD = re.compile(r"\d+|[^\W\d_]+")
_MIN_PLURAL = 5
# Longer words are cut, and longer texts are not cached.
_MAX_LETTERS = 200
_MAX_CACHED = 1 << 16
# A word and an inflected or derived form of it share this many first letters, and this part of the
# longer one.
_MIN_STEM, _MIN_STEM_SHARE = 4, 0.55
# From this length on, one edit is taken for a typo, which counts as this much of the word.
_MIN_TYPO, _TYPO = 5, 0.9
# Shorter words do not count in the context.
_MIN_CONTEXT = 3

_cache: dict[str, tuple[str, ...]] = {}


def split_words(texts: Iterable[str]) -> list[tuple[str, ...]]:
    """Split texts into words, however their numbers and plurals are written.

    texts (Iterable[str]): in normal form.
    RETURNS (list[tuple[str, ...]]): of each, letters and digits apart, plurals without their s,
        e.g. `fgfr2c` → (fgfr, 2, c), `interferons beta` → (interferon, beta).
    """
    if len(_cache) > _MAX_CACHED:
        _cache.clear()
    found = []
    for text in texts:
        words = _cache.get(text)
        if words is None:
            plain = []
            for word in _WORD.findall(text):
                word = word[:_MAX_LETTERS]
                if word.isdecimal():
                    word = word.lstrip("0") or "0"
                elif len(word) >= _MIN_PLURAL and word[-1] == "s" and word[-2] not in "siu":
                    word = word[:-1]
                plain.append(word)
            words = tuple(plain)
            if len(text) <= _MAX_LETTERS:
                _cache[text] = words
        found.append(words)
    return found


def align(
    mention: str,
    pairs: Sequence[tuple[str, str]],
    word_weights: Callable[[Sequence[str]], ArrayLike],
) -> list[tuple[float, float, float, float]]:
    """Compare a mention with names, word by word.

    mention (str): as the model reads it, in normal form; `overlap` and `number` compare with it.
    pairs (Sequence[tuple[str, str]]): n times the wording that a name resembles most, and the name,
        in normal form; `missing` and `added` compare these two.
    word_weights (Callable): of n words, the rarer the greater.
    RETURNS (list[tuple[float, float, float, float]]): of each pair, 0 to 1:
        missing: share of the weight of the wording's words that the name lacks;
        added: share of the weight of the name's words that the wording lacks; of `lung epithelial
            cells` and `epithelial cell, lung` both are 0; words with the same stem, or one edit
            apart, agree in part;
        overlap: 2 · shared / (words of both);
        number: 1 if their numbers differ, 0.5 if only one of them has numbers.
    """
    if not pairs:
        return []
    texts = [mention, *dict.fromkeys(chain.from_iterable(pairs))]
    words_of = dict(zip(texts, split_words(texts), strict=True))
    words = list(dict.fromkeys(chain.from_iterable(words_of.values())))
    # The last row and column stand for no word: rows of words are filled up with it.
    similarity = np.pad(word_similarity(words), (0, 1))
    weights = np.append(np.array(word_weights(words), dtype=float), 0.0)
    index_of = {word: i for i, word in enumerate(words)}
    width = max(map(len, words_of.values())) or 1
    indices = np.full((2, len(pairs), width), len(words))
    for i, texts_of_pair in enumerate(pairs):
        for side, text in enumerate(texts_of_pair):
            own = list(map(index_of.__getitem__, dict.fromkeys(words_of[text])))
            indices[side, i, : len(own)] = own
    ours, theirs = indices
    part = similarity[ours[:, :, None], theirs[:, None, :]]  # [n, words of ours, words of theirs]
    own_weights = weights[indices]
    shared = (own_weights * np.stack([part.max(axis=2), part.max(axis=1)])).sum(axis=2)
    missing, added = 1.0 - shared / np.maximum(own_weights.sum(axis=2), 1e-9)
    own_words = set(words_of[mention])
    own_numbers = set(filter(str.isdecimal, own_words))
    found = []
    for i, (written, name) in enumerate(pairs):
        of_name = set(words_of[name])
        overlap = 2 * len(of_name & own_words) / max(len(of_name) + len(own_words), 1)
        numbers = set(filter(str.isdecimal, of_name))
        number = 0.5 if bool(numbers) != bool(own_numbers) else float(numbers != own_numbers)
        differ = (0.0, 0.0) if written == name else (float(missing[i]), float(added[i]))
        found.append((*differ, overlap, number))
    return found


def word_similarity(words: Sequence[str]) -> np.ndarray:
    """words (Sequence[str]): n. RETURNS (np.ndarray): float64[n, n], 0 to 1, symmetric; e.g.
    `cerebellar` and `cerebellum` 0.8, `cell` and `cells` 1."""
    lengths = np.array(list(map(len, words)), dtype=np.int64)
    longest = np.maximum(lengths[:, None], lengths)
    shortest = np.minimum(lengths[:, None], lengths)
    same = cdist(words, words, scorer=Prefix.similarity, dtype=np.int64)
    share = same / np.maximum(longest, 1)
    similarity = np.where((same >= _MIN_STEM) & (share >= _MIN_STEM_SHARE), share, 0.0)
    edits = cdist(words, words, scorer=OSA.distance, score_cutoff=1, dtype=np.int64)
    is_typo = (edits == 1) & (shortest >= _MIN_TYPO)
    similarity[is_typo] = np.maximum(similarity[is_typo], _TYPO)
    is_s = np.array([word.endswith("s") for word in words], dtype=bool)
    longer_is_s = np.where(lengths[:, None] > lengths, is_s[:, None], is_s)
    similarity[(same == shortest) & (longest - shortest == 1) & longer_is_s] = 1.0
    is_number = np.array(list(map(str.isdecimal, words)), dtype=bool)
    similarity[is_number[:, None] | is_number] = 0.0
    np.fill_diagonal(similarity, 1.0)
    return similarity


def context_overlap(
    names_of: Mapping[str, Iterable[frozenset[str]]], mention: "Mention", text: str
) -> dict[str, float]:
    """How much of the concepts' names occurs around a mention, in other words than its own.

    names_of (Mapping[str, Iterable[frozenset[str]]]): concept → words of each of its names.
    mention (Mention): in its context. text (str): as the model reads it, in normal form.
    RETURNS (dict[str, float]): of each concept, 0 to 1: the greatest value of its names; of each
        name, the weight of its words that occur, divided by that of all its words, which counts as
        1 at least. A word's weight is 1 if no abstract has it, and 0 for the one that most
        abstracts have; words of the mention and of up to two letters do not count.
    """
    around = " ".join({*mention.left.split(), *mention.right.split()})
    near, own = map(frozenset, split_words([normalize_name(around), text]))
    weights = _context_weights()
    found = {}
    for concept_id, names in names_of.items():
        best = 0.0
        for name in names:
            words = name - own
            if words.isdisjoint(near):
                continue
            total = there = 0.0
            for word in words:
                weight = weights.get(word, 1.0) if len(word) >= _MIN_CONTEXT else 0.0
                total += weight
                there += weight if word in near else 0.0
            best = max(best, there / max(total, 1.0))
        found[concept_id] = best
    return found


@cache
def _context_weights() -> Mapping[str, float]:
    """RETURNS (Mapping[str, float]): of the words of biomedical abstracts."""
    counts: dict[str, int] = {}
    common = common_words()
    for parts, n in zip(split_words(common), common.values(), strict=True):
        for part in parts:
            counts[part] = max(counts.get(part, 0), n)
    most = math.log1p(max(counts.values()))
    return {word: 1 - math.log1p(n) / most for word, n in counts.items()}
