"""A lock for a vocabulary that several threads read and one of them changes."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, RLock, get_ident
from typing import Any


class ChangeLock:
    """Any number of threads can read at the same time. A change waits until no thread reads, and
    threads that want to read later wait for the change, so a thread reads one version throughout a
    block.

    The lock is reentrant. Threads that are started within a reading block, such as those that
    search batches, must not acquire the lock again: they would wait for a pending change, which
    waits for the block.
    """

    def __init__(self) -> None:
        self._change = RLock()
        self._readers: Counter[int] = Counter()
        self._read = Condition()

    def __reduce__(self) -> Any:
        # A copy, e.g. in another process, belongs to another vocabulary.
        return ChangeLock, ()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Within this block, the vocabulary does not change."""
        thread = get_ident()
        if thread in self._readers:
            self._count(thread, 1)
        else:
            with self._change:
                self._count(thread, 1)
        try:
            yield
        finally:
            self._count(thread, -1)

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Within this block, no other thread reads the vocabulary."""
        with self._change:
            with self._read:
                self._read.wait_for(lambda: not self._readers.keys() - {get_ident()})
            yield

    def _count(self, thread: int, n: int) -> None:
        with self._read:
            self._readers[thread] += n
            if not self._readers[thread]:
                del self._readers[thread]
                self._read.notify_all()
