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

# A batch of eight abstracts is as fast, for each of them, as one of 64.
MAX_DOCUMENTS = 8
MAX_CHARACTERS = 10_000


@dataclass(eq=False)
class _Waiting:
    """A request: its documents, the results so far, and the next document to link."""

    jobs: Sequence[Job]
    future: "Future[Results]" = field(default_factory=Future)
    results: dict[int, Linked | Failure] = field(default_factory=dict)
    next: int = 0


class LinkQueue:
    """Takes requests from any thread and links them in one. Batches are small, and take one
    document of each request in turn, so that a small request does not wait for a large one.

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
            n_characters = 0
            while self._turn and len(batch) < MAX_DOCUMENTS:
                waiting = self._turn[0]
                n_characters += len(waiting.jobs[waiting.next].document.text)
                if batch and n_characters > MAX_CHARACTERS:
                    break
                batch.append((waiting, waiting.next))
                waiting.next += 1
                self._turn.rotate(-1)
                if waiting.next == len(waiting.jobs):
                    self._turn.pop()
        return batch

    def _is_ready(self) -> bool:
        self._turn = deque(one for one in self._turn if not one.future.cancelled())
        return bool(self._turn) or self._is_closed
