"""The progress bar of a run."""

import sys
import time

from tqdm import tqdm


class Progress:
    """Documents, mentions, their rate, and the remaining time, estimated from bytes of the inputs.

    total (int): bytes of all inputs.
    """

    def __init__(self, total: int) -> None:
        self._documents = self._mentions = 0
        self._start = time.monotonic()
        self._bar = tqdm(
            total=total,
            smoothing=0,
            # In a log, a bar every half minute.
            mininterval=0.1 if sys.stderr.isatty() else 30,
            bar_format="{percentage:3.0f}%|{bar}| {desc}[{elapsed}<{remaining}]",
        )

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def skip(self, size: int) -> None:
        """size (int): bytes that need no annotation."""
        self._bar.initial += size
        self._bar.update(size)

    def count(self, documents: int, mentions: int, size: int) -> None:
        """documents (int), mentions (int), size (int): of a shard that was annotated, and its bytes
        of the input."""
        self._documents += documents
        self._mentions += mentions
        rate = self._documents / max(time.monotonic() - self._start, 1e-3)
        counts = f"{self._documents:,} documents, {self._mentions:,} mentions, {rate:,.1f}/s "
        self._bar.set_description_str(counts, refresh=False)
        self._bar.update(size)
