"""One thread links the requests that arrive together in one batch, fairly."""

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

MAX_DOCUMENTS = 64
# Seconds that one document of each request may take together; and that further documents may add,
# which is how long a new request waits.
_FIRST_ROUND_SECONDS, _SECONDS = 2.0, 0.3
# Characters per second before any were measured, and the weight of a new measurement.
_FIRST_RATE, _WEIGHT = 5000.0, 0.3
# What a document costs besides its text, in characters.
_DOCUMENT_COST = 50


@dataclass(eq=False)
class _Waiting:
    """A request: its documents, the results so far, and the next document to link."""

    jobs: Sequence[Job]
    future: "Future[Results]" = field(default_factory=Future)
    results: dict[int, Linked | Failure] = field(default_factory=dict)
    next: int = 0


class LinkQueue:
    """Takes requests from any thread and links them in one. A batch takes one document of each
    request in turn, and ends after the first round that completes a request: a small request waits
    for one batch, however large the requests beside it are.

    link (Callable): links documents together, in their order.
    max_waiting (int): requests that may wait at a time.
    on_batch (Callable): called with the number of documents and the seconds of each batch.
    """

    def __init__(
        self,
        link: Callable[[Sequence[Job]], Results],
        max_waiting: int,
        on_batch: Callable[[int, float], None] = lambda documents, seconds: None,
    ) -> None:
        self.n_waiting = 0
        self._link = link
        self._max_waiting = max_waiting
        self._on_batch = on_batch
        self._condition = Condition()
        self._turn: deque[_Waiting] = deque()
        self._is_closed = False
        self._rate = _FIRST_RATE
        self._thread = Thread(target=self._run, name="linking", daemon=True)
        self._thread.start()

    def submit(self, jobs: Sequence[Job]) -> "Future[Results]":
        """Queue the documents of a request.

        jobs (Sequence[Job]): of one request.
        RETURNS (Future[Results]): one result per document; if cancelled, the rest is not linked.
        RAISES (Refused): too many requests are waiting, or the queue is closed.
        """
        waiting = _Waiting(jobs)
        with self._condition:
            if self._is_closed:
                raise Refused(503, "The service is stopping.")
            if self.n_waiting >= self._max_waiting:
                raise Refused(429, f"{self._max_waiting:,} requests are waiting. Try again later.")
            if not jobs:
                waiting.future.set_result([])
                return waiting.future
            self.n_waiting += 1
            waiting.future.add_done_callback(self._on_done)
            self._turn.append(waiting)
            self._condition.notify()
        return waiting.future

    def close(self) -> None:
        """Link what is waiting, and accept nothing more."""
        with self._condition:
            self._is_closed = True
            self._condition.notify()
        self._thread.join()

    def _on_done(self, _: "Future[Results]") -> None:
        with self._condition:
            self.n_waiting -= 1

    def _run(self) -> None:
        while batch := self._next_batch():
            begin = time.perf_counter()
            jobs = [waiting.jobs[i] for waiting, i in batch]
            try:
                results = self._link(jobs)
            except Exception as error:  # otherwise all requests would wait forever
                results = [Failure(type(error).__name__)] * len(batch)
            seconds = time.perf_counter() - begin
            rate = sum(map(_cost, jobs)) / max(seconds, 1e-3)
            self._rate += _WEIGHT * (rate - self._rate)
            self._on_batch(len(batch), seconds)
            for (waiting, i), result in zip(batch, results, strict=True):
                waiting.results[i] = result
                if len(waiting.results) == len(waiting.jobs):
                    with suppress(InvalidStateError):  # the client has gone
                        waiting.future.set_result(
                            [waiting.results[j] for j in range(len(waiting.jobs))]
                        )

    def _next_batch(self) -> list[tuple[_Waiting, int]]:
        """RETURNS (list[tuple[_Waiting, int]]): requests, each with the index of a document; empty
        once the queue is closed and nothing is waiting."""
        batch: list[tuple[_Waiting, int]] = []
        with self._condition:
            self._condition.wait_for(self._is_ready)
            cost, limit = 0, self._rate * _FIRST_ROUND_SECONDS
            completes_one = False
            while self._turn and not completes_one:
                for _ in range(len(self._turn)):
                    waiting = self._turn[0]
                    cost += _cost(waiting.jobs[waiting.next])
                    if len(batch) == MAX_DOCUMENTS or (batch and cost > limit):
                        return batch
                    batch.append((waiting, waiting.next))
                    waiting.next += 1
                    self._turn.popleft()
                    if waiting.next < len(waiting.jobs):
                        self._turn.append(waiting)
                    else:
                        completes_one = True
                limit = self._rate * _SECONDS
        return batch

    def _is_ready(self) -> bool:
        self._turn = deque(one for one in self._turn if not one.future.cancelled())
        return bool(self._turn) or self._is_closed


def _cost(job: Job) -> int:
    return len(job.document.text) + _DOCUMENT_COST
