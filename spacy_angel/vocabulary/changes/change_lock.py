"""A vocabulary that some threads read while another one changes it."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, RLock, get_ident
from typing import Any


class ChangeLock:
    """Any number of threads read at a time; a change waits until none does, and those that come
    later wait for it. So what a thread reads in one block is of one version.

    A thread may read within its own reading and changing. What it starts in other threads while it
    reads, such as batches of a search, must not ask for the lock again: they would wait for a
    change that waits for it.
    """

    def __init__(self) -> None:
        self._change = RLock()
        self._readers: Counter[int] = Counter()
        self._read = Condition()

    def __reduce__(self) -> Any:
        # A copy, as in another process, is of another vocabulary.
        return ChangeLock, ()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """In this block nothing changes."""
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
        """In this block no other thread reads."""
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
