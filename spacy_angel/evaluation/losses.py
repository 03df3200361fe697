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
from collections.abc import Iterable, Iterator, Sequence
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


def count_losses(
    results: Sequence[MentionResult], found: Sequence[LinkedSpan], text: str
) -> Iterator[tuple[str, str, str]]:
    """Outcomes of a document's gold mentions with identifiers, and its false links.

    results (Sequence[MentionResult]): all gold mentions. found (Sequence[LinkedSpan]): the
        pipeline's mentions. text (str): of the document.
    YIELDS (tuple[str, str, str]): entity type, row (of `ROWS`), string.
    """
    for result in results:
        if result.gold:
            mention = result.mention
            yield entity_type(mention.label), classify_mention(result, found), mention.text
    for span in found:
        if span.ids and not any(
            one.mention.start < span.end and span.start < one.mention.end for one in results
        ):
            yield entity_type(span.label), FALSE, text[span.start : span.end]


def loss_figures(losses: Counter[tuple[str, str, str]], types: Iterable[str]) -> dict[str, Any]:
    """losses (Counter[tuple[str, str, str]]): counts from `count_losses`. types (Iterable[str]): of
    the corpus. RETURNS (dict[str, Any]): by type, `mentions`, `rows` (counts by row) and `strings`
    (the most frequent by row, with counts)."""
    figures: dict[str, Any] = {}
    for name in types:
        strings: dict[str, Counter[str]] = {row: Counter() for row in ROWS}
        for (kind, row, text), number in losses.items():
            if kind == name:
                strings[row][text] += number
        rows = {row: own.total() for row, own in strings.items()}
        shown = {row: dict(own.most_common(_MAX_STRINGS)) for row, own in strings.items()}
        del shown[RIGHT]
        mentions = sum(rows.values()) - rows[FALSE]
        figures[name] = {"mentions": mentions, "rows": rows, "strings": shown}
    return figures


def loss_table(losses: dict[str, Any]) -> str:
    """losses (dict[str, Any]): of `loss_figures`. RETURNS (str): lines for a terminal: for
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
