"""Compare mentions and names word by word, and find words of a concept's other names in the text.

`outer hair cell` and `inner hair cell` share most letters but differ in meaning. A text that
contains `TS` and `thymidylate` probably refers to the gene TYMS, which is also called thymidylate
synthase.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
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
"""Maximum number of names per concept to look for in the text; the first ones are used."""
_WORD = re.compile(r"\d+|[^\W\d_]+")
_MIN_PLURAL = 5
# Longer words are truncated.
_MAX_LETTERS = 200
_MAX_CACHED = 1 << 16
# Two forms of the same word share a prefix of at least this many letters, which makes up at least
# this share of the longer form.
_MIN_STEM, _MIN_STEM_SHARE = 4, 0.55
# Words of at least this length that are one edit apart are treated as typos, with this similarity.
_MIN_TYPO, _TYPO = 5, 0.9
# Shorter words are ignored in the context.
_MIN_CONTEXT = 3


def split_words(texts: Iterable[str]) -> list[tuple[str, ...]]:
    """Split texts into words, with numbers and plurals normalized.

    texts (Iterable[str]): texts in normal form.
    RETURNS (list[tuple[str, ...]]): the words of each text. Letters and digits are separated, and
        the plural s is removed, e.g. `fgfr2c` → (fgfr, 2, c), `interferons beta` → (interferon,
        beta).
    """
    return list(map(_split, texts))


@lru_cache(_MAX_CACHED)
def _split(text: str) -> tuple[str, ...]:
    words = []
    for word in _WORD.findall(text):
        word = word[:_MAX_LETTERS]
        if word.isdecimal():
            word = word.lstrip("0") or "0"
        elif len(word) >= _MIN_PLURAL and word[-1] == "s" and word[-2] not in "siu":
            word = word[:-1]
        words.append(word)
    return tuple(words)


def align(
    mention: str,
    pairs: Sequence[tuple[str, str]],
    word_weights: Callable[[Sequence[str]], ArrayLike],
) -> list[tuple[float, float, float, float]]:
    """Compare a mention with names, word by word.

    mention (str): the mention as the model reads it, in normal form; used for `overlap` and
        `number`.
    pairs (Sequence[tuple[str, str]]): n pairs of a wording and the name that resembles it, both in
        normal form; used for `missing` and `added`.
    word_weights (Callable): maps n words to their weights; rare words weigh more.
    RETURNS (list[tuple[float, float, float, float]]): four values from 0 to 1 for each pair:
        missing: weighted share of the wording's words that the name lacks;
        added: weighted share of the name's words that the wording lacks. Both are 0 for `lung
            epithelial cells` and `epithelial cell, lung`. Words with the same stem, or one edit
            apart, match partially;
        overlap: 2 · shared words / (words of the mention + words of the name);
        number: 1 if mention and name contain different numbers, 0.5 if only one of them contains
            numbers.
    """
    if not pairs:
        return []
    texts = [mention, *dict.fromkeys(chain.from_iterable(pairs))]
    words_of = dict(zip(texts, split_words(texts), strict=True))
    words = list(dict.fromkeys(chain.from_iterable(words_of.values())))
    # The last row and column are for padding.
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
    for i, (_, name) in enumerate(pairs):
        of_name = set(words_of[name])
        overlap = 2 * len(of_name & own_words) / max(len(of_name) + len(own_words), 1)
        numbers = set(filter(str.isdecimal, of_name))
        number = 0.5 if bool(numbers) != bool(own_numbers) else float(numbers != own_numbers)
        found.append((float(missing[i]), float(added[i]), overlap, number))
    return found


def word_similarity(words: Sequence[str]) -> np.ndarray:
    """Compute the similarity of all pairs of words.

    words (Sequence[str]): n words.
    RETURNS (np.ndarray): float64[n, n], symmetric, from 0 to 1; e.g. 0.8 for `cerebellar` and
        `cerebellum`, 1 for `cell` and `cells`.
    """
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


def abbreviates(short: str, name: str) -> bool:
    """Check whether a text may be an abbreviation of a name: its letters occur in the name in this
    order, the first at the beginning, and each of the others at the beginning of a word or in the
    same word as the one before; or they are the initials of its words in any order.

    short (str): the text, in normal form.
    name (str): the name, in normal form.
    RETURNS (bool): e.g. `htn`, `hypertension` → True; `htn`, `hyperlipidemia` → False.
    """
    letters = short.replace(" ", "")
    pattern = r"(?:\w*?|.*\b)".join(map(re.escape, letters))
    initials = [word[0] for word in name.split()]
    return re.match(pattern, name) is not None or sorted(letters) == sorted(initials)


def context_overlap(
    names_of: Mapping[str, Iterable[frozenset[str]]], mention: "Mention", text: str
) -> dict[str, float]:
    """Compute how much of each concept's names occurs around a mention, ignoring the words of the
    mention itself.

    The overlap of a name is the total weight of its words that occur in the context, divided by the
    total weight of all its words or by 1, whichever is greater. A word's weight depends on its
    frequency in biomedical abstracts: 0 for the most frequent word, 1 for a word that does not
    occur in them. Words of up to two letters are ignored.

    names_of (Mapping[str, Iterable[frozenset[str]]]): concept → words of each of its names.
    mention (Mention): the mention in its context.
    text (str): the mention as the model reads it, in normal form.
    RETURNS (dict[str, float]): concept → the maximum overlap of its names, 0 to 1.
    """
    around = " ".join({*mention.left.split(), *mention.right.split()})
    # Contexts, which are long and do not recur, would fill the cache.
    near, own = frozenset(_split.__wrapped__(normalize_name(around))), frozenset(_split(text))
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
    """RETURNS (Mapping[str, float]): word of biomedical abstracts → weight."""
    counts: dict[str, int] = {}
    common = common_words()
    for parts, n in zip(split_words(common), common.values(), strict=True):
        for part in parts:
            counts[part] = max(counts.get(part, 0), n)
    most = math.log1p(max(counts.values()))
    return {word: 1 - math.log1p(n) / most for word, n in counts.items()}
