"""Collection of the results of a run, document by document, and computation of the metrics."""

import warnings
from collections import Counter
from collections.abc import Collection
from typing import Any

from ..corpora.entity_types import entity_type, types_left_out
from ..errors import AngelWarning
from ..vocabulary.kb import ConceptKB
from .counts import Outcome, count_result, summarize, type_figures
from .files import prediction_line
from .protocols import SpanPair, protocol_figures
from .systems import DocumentResults


class Tally:
    """Collects the results of documents as a system returns them.

    kb (ConceptKB): the vocabulary.
    protocols (Collection[str]): names from `protocols.PROTOCOLS`.
    """

    def __init__(self, kb: ConceptKB, protocols: Collection[str] = ()) -> None:
        self._kb = kb
        self._protocols = protocols
        self._documents: list[SpanPair] = []
        self._outcomes: list[Outcome] = []
        # Types of predicted mentions that match no gold mention: linked, and linked to NIL.
        self._spurious: tuple[Counter[str], Counter[str]] = (Counter(), Counter())

    def add(self, document: DocumentResults) -> list[bytes]:
        """Add the results of a document.

        document (DocumentResults): from `systems.answer_documents`.
        RETURNS (list[bytes]): the lines of `predictions.jsonl` for this document.
        """
        mentions, gold = document.mentions, document.gold
        if self._protocols:
            self._documents.append((gold, document.links))
        on_gold = {(span.start, span.end) for span in gold}
        for span in document.found:
            if (span.start, span.end) not in on_gold:
                self._spurious[not span.ids][entity_type(span.label)] += 1
        lines = []
        for result in mentions:
            outcome = count_result(result)
            self._outcomes.append(outcome)
            lines.append(prediction_line(result, outcome, self._kb))
        return lines

    def figures(self, *, probabilities: bool) -> dict[str, Any]:
        """Compute the metrics of the documents added so far.

        probabilities (bool): see `counts.summarize`.
        RETURNS (dict[str, Any]): content of `metrics.json` without `run`, see `run.evaluate`.
        """
        linked, nil = self._spurious
        found = linked + nil
        labels = {outcome.label for outcome in self._outcomes}
        marked = sorted(set(map(entity_type, labels)))
        left_out = types_left_out(found, labels)
        figures = summarize(
            self._outcomes,
            probabilities=probabilities,
            spurious_linked=sum(n for name, n in linked.items() if name not in left_out),
            spurious_nil=sum(n for name, n in nil.items() if name not in left_out),
        )
        self._warn_of_unknown_labels()
        figures["types"] = {
            "marked": marked,
            "left_out": {name: found[name] for name in sorted(left_out)},
        }
        figures["by_type"] = type_figures(self._outcomes)
        if self._protocols:
            figures["protocols"] = protocol_figures(
                self._protocols, self._documents, self._outcomes
            )
        return figures

    def _warn_of_unknown_labels(self) -> None:
        outcomes_by_label: dict[str, list[Outcome]] = {}
        for outcome in self._outcomes:
            if outcome.gold:
                outcomes_by_label.setdefault(outcome.label, []).append(outcome)
        for label, outcomes in outcomes_by_label.items():
            if not any(outcome.partly_covered for outcome in outcomes):
                warnings.warn(
                    f"No identifier of the label {label!r} is in the vocabulary: "
                    f"{len(outcomes):,} misses, e.g. {outcomes[0].gold[0]!r}.",
                    AngelWarning,
                    stacklevel=4,
                )
