"""How far a run is: a bar on a terminal, a line every half minute elsewhere."""

import sys
import time
from typing import Any

from tqdm import tqdm

from .plan import Plan
from .records import ShardRecord
from .shards import BatchDone

LINE_SECONDS = 30.0


class Progress:
    """Documents, mentions, their rate, and the time left, which the bytes of the inputs tell.

    plan (Plan): what the run has to do.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._documents = self._mentions = 0
        # Bytes of the inputs that this run has annotated.
        self._bytes = 0.0
        # Documents, mentions and bytes of the shards that are begun.
        self._begun: dict[tuple[int, int], tuple[int, int, float]] = {}
        self._start = self._last_line = time.monotonic()
        self._bar = tqdm(
            total=plan.total,
            disable=None,
            smoothing=0,
            bar_format="{percentage:3.0f}%|{bar}| {desc}[{elapsed}<{remaining}]",
        )

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def show(self, done: BatchDone | ShardRecord) -> None:
        """done (BatchDone | ShardRecord): of this run."""
        key = done.input, done.shard
        documents, mentions, size = self._begun.pop(key, (0, 0, 0.0))
        whole = self._plan.sizes.get(key, 0)
        if isinstance(done, BatchDone):
            more = whole * done.documents / done.of
            self._add(done.documents, done.mentions, more)
            self._begun[key] = documents + done.documents, mentions + done.mentions, size + more
        else:
            self._add(done.read - documents, done.mentions - mentions, whole - size)
            self._plan.sizes.pop(key, None)
        if not self._bar.disable:
            self._draw()
        elif time.monotonic() - self._last_line >= LINE_SECONDS:
            self._last_line = time.monotonic()
            print(self._line(), file=sys.stderr, flush=True)

    def _add(self, documents: int, mentions: int, size: float) -> None:
        self._documents += documents
        self._mentions += mentions
        self._bytes += size

    def _said(self) -> str:
        seconds = max(time.monotonic() - self._start, 1e-3)
        return (
            f"{self._documents:,} documents, {self._mentions:,} mentions, "
            f"{self._documents / seconds:,.1f} documents/s"
        )

    def _draw(self) -> None:
        self._bar.initial = self._plan.skipped
        self._bar.set_description_str(self._said() + " ", refresh=False)
        self._bar.n = round(self._plan.skipped + self._bytes)
        self._bar.refresh()

    def _line(self) -> str:
        total, done = self._plan.total, self._plan.skipped + self._bytes
        seconds = time.monotonic() - self._start
        left: Any = "unknown time"
        if self._bytes:
            left = tqdm.format_interval(seconds * max(0.0, total - done) / self._bytes)
        return f"{100 * done / max(total, 1):.0f} %: {self._said()}, {left} left"
