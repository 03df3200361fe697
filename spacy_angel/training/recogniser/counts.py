"""Mentions that a recognizer finds, compared with the annotation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...recognition.found import FoundMention
from .config import OPEN
from .texts import Annotated


@dataclass(frozen=True)
class MentionCounts:
    """How many mentions of a label are right.

    right (int): found with exactly these characters.
    found (int): all that were found, but for those that touch what is left open.
    gold (int): all that there are.
    """

    right: int = 0
    found: int = 0
    gold: int = 0

    def __add__(self, other: "MentionCounts") -> "MentionCounts":
        return MentionCounts(
            self.right + other.right, self.found + other.found, self.gold + other.gold
        )

    @property
    def f_score(self) -> float:
        """RETURNS (float): harmonic mean of precision and recall, 0 without anything right."""
        return 2 * self.right / (self.found + self.gold) if self.right else 0.0


def count_mentions(
    texts: Sequence[Annotated], found: Sequence[Sequence[FoundMention]]
) -> dict[tuple[str, str], MentionCounts]:
    """Hold what was found against the annotation, label by label: of labels that a corpus does not
    annotate nothing is counted.

    texts (Sequence[Annotated]): documents.
    found (Sequence[Sequence[FoundMention]]): in each of them.
    RETURNS (dict[tuple[str, str], MentionCounts]): by label and corpus.
    """
    counts: dict[tuple[str, str], MentionCounts] = {}
    for annotated, mentions in zip(texts, found, strict=True):
        for label in annotated.labels:
            own = annotated.document.mentions
            gold = {(m.start, m.end) for m in own if m.label == label}
            left_open = [(m.start, m.end) for m in own if m.label == label + OPEN]
            places = {
                (m.start, m.end)
                for m in mentions
                if m.label == label
                and (
                    (m.start, m.end) in gold
                    or not any(m.start < end and start < m.end for start, end in left_open)
                )
            }
            key = (label, annotated.corpus)
            new = MentionCounts(len(gold & places), len(places), len(gold))
            counts[key] = counts.get(key, MentionCounts()) + new
    return counts


def by_label(counts: Mapping[tuple[str, str], MentionCounts]) -> dict[str, MentionCounts]:
    """counts (Mapping): from `count_mentions`. RETURNS (dict[str, MentionCounts]): over all
    corpora."""
    summed: dict[str, MentionCounts] = {}
    for (label, _), one in counts.items():
        summed[label] = summed.get(label, MentionCounts()) + one
    return summed
