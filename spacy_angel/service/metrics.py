"""Figures of a service as Prometheus reads them."""

from collections.abc import Sequence

from .linking import Linked


class Metrics:
    """What a service has done since it began, of its own: two in one process do not add up."""

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

        self._registry = CollectorRegistry()
        self._documents = Counter(
            "spacy_angel_documents", "Documents that were linked", registry=self._registry
        )
        self._mentions = Counter(
            "spacy_angel_mentions",
            "Mentions by what came of them",
            ["status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "spacy_angel_link_seconds",
            "Time from a request for links to its answer",
            registry=self._registry,
            buckets=(0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100),
        )
        self._batch_seconds = Counter(
            "spacy_angel_batch_seconds", "Time in which the pipeline ran", registry=self._registry
        )
        self._batch_documents = Histogram(
            "spacy_angel_batch_documents",
            "Documents that went through the pipeline together",
            registry=self._registry,
            buckets=(1, 2, 4, 8, 16, 32, 64),
        )
        self._waiting = Gauge(
            "spacy_angel_waiting_requests", "Requests without an answer", registry=self._registry
        )

    @property
    def media_type(self) -> str:
        """RETURNS (str): of `text`."""
        from prometheus_client import CONTENT_TYPE_LATEST

        return CONTENT_TYPE_LATEST

    def batch(self, documents: int, seconds: float) -> None:
        """documents (int), seconds (float): of a batch that went through the pipeline."""
        self._batch_documents.observe(documents)
        self._batch_seconds.inc(seconds)

    def answered(self, linked: Sequence[Linked], seconds: float) -> None:
        """linked (Sequence[Linked]): of a request. seconds (float): that it took."""
        self._seconds.observe(seconds)
        self._documents.inc(len(linked))
        for one in linked:
            for mention in one.mentions:
                self._mentions.labels(mention.status).inc()

    def text(self, n_waiting: int) -> bytes:
        """n_waiting (int): requests. RETURNS (bytes): all figures, in Prometheus's format."""
        from prometheus_client import generate_latest

        self._waiting.set(n_waiting)
        return generate_latest(self._registry)
