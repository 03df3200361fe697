"""What happens to the gold mentions if the pipeline finds mentions itself, and its false links.

gold                       breast cancer  DISEASE  MESH:D001943
found  the same            breast cancer  DISEASE  MESH:D001943    right
       the same            breast cancer  DISEASE  MESH:D009369    wrong identifier
       the same            breast cancer  DISEASE  –               NIL
       its place, other    breast cancer  SPECIES                  other type
       a part of it        cancer         DISEASE                  other boundaries
       nothing                                                     not found
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from ..corpora.entity_types import entity_type
from .counts import MentionResult
from .protocols import LinkedSpan

RIGHT, FALSE = "right", "false"
ROWS = (
    RIGHT,
    "other boundaries",
    "not found",
    "NIL",
    "other type",
    "wrong identifier",
    "not in the vocabulary",
    FALSE,
)
"""Outcomes of gold mentions; and links that overlap with no gold mention."""
_MAX_STRINGS = 5


def classify_mention(result: MentionResult, found: Sequence[LinkedSpan]) -> str:
    """The outcome of a gold mention.

    result (MentionResult): the mention, with identifiers.
    found (Sequence[LinkedSpan]): the pipeline's mentions in its document.
    RETURNS (str): of `ROWS`. As HunFlair2 counts, the boundaries may be off by one character at one
        end.
    """
    start, end = result.mention.start, result.mention.end
    own = entity_type(result.mention.label)
    there = [span for span in found if abs(span.start - start) + abs(span.end - end) <= 1]
    same = [span for span in there if entity_type(span.label) == own]
    if same:
        ids = {one for span in same for one in span.ids}
        if not ids.isdisjoint(result.gold):
            return RIGHT
        if not any(result.known):
            return "not in the vocabulary"
        return "wrong identifier" if ids else "NIL"
    overlapping = [span for span in found if span.start < end and start < span.end]
    if there or not any(entity_type(span.label) == own for span in overlapping):
        return "other type" if there or overlapping else "not found"
    return "other boundaries"


class LossTally:
    """Counts outcomes of gold mentions by type, with their strings."""

    def __init__(self) -> None:
        self._strings: dict[str, dict[str, Counter[str]]] = {}

    def add(self, results: Iterable[MentionResult], found: Sequence[LinkedSpan], text: str) -> None:
        """results (Iterable[MentionResult]): gold mentions of a document; those without an
        identifier do not count. found (Sequence[LinkedSpan]): the pipeline's. text (str): of the
        document."""
        results = list(results)
        for result in results:
            if result.gold:
                row = classify_mention(result, found)
                self._count(result.mention.label, row, result.mention.text)
        for span in found:
            overlaps = any(
                r.mention.start < span.end and span.start < r.mention.end for r in results
            )
            if span.ids and not overlaps:
                self._count(span.label, FALSE, text[span.start : span.end])

    def _count(self, label: str, row: str, text: str) -> None:
        of_type = self._strings.setdefault(entity_type(label), {name: Counter() for name in ROWS})
        of_type[row][text] += 1

    def figures(self, marked: Collection[str]) -> dict[str, Any]:
        """marked (Collection[str]): types of the corpus. RETURNS (dict[str, Any]): by type,
        `mentions`, `rows` (counts by row) and `strings` (the most frequent by row, with counts)."""
        return {
            name: {
                "mentions": sum(rows[row].total() for row in ROWS if row != FALSE),
                "rows": {row: strings.total() for row, strings in rows.items()},
                "strings": {
                    row: dict(strings.most_common(_MAX_STRINGS))
                    for row, strings in rows.items()
                    if row != RIGHT
                },
            }
            for name, rows in self._strings.items()
            if name in marked
        }


def loss_table(losses: dict[str, Any]) -> str:
    """losses (dict[str, Any]): of `LossTally.figures`. RETURNS (str): lines for a terminal: for
    each type its rows in percent of its gold mentions, with the most frequent strings."""
    lines = []
    for name, figures in losses.items():
        lines.append(f"  {name}: {figures['mentions']:,} gold mentions")
        for row, number in figures["rows"].items():
            if number or row == RIGHT:
                share = 100 * number / max(figures["mentions"], 1)
                strings = figures["strings"].get(row, {}).items()
                shown = ", ".join(f"{text!r} {n}" for text, n in strings)
                lines.append(f"    {share:5.1f} % {row:<22} {shown}".rstrip())
    return "\n".join(lines)
