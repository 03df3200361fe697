"""Converts mentions to tags of words and back, with a row of tags for each label.

Each label has its own outside, begin, and inside tags, so mentions with different labels may
overlap:

    words      human  breast  cancer  cells
    DISEASE    O      B       I       O
    CELL_TYPE  B      I       I       I

Overlapping or discontinuous mentions with the same label cannot be represented.
"""

from collections.abc import Iterable, Sequence

import numpy as np

OUTSIDE, BEGIN, INSIDE = range(3)
N_TAGS = 3
_NEVER = -1e9


def tags_of(spans: Iterable[tuple[int, int, int]], n_words: int, n_labels: int) -> np.ndarray:
    """Convert mentions to tags.

    spans (Iterable[tuple[int, int, int]]): label, first word, and the word after the last one. Of
        overlapping mentions with the same label, the first one is kept.
    n_words (int), n_labels (int): the shape of the result.
    RETURNS (np.ndarray): int8[n_words, n_labels].
    """
    tags = np.zeros((n_words, n_labels), dtype=np.int8)
    for label, begin, end in spans:
        if not tags[begin:end, label].any():
            tags[begin, label] = BEGIN
            tags[begin + 1 : end, label] = INSIDE
    return tags


def spans_of(tags: np.ndarray) -> list[tuple[int, int, int]]:
    """tags (np.ndarray): int8[n_words, n_labels], in which `INSIDE` never follows `OUTSIDE`.
    RETURNS (list[tuple[int, int, int]]): label, first word, and the word after the last one, sorted
    by position."""
    spans = []
    begins, labels = np.nonzero(tags == BEGIN)
    for begin, label in zip(begins.tolist(), labels.tolist(), strict=True):
        end = begin + 1
        while end < len(tags) and tags[end, label] == INSIDE:
            end += 1
        spans.append((label, begin, end))
    return spans


def best_tags(log_probs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Find the most probable sequence of tags in which `INSIDE` never follows `OUTSIDE`, with the
    Viterbi algorithm.

    log_probs (Sequence[np.ndarray]): float32[n_words, n_labels, 3] for each text.
    RETURNS (list[np.ndarray]): int8[n_words, n_labels] for each text.
    """
    tags = [np.zeros(one.shape[:2], dtype=np.int8) for one in log_probs]
    # In most texts, `OUTSIDE` is best everywhere for most labels; these need no search.
    columns = [
        (text, label)
        for text, one in enumerate(log_probs)
        for label in np.flatnonzero((one.argmax(axis=-1) != OUTSIDE).any(axis=0))
    ]
    if not columns:
        return tags
    length = max(len(log_probs[text]) for text, _ in columns)
    scores = np.full((length, len(columns), N_TAGS), _NEVER, dtype=np.float32)
    scores[:, :, OUTSIDE] = 0.0
    for i, (text, label) in enumerate(columns):
        scores[: len(log_probs[text]), i] = log_probs[text][:, label]
    paths = _best_paths(scores)
    for i, (text, label) in enumerate(columns):
        tags[text][:, label] = paths[: len(tags[text]), i]
    return tags


def _best_paths(scores: np.ndarray) -> np.ndarray:
    """scores (np.ndarray): float32[length, n, 3]. RETURNS (np.ndarray): int8[length, n]."""
    length, n, _ = scores.shape
    # The best tag before `OUTSIDE` or `BEGIN`, and the best one before `INSIDE`.
    before = np.zeros((length, 2, n), dtype=np.int8)
    total = scores[0].copy()
    total[:, INSIDE] += _NEVER
    for i in range(1, length):
        before[i, 0] = total.argmax(axis=1)
        before[i, 1] = BEGIN + (total[:, INSIDE] > total[:, BEGIN])
        best, open_best = total.max(axis=1), total[:, BEGIN:].max(axis=1)
        total = scores[i] + np.stack((best, best, open_best), axis=1)
    paths = np.zeros((length, n), dtype=np.int8)
    paths[-1] = total.argmax(axis=1)
    every = np.arange(n)
    for i in range(length - 1, 0, -1):
        paths[i - 1] = before[i, (paths[i] == INSIDE).astype(np.int8), every]
    return paths
