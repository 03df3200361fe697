"""What of a run is kept until its end, and the figures that it becomes."""

import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from ..corpora.documents import CorpusDocument
from ..corpora.entity_types import entity_type, types_left_out
from ..model.mention import Mention
from .analyses import Traits, group_accuracies, margin_bins
from .counts import MentionResult, Outcome, summarize
from .losses import LossTally
from .protocols import ProtocolTally
from .systems import DocumentAnswers, DocumentResults, System

CHUNK = 512
"""Mentions held while they are analysed and written."""


@dataclass
class LabelCounts:
    """How many of a label's mentions the vocabulary has.

    mentions (int): gold mentions with an identifier.
    in_vocabulary (int): of them those with one that the vocabulary has.
    example (str): the first identifier.
    """

    mentions: int = 0
    in_vocabulary: int = 0
    example: str = ""


@dataclass
class Tally:
    """What is kept of each mention, and of each document.

    protocols (Collection[str]): counted besides, see `protocols.PROTOCOLS`.
    labels (dict[str, LabelCounts]): of all gold mentions, in the order of the corpus.
    losses (LossTally | None): where the pipeline finds the mentions itself.
    """

    protocols: Collection[str] = ()
    outcomes: list[Outcome] = field(default_factory=list)
    traits: list[Traits] = field(default_factory=list)
    margins: list[tuple[float, float]] = field(default_factory=list)
    spurious_linked: Counter[str] = field(default_factory=Counter)
    spurious_nil: Counter[str] = field(default_factory=Counter)
    labels: dict[str, LabelCounts] = field(default_factory=dict)
    losses: LossTally | None = None
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
            answers = document.answers
            self.spurious_linked.update(answers.spurious_linked)
            self.spurious_nil.update(answers.spurious_nil)
            self._count_labels(result for result, _ in document.mentions)
            self._protocols.add(document.gold, answers.links)
            if self.losses is not None:
                results = (result for result, _ in document.mentions)
                self.losses.add(results, answers.found, document.text)
            chunk += document.mentions
            if len(chunk) >= CHUNK:
                yield chunk
                chunk = []
        if chunk:
            yield chunk

    def _count_labels(self, results: Iterable[MentionResult]) -> None:
        for result in results:
            counts = self.labels.setdefault(result.label, LabelCounts())
            if result.gold:
                counts.mentions += 1
                counts.in_vocabulary += any(result.known)
                counts.example = counts.example or result.gold[0]

    def unknown_labels(self) -> dict[str, LabelCounts]:
        """RETURNS (dict[str, LabelCounts]): the labels of whose identifiers the vocabulary does not
        have a single one, so that all their mentions are misses of the strict count."""
        return {
            label: counts
            for label, counts in self.labels.items()
            if counts.mentions and not counts.in_vocabulary
        }

    def protocol_figures(self) -> dict[str, Any]:
        """RETURNS (dict[str, Any]): by protocol, see `protocols`."""
        return self._protocols.figures(self.outcomes)

    def figures(self, k: int, *, probabilities: bool) -> dict[str, Any]:
        """All figures and analyses of a run.

        k (int), probabilities (bool): see `counts.summarize`.
        RETURNS (dict[str, Any]): see there, with `mentions_per_second`, `analyses` and, where there
            are any, `protocols` and `losses`; `labels`, the counts of each; `types`: those of the
            corpus (`marked`), and how many mentions were found of each that it does not mark
            (`left_out`), which count neither as right nor as wrong; `spurious_links`: by type,
            links of mentions that the corpus does not have, though it marks such.
        """
        found = self.spurious_linked + self.spurious_nil
        others = types_left_out(found, self.labels)
        figures = summarize(
            self.outcomes,
            k,
            probabilities=probabilities,
            spurious_linked=_total(self.spurious_linked, others),
            spurious_nil=_total(self.spurious_nil, others),
        )
        figures["types"] = {
            "marked": sorted(set(map(entity_type, self.labels))),
            "left_out": {name: found[name] for name in sorted(others)},
        }
        figures["spurious_links"] = {
            name: n for name, n in sorted(self.spurious_linked.items()) if n and name not in others
        }
        figures["labels"] = {
            label: {"mentions": counts.mentions, "in_vocabulary": counts.in_vocabulary}
            for label, counts in self.labels.items()
        }
        if self.losses is not None:
            figures["losses"] = self.losses.figures(figures["types"]["marked"])
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


def _total(counts: Counter[str], left_out: Collection[str]) -> int:
    return sum(number for name, number in counts.items() if name not in left_out)
