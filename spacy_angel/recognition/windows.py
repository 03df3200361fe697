"""Long texts as windows that an encoder can read, each with context for what is near its edge."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np


def cut_windows(
    offsets: np.ndarray, most: int, overlap: int, first: int | None = None
) -> list[tuple[int, int]]:
    """Cut a text into windows of whole words.

    offsets (np.ndarray): int64[words + 1], see `Words`.
    most (int): pieces in a window; a word of more pieces has a window of its own.
    overlap (int): most pieces that two neighbours share, below `most`.
    first (int | None): pieces in the first window, where it is shorter: training reads a text each
        time in other windows.
    RETURNS (list[tuple[int, int]]): first word, and the one behind the last; with offsets
        [0, 1, 2, 3, 4, 5], most 3 and overlap 1: [(0, 3), (2, 5)].
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
    """The words that each window answers for: of those that two share, each the half that is
    farther from its edge.

    windows (Sequence[tuple[int, int]]): from `cut_windows`.
    RETURNS (list[tuple[int, int]]): without gap or overlap; of [(0, 6), (4, 9)]: [(0, 5), (5, 9)].
    """
    borders = [(start + end) // 2 for (_, end), (start, _) in pairwise(windows)]
    if not windows:
        return []
    return list(pairwise([windows[0][0], *borders, windows[-1][1]]))
