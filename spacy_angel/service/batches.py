"""One thread links the documents of all requests in small batches."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Condition, Thread

from .limits import Refused
from .linking import Job, PipelineLinker
from .schema import LinkedMention

MAX_DOCUMENTS = 8
"""Documents of one request in the queue at the same time, which makes the requests take turns."""
# Size of a batch in characters. With more, clients that wait for one another's answers leave the
# processor idle.
_BATCH = 24_000
# A short document counts as so many, since its links take longer than the text.
_LEAST = 1250
# Documents of up to this size need not wait until a larger one is finished.
_SMALL = 2 * _LEAST
# Seconds after which small documents interrupt a batch.
_SLICE = 0.5


@dataclass(eq=False)
class _Item:
    job: Job
    future: Future[list[LinkedMention]] = field(default_factory=Future)

    @property
    def size(self) -> int:
        return min(max(len(self.job.document.text), _LEAST), _BATCH)


class LinkQueue:
    """Takes documents from any thread and links them in its own, the oldest first.

    linker (PipelineLinker): links a batch in several passes; between two of them, a batch of small
        documents may be linked.
    """

    def __init__(self, linker: PipelineLinker) -> None:
        self._linker = linker
        self._condition = Condition()
        self._waiting: list[_Item] = []
        self._is_closed = False
        self._thread = Thread(target=self._run, name="linking", daemon=True)
        self._thread.start()

    def submit(self, job: Job) -> Future[list[LinkedMention]]:
        """Queue a document.

        job (Job): the document.
        RETURNS (Future[list[LinkedMention]]): its mentions, or `Refused` if the pipeline fails on
            the document. Cancel it if the links are no longer wanted.
        RAISES (Refused): the queue is closed.
        """
        item = _Item(job)
        with self._condition:
            if self._is_closed:
                raise Refused(503, "The service is stopping.")
            self._waiting.append(item)
            self._condition.notify()
        return item.future

    def close(self) -> None:
        """Link the waiting documents, and accept no more."""
        with self._condition:
            self._is_closed = True
            self._condition.notify()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._waiting or self._is_closed)
                if not self._waiting:
                    return
            with self._linker.nlp.memory_zone():  # frees what texts add to spaCy's vocabulary
                begin = time.monotonic()
                for _ in self._link(self._take(_BATCH)):
                    if time.monotonic() - begin > _SLICE:
                        for _ in self._link(self._take(_SMALL)):
                            pass
                        begin = time.monotonic()

    def _take(self, largest: int) -> list[_Item]:
        """RETURNS (list[_Item]): a batch of the waiting documents up to a size."""
        batch, rest, room = [], [], _BATCH
        with self._condition:
            for item in self._waiting:
                if item.future.cancelled():
                    continue
                if item.size <= min(largest, room):
                    batch.append(item)
                    room -= item.size
                else:
                    rest.append(item)
            self._waiting = rest
        return batch

    def _link(self, items: Sequence[_Item]) -> Iterator[None]:
        """Link documents together or, if that fails, each alone. YIELDS (None): after a pass."""
        found: list[list[LinkedMention]] = [[] for _ in items]
        error = None
        try:
            for i, mentions in self._linker.link([item.job for item in items]):
                found[i] += mentions
                yield
                if all(item.future.cancelled() for item in items):
                    return
        except Exception as failure:  # otherwise all requests would wait forever
            if len(items) > 1:
                for item in items:
                    yield from self._link([item])
                return
            # The message may quote the document.
            what = f"document {items[0].job.document.doc_id}: the pipeline fails on it"
            error = Refused(500, f"{what} ({type(failure).__name__}).")
        for item, mentions in zip(items, found, strict=True):
            with suppress(InvalidStateError):  # the client has gone
                item.future.set_exception(error) if error else item.future.set_result(mentions)
