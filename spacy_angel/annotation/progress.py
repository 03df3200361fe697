"""Progress of a run: a bar on a terminal, and a line every half minute elsewhere."""

import multiprocessing as mp
import sys
import time
from typing import Any

from tqdm import tqdm

LINE_SECONDS = 30.0


class Progress:
    """Documents, mentions, their rate, and the remaining time, estimated from bytes of the inputs.

    total (int): bytes of all inputs.
    workers (int): processes, each with counters of its own in shared memory.
    """

    def __init__(self, total: int, workers: int = 1) -> None:
        # Documents, mentions and bytes that each worker has annotated.
        self.counters = mp.get_context("spawn").RawArray("d", 3 * workers)
        self.skipped = 0.0
        self._total = total
        self._start = self._last_line = time.monotonic()
        self._bar = tqdm(
            total=total,
            disable=None,
            smoothing=0,
            bar_format="{percentage:3.0f}%|{bar}| {desc}[{elapsed}<{remaining}]",
        )

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def show(self) -> None:
        """Draw the bar, or print a line where it is time for one."""
        documents, mentions, size = (sum(self.counters[i::3]) for i in range(3))
        seconds = max(time.monotonic() - self._start, 1e-3)
        counts = f"{documents:,.0f} documents, {mentions:,.0f} mentions, "
        counts += f"{documents / seconds:,.1f} documents/s"
        done = self.skipped + size
        if not self._bar.disable:
            self._bar.initial = self.skipped
            self._bar.n = round(min(done, self._total))
            self._bar.set_description_str(counts + " ")
        elif time.monotonic() - self._last_line >= LINE_SECONDS:
            self._last_line = time.monotonic()
            rest = seconds * max(0.0, self._total - done) / size if size else None
            left = "unknown time" if rest is None else tqdm.format_interval(rest)
            percentage = 100 * done / max(self._total, 1)
            print(f"{percentage:.0f} %: {counts}, {left} left", file=sys.stderr, flush=True)


def count_batch(counters: Any, worker: int, *batch: float) -> None:
    """counters (Any): of a `Progress`. worker (int): number of the worker, from 0.
    batch (float): documents, mentions and bytes of the input that it has annotated."""
    for i, value in enumerate(batch):
        counters[3 * worker + i] += value
