"""A vocabulary that some threads read while another one changes it."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, get_ident
from typing import Any


class ChangeLock:
    """Any number of threads read at a time; a change waits until none does, and those that come
    later wait for it. So what a thread reads in one block is of one version.

    A thread may read within its own reading and changing. What it starts in other threads while it
    reads, such as batches of a search, must not ask for the lock again: they would wait for a
    change that waits for it.
    """

    def __init__(self) -> None:
        self._condition = Condition()
        self._readers: Counter[int] = Counter()
        self._n_waiting = 0
        self._changer: int | None = None

    def __reduce__(self) -> Any:
        # A copy, as in another process, is of another vocabulary.
        return ChangeLock, ()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """In this block nothing changes."""
        thread = get_ident()
        with self._condition:
            if thread not in self._readers and self._changer != thread:
                self._condition.wait_for(lambda: not self._n_waiting and self._changer is None)
            self._readers[thread] += 1
        try:
            yield
        finally:
            with self._condition:
                self._readers[thread] -= 1
                if not self._readers[thread]:
                    del self._readers[thread]
                self._condition.notify_all()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """In this block no other thread reads."""
        thread = get_ident()
        with self._condition:
            outer = self._changer
            if outer != thread:
                self._n_waiting += 1
                try:
                    self._condition.wait_for(
                        lambda: self._changer is None and not self._readers.keys() - {thread}
                    )
                finally:
                    self._n_waiting -= 1
                self._changer = thread
        try:
            yield
        finally:
            with self._condition:
                self._changer = outer
                self._condition.notify_all()
