"""The progress bar of a run."""

import multiprocessing as mp
import sys
import time
from typing import Any

from tqdm import tqdm


class Progress:
    """Documents, mentions, their rate, and the remaining time, estimated from bytes of the inputs.

    total (int): bytes of all inputs.
    workers (int): processes, each with counters of its own in shared memory.
    """

    def __init__(self, total: int, workers: int = 1) -> None:
        # Documents, mentions and bytes that each worker has annotated.
        self.counters = mp.get_context("spawn").RawArray("d", 3 * workers)
        self.skipped = 0
        self._start = time.monotonic()
        self._bar = tqdm(
            total=total,
            smoothing=0,
            miniters=1,
            # In a log, a bar every half minute.
            mininterval=0.1 if sys.stderr.isatty() else 30,
            bar_format="{percentage:3.0f}%|{bar}| {desc}[{elapsed}<{remaining}]",
        )

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def show(self) -> None:
        """Draw the bar where it is time to."""
        documents, mentions, size = (sum(self.counters[i::3]) for i in range(3))
        rate = documents / max(time.monotonic() - self._start, 1e-3)
        counts = f"{documents:,.0f} documents, {mentions:,.0f} mentions, {rate:,.1f} documents/s "
        self._bar.initial = self.skipped
        self._bar.set_description_str(counts, refresh=False)
        self._bar.update(min(round(self.skipped + size), self._bar.total) - self._bar.n)


def count_batch(counters: Any, worker: int, *batch: float) -> None:
    """counters (Any): of a `Progress`. worker (int): number of the worker, from 0.
    batch (float): documents, mentions and bytes of the input that it has annotated."""
    for i, value in enumerate(batch):
        counters[3 * worker + i] += value
