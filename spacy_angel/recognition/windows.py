"""Splits long texts into overlapping windows that an encoder can read."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np


def cut_windows(
    offsets: np.ndarray, most: int, overlap: int, first: int | None = None
) -> list[tuple[int, int]]:
    """Split a text into windows of whole words.

    offsets (np.ndarray): int64[words + 1], see `Words`.
    most (int): maximum number of pieces in a window; a longer word gets a window of its own.
    overlap (int): maximum number of pieces that two adjacent windows share; less than `most`.
    first (int | None): number of pieces in the first window, if it is shorter. Training varies it,
        so that the windows of a text differ from epoch to epoch.
    RETURNS (list[tuple[int, int]]): first word, and the word after the last one. With offsets [0,
        1, 2, 3, 4, 5], most 3, and overlap 1: [(0, 3), (2, 5)].
    """
    n_words = len(offsets) - 1
    windows: list[tuple[int, int]] = []
    begin = 0
    room = most if first is None else first
    while begin < n_words:
        fitting = int(np.searchsorted(offsets, offsets[begin] + room, side="right")) - 1
        end = max(fitting, begin + 1)
        windows.append((begin, end))
        if end == n_words:
            break
        back = int(np.searchsorted(offsets, offsets[end] - overlap, side="left"))
        begin = min(max(back, begin + 1), end)
        room = most
    return windows


def owned_words(windows: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Assign each word to one window. Of the words that two windows share, each window owns the
    half that is farther from its edge.

    windows (Sequence[tuple[int, int]]): the result of `cut_windows`.
    RETURNS (list[tuple[int, int]]): without gaps or overlaps; for [(0, 6), (4, 9)]: [(0, 5), (5,
        9)].
    """
    borders = [(start + end) // 2 for (_, end), (start, _) in pairwise(windows)]
    if not windows:
        return []
    return list(pairwise([windows[0][0], *borders, windows[-1][1]]))
