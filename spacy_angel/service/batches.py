"""Requests that arrive together are linked in one batch, by one thread, none for long before the
others."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Condition, Thread
from typing import TypeAlias

from .limits import Refused
from .linking import Failure, Job, Linked

Results: TypeAlias = list[Linked | Failure]

# Seconds that a batch should take, so long waits who comes next; and that it may take with one
# document of each request alone, for large batches are faster by the document.
_SECONDS, _TOGETHER = 0.3, 2.0
_MOST_DOCUMENTS = 64
# Seconds in which clients that were answered together may ask again, so that the next batch is as
# large as the one before.
_GATHER = 0.03
# Characters a second before any were measured, and how much a new measure counts.
_FIRST_RATE = 5000.0
_WEIGHT = 0.3
# Batches of which the slowest tells what a large request may hand out: texts of one length differ
# by what is in them, and the machine may have other work.
_SLOWEST_OF = 4
# Characters that a document costs beside its own.
_EACH = 50


@dataclass(eq=False)
class _Waiting:
    """A request: its documents, those that are done, and how far it is handed out."""

    jobs: Sequence[Job]
    future: "Future[Results]" = field(default_factory=Future)
    results: dict[int, Linked | Failure] = field(default_factory=dict)
    next: int = 0


class LinkQueue:
    """Takes requests from any threads and links them in one. A batch takes a document of each
    request in turn, and ends with the first round where that is the last document of one: a small
    request beside a large one waits for the batch before it, and not for more of the large one.

    link (Callable): links documents together, in their order.
    max_waiting (int): requests that may wait at a time.
    on_batch (Callable): is told documents and seconds of each batch.
    """

    def __init__(
        self,
        link: Callable[[Sequence[Job]], Results],
        max_waiting: int,
        on_batch: Callable[[int, float], None] = lambda documents, seconds: None,
    ) -> None:
        self._link = link
        self._max_waiting = max_waiting
        self._on_batch = on_batch
        self._condition = Condition()
        self._turn: deque[_Waiting] = deque()
        self._n_waiting = 0
        self._is_closed = False
        # Requests that may come together again.
        self._n_expected = 0
        self._rate = _FIRST_RATE
        # Of batches that were as large as they could be: a short one takes longer by the character.
        self._is_short = False
        self._rates = deque([_FIRST_RATE], maxlen=_SLOWEST_OF)
        self._thread = Thread(target=self._run, name="linking", daemon=True)
        self._thread.start()

    @property
    def n_waiting(self) -> int:
        """RETURNS (int): requests without an answer so far."""
        return self._n_waiting

    def submit(self, jobs: Sequence[Job]) -> "Future[Results]":
        """Have documents linked.

        jobs (Sequence[Job]): of one request.
        RETURNS (Future[Results]): one result a document; cancelled, the rest is not linked.
        RAISES (Refused): as many requests wait as may, or the queue is closed.
        """
        waiting = _Waiting(jobs)
        with self._condition:
            if self._is_closed:
                raise Refused(503, "The service is stopping.")
            if self._n_waiting >= self._max_waiting:
                raise Refused(
                    429, f"{self._max_waiting:,} requests are waiting. Try again in a second."
                )
            if not jobs:
                waiting.future.set_result([])
                return waiting.future
            self._n_waiting += 1
            self._turn.append(waiting)
            self._condition.notify()
        return waiting.future

    def close(self) -> None:
        """Link what waits, and take nothing more."""
        with self._condition:
            self._is_closed = True
            self._condition.notify()
        self._thread.join()

    def _run(self) -> None:
        while batch := self._next_batch():
            begin = time.perf_counter()
            try:
                results = self._link([waiting.jobs[i] for waiting, i in batch])
            except Exception as error:  # else all that wait would wait for ever
                results = [Failure(type(error).__name__)] * len(batch)
            seconds = time.perf_counter() - begin
            size = sum(_size(waiting.jobs[i]) for waiting, i in batch)
            rate = size / max(seconds, 1e-3)
            self._rate += _WEIGHT * (rate - self._rate)
            if not self._is_short:
                self._rates.append(rate)
            self._on_batch(len(batch), seconds)
            n_answered = 0
            for (waiting, i), result in zip(batch, results, strict=True):
                waiting.results[i] = result
                if len(waiting.results) == len(waiting.jobs):
                    self._finish(waiting)
                    n_answered += 1
            # One client alone is kept waiting for nobody.
            if n_answered > 1:
                self._n_expected = n_answered + len(self._turn)

    def _next_batch(self) -> list[tuple[_Waiting, int]]:
        """RETURNS (list[tuple[_Waiting, int]]): requests with the number of a document, each in
        turn; none when the queue is closed and empty."""
        batch: list[tuple[_Waiting, int]] = []
        with self._condition:
            while not batch:
                self._condition.wait_for(lambda: self._turn or self._is_closed)
                if len(self._turn) < self._n_expected:
                    self._condition.wait_for(
                        lambda: len(self._turn) >= self._n_expected or self._is_closed, _GATHER
                    )
                self._n_expected = 0
                if not self._turn:
                    return []
                size, n_requests = 0, len(self._turn)
                # Where a round ends, in which each request gives one document; whether one of them
                # has given its last, and is answered after this batch.
                end, is_awaited = n_requests, False
                while self._turn and len(batch) < _MOST_DOCUMENTS:
                    waiting = self._turn[0]
                    if waiting.future.cancelled():
                        self._turn.popleft()
                        self._n_waiting -= 1
                        end -= 1
                        continue
                    if len(batch) >= end:
                        if is_awaited:
                            break
                        end += len(self._turn)
                    size += _size(waiting.jobs[waiting.next])
                    is_first_round = len(batch) < n_requests
                    most = self._rate * _TOGETHER if is_first_round else min(self._rates) * _SECONDS
                    if batch and size > most:
                        break
                    self._turn.popleft()
                    batch.append((waiting, waiting.next))
                    waiting.next += 1
                    if waiting.next < len(waiting.jobs):
                        self._turn.append(waiting)
                    else:
                        is_awaited = True
                self._is_short = is_awaited
        return batch

    def _finish(self, waiting: _Waiting) -> None:
        with self._condition:
            self._n_waiting -= 1
        # Who asked may have gone.
        with suppress(InvalidStateError):
            waiting.future.set_result([waiting.results[i] for i in range(len(waiting.jobs))])


def _size(job: Job) -> int:
    return len(job.document.text) + _EACH
