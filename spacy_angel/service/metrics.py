"""Metrics of a service for Prometheus."""

from collections.abc import Sequence

from .linking import Linked


class Metrics:
    """What a service has done since it began. Each has its own registry, so that two services in
    one process do not add up."""

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

        self._registry = own = CollectorRegistry()
        self._documents = Counter("spacy_angel_documents", "Linked documents", registry=own)
        self._mentions = Counter(
            "spacy_angel_mentions", "Mentions by status", ["status"], registry=own
        )
        self._seconds = Histogram(
            "spacy_angel_link_seconds",
            "Time from a request for links to its answer",
            registry=own,
            buckets=(0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100),
        )
        self._batch_seconds = Counter(
            "spacy_angel_batch_seconds", "Time that the pipeline ran", registry=own
        )
        self._batch_documents = Histogram(
            "spacy_angel_batch_documents",
            "Documents per batch",
            registry=own,
            buckets=(1, 2, 4, 8, 16, 32, 64),
        )
        self._waiting = Gauge(
            "spacy_angel_waiting_requests", "Requests that are not answered yet", registry=own
        )

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

    def text(self, n_waiting: int) -> tuple[bytes, str]:
        """n_waiting (int): requests that are not answered yet. RETURNS (tuple[bytes, str]): all
        metrics in Prometheus's format, and its media type."""
        from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

        self._waiting.set(n_waiting)
        return generate_latest(self._registry), CONTENT_TYPE_LATEST
