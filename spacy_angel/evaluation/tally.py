"""The counts of a run, document by document, and the figures that they become."""

import warnings
from collections import Counter
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from ..corpora.entity_types import entity_type, types_left_out
from ..errors import AngelWarning
from ..vocabulary.kb import ConceptKB
from ..vocabulary.lookup.tfidf import TrigramTfidf
from ..vocabulary.names.concepts import normalize_name
from .analyses import analyze, margin_bins, name_similarities, score_margins
from .counts import Outcome, count_result, summarize
from .files import prediction_line
from .losses import count_losses, loss_figures
from .protocols import ProtocolTally
from .systems import DocumentResults

if TYPE_CHECKING:
    from ..search.generator import Generator


class Tally:
    """Counts documents as they come back from a system.

    kb (ConceptKB): the vocabulary.
    predicted (bool): the system finds the mentions itself.
    protocols (Collection[str]): of `protocols.PROTOCOLS`.
    seen (tuple[set[str], set[str]] | None): mentions, in normal form, and concepts of the training
        corpus; None without one.
    scorer (Generator | None), negatives (int): see `analyses.score_margins`; None: no margins.
    """

    def __init__(
        self,
        kb: ConceptKB,
        *,
        predicted: bool = False,
        protocols: Collection[str] = (),
        seen: tuple[set[str], set[str]] | None = None,
        scorer: "Generator | None" = None,
        negatives: int = 0,
    ) -> None:
        self._kb = kb
        self._tfidf = TrigramTfidf().fit(kb.name(i) for i in range(kb.n_names))
        self._predicted = predicted
        self._protocols = ProtocolTally(protocols) if protocols else None
        self._seen = seen
        self._scorer = scorer
        self._negatives = negatives
        self._outcomes: list[Outcome] = []
        self._margins: list[tuple[float, float]] = []
        self._losses: Counter[tuple[str, str, str]] = Counter()
        # Types of mentions on other characters than those of a gold mention: linked, or NIL.
        self._spurious: tuple[Counter[str], Counter[str]] = (Counter(), Counter())

    def add(self, document: DocumentResults) -> list[bytes]:
        """document (DocumentResults): from `systems.answer_documents`. RETURNS (list[bytes]): its
        lines of `predictions.jsonl`."""
        mentions, gold = document.mentions, document.gold
        if self._protocols is not None:
            self._protocols.add(gold, document.links)
        on_gold = {(span.start, span.end) for span in gold}
        for span in document.found:
            if (span.start, span.end) not in on_gold:
                self._spurious[not span.ids][entity_type(span.label)] += 1
        if self._predicted:
            self._losses.update(count_losses(mentions, document.found, document.text))
        if self._scorer is not None:
            covered = [result for result in mentions if result.known and all(result.known)]
            self._margins += score_margins(
                covered, self._scorer, self._kb, self._tfidf, self._negatives
            )
        lines = []
        similarities = name_similarities(mentions, self._kb, self._tfidf)
        for result, similarity in zip(mentions, similarities, strict=True):
            seen = None
            if self._seen is not None:
                texts, concepts = self._seen
                is_seen = normalize_name(result.answer.prompt.text) in texts
                seen = is_seen, concepts.issuperset(result.gold)
            outcome = count_result(result, similarity, seen)
            self._outcomes.append(outcome)
            lines.append(prediction_line(result, outcome, self._kb))
        return lines

    def figures(self, k: int, *, probabilities: bool) -> dict[str, Any]:
        """k (int), probabilities (bool): see `counts.summarize`. RETURNS (dict[str, Any]): content
        of `metrics.json` but for `run` and `mentions_per_second`, see `run.evaluate`."""
        linked, nil = self._spurious
        found = linked + nil
        labels = {outcome.label for outcome in self._outcomes}
        marked = sorted(set(map(entity_type, labels)))
        left_out = types_left_out(found, labels)
        figures = summarize(
            self._outcomes,
            k,
            probabilities=probabilities,
            spurious_linked=sum(n for name, n in linked.items() if name not in left_out),
            spurious_nil=sum(n for name, n in nil.items() if name not in left_out),
        )
        figures["labels"] = self._count_labels()
        figures["types"] = {
            "marked": marked,
            "left_out": {name: found[name] for name in sorted(left_out)},
        }
        figures["analyses"] = analyze(self._outcomes)
        if self._margins:
            figures["analyses"]["margins"] = margin_bins(self._margins)
        if self._predicted:
            figures["losses"] = loss_figures(self._losses, marked)
        if self._protocols is not None:
            figures["protocols"] = self._protocols.figures(self._outcomes)
        return figures

    def _count_labels(self) -> dict[str, dict[str, int]]:
        """Mentions of each label with identifiers, and how many are in the vocabulary."""
        labels = {one.label: {"mentions": 0, "in_vocabulary": 0} for one in self._outcomes}
        for outcome in self._outcomes:
            labels[outcome.label]["mentions"] += bool(outcome.gold)
            labels[outcome.label]["in_vocabulary"] += outcome.partly_covered
        for label, counts in labels.items():
            if counts["mentions"] and not counts["in_vocabulary"]:
                example = next(o.gold[0] for o in self._outcomes if o.gold and o.label == label)
                warnings.warn(
                    f"No identifier of the label {label!r} is in the vocabulary: "
                    f"{counts['mentions']:,} misses, e.g. {example!r}.",
                    AngelWarning,
                    stacklevel=4,
                )
        return labels
