"""Where the gold mentions go that a pipeline reads for itself, and what it links beside them.

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
from .protocols import LinkedSpan, near

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
"""What becomes of a gold mention; and what is linked and touches none with an identifier."""
_SHOWN = 5


def fate_of(result: MentionResult, found: Sequence[LinkedSpan]) -> str:
    """What becomes of a gold mention.

    result (MentionResult): the mention, with identifiers.
    found (Sequence[LinkedSpan]): what the pipeline found in its document.
    RETURNS (str): of `ROWS`. The place is right within one character at one end, as HunFlair2
        counts; a mention that is found there and whose concept the vocabulary lacks is
        `not in the vocabulary`.
    """
    own = entity_type(result.label)
    there = [span for span in found if near((span.start, span.end), (result.start, result.end))]
    same = [span for span in there if entity_type(span.label) == own]
    if same:
        ids = {one for span in same for one in span.ids}
        if not ids.isdisjoint(result.gold):
            return RIGHT
        if not any(result.known):
            return "not in the vocabulary"
        return "wrong identifier" if ids else "NIL"
    if there:
        return "other type"
    touching = [span for span in found if span.start < result.end and result.start < span.end]
    if any(entity_type(span.label) == own for span in touching):
        return "other boundaries"
    return "other type" if touching else "not found"


class LossTally:
    """Counts the fates of gold mentions, type by type, with their strings."""

    def __init__(self) -> None:
        self._strings: dict[str, dict[str, Counter[str]]] = {}

    def add(self, results: Iterable[MentionResult], found: Sequence[LinkedSpan], text: str) -> None:
        """results (Iterable[MentionResult]): gold mentions of a document; those without identifier
        are neither right nor lost. found (Sequence[LinkedSpan]): in it. text (str): its own."""
        results = list(results)
        for result in results:
            if result.gold:
                self._count(result.label, fate_of(result, found), result.mention)
        for span in found:
            touched = any(r.start < span.end and span.start < r.end for r in results)
            if span.ids and not touched:
                self._count(span.label, FALSE, text[span.start : span.end])

    def _count(self, label: str, row: str, text: str) -> None:
        of_type = self._strings.setdefault(entity_type(label), {name: Counter() for name in ROWS})
        of_type[row][text] += 1

    def figures(self, marked: Collection[str]) -> dict[str, Any]:
        """marked (Collection[str]): types of the corpus. RETURNS (dict[str, Any]): type to
        `mentions`, `rows` (row to how many) and `strings` (row to the most frequent, each with how
        often)."""
        figures = {}
        for name, rows in self._strings.items():
            if name not in marked:
                continue
            counts = {row: strings.total() for row, strings in rows.items()}
            figures[name] = {
                "mentions": sum(counts.values()) - counts[FALSE],
                "rows": counts,
                "strings": {
                    row: dict(strings.most_common(_SHOWN))
                    for row, strings in rows.items()
                    if row != RIGHT
                },
            }
        return figures


def loss_table(losses: dict[str, Any]) -> str:
    """losses (dict[str, Any]): of `LossTally.figures`. RETURNS (str): lines for a terminal: of each
    type the rows that have any, in per cent of its gold mentions, with the most frequent
    strings."""
    lines = []
    for name, figures in losses.items():
        lines.append(f"  {name}: {figures['mentions']:,} gold mentions")
        for row, number in figures["rows"].items():
            if not number and row != RIGHT:
                continue
            share = 100 * number / max(figures["mentions"], 1)
            strings = figures["strings"].get(row, {})
            shown = ", ".join(f"{text!r} {n}" for text, n in strings.items())
            lines.append(f"    {share:5.1f} % {row:<22} {shown}".rstrip())
    return "\n".join(lines)
