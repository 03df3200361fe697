"""What of a run is kept until its end, and the figures that it becomes."""

import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from ..corpora.documents import CorpusDocument
from ..model.mention import Mention
from .analyses import Traits, group_accuracies, margin_bins
from .counts import MentionResult, Outcome, summarize
from .protocols import ProtocolTally
from .systems import DocumentAnswers, DocumentResults, System

CHUNK = 512
"""Mentions held while they are analysed and written."""


@dataclass
class Tally:
    """What is kept of each mention, and of each document.

    protocols (Collection[str]): counted besides, see `protocols.PROTOCOLS`.
    """

    protocols: Collection[str] = ()
    outcomes: list[Outcome] = field(default_factory=list)
    traits: list[Traits] = field(default_factory=list)
    margins: list[tuple[float, float]] = field(default_factory=list)
    spurious_linked: int = 0
    spurious_nil: int = 0
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self._protocols = ProtocolTally(self.protocols)

    def timed(self, system: System) -> System:
        """RETURNS (System): the same, its time added to `seconds`."""

        def answer(documents: Iterable[CorpusDocument]) -> Iterator[DocumentAnswers]:
            answers = system(documents)
            while True:
                start = time.perf_counter()
                answered = next(answers, None)
                self.seconds += time.perf_counter() - start
                if answered is None:
                    return
                yield answered

        return answer

    def chunks(
        self, documents: Iterable[DocumentResults]
    ) -> Iterator[list[tuple[MentionResult, Mention]]]:
        """Count what belongs to documents, and hand on their mentions.

        documents (Iterable[DocumentResults]): as `systems.answer_documents` gives them.
        RETURNS (Iterator[list[tuple[MentionResult, Mention]]]): whole documents, at least `CHUNK`
            mentions at a time.
        """
        chunk: list[tuple[MentionResult, Mention]] = []
        for document in documents:
            self.spurious_linked += document.spurious_linked
            self.spurious_nil += document.spurious_nil
            self._protocols.add(document.gold, document.links)
            chunk += document.mentions
            if len(chunk) >= CHUNK:
                yield chunk
                chunk = []
        if chunk:
            yield chunk

    def protocol_figures(self) -> dict[str, Any]:
        """RETURNS (dict[str, Any]): by protocol, see `protocols`."""
        return self._protocols.figures(self.outcomes)

    def figures(self, k: int, *, probabilities: bool) -> dict[str, Any]:
        """All figures and analyses of a run.

        k (int), probabilities (bool): see `counts.summarize`.
        RETURNS (dict[str, Any]): see there, with `mentions_per_second`, `analyses` and, where there
            are any, `protocols`.
        """
        figures = summarize(
            self.outcomes,
            k,
            probabilities=probabilities,
            spurious_linked=self.spurious_linked,
            spurious_nil=self.spurious_nil,
        )
        if self.protocols:
            figures["protocols"] = self.protocol_figures()
        covered = [number for number, outcome in enumerate(self.outcomes) if outcome.covered]
        analyses: dict[str, Any] = group_accuracies(
            [self.outcomes[number] for number in covered],
            [self.traits[number] for number in covered],
        )
        if self.margins:
            analyses["margins"] = margin_bins(self.margins)
        return {
            **figures,
            "mentions_per_second": len(self.outcomes) / max(self.seconds, 1e-9),
            "analyses": {
                name: [asdict(group) for group in groups] for name, groups in analyses.items()
            },
        }
