"""The attributes on `span._` that a linker writes, a row each."""

from collections.abc import Callable, Iterable
from copy import copy
from typing import Any, NamedTuple


def _pairs(stored: Iterable[Iterable[Any]]) -> list[tuple[Any, ...]]:
    """A document that came out of bytes, as from another process, has lists in place of tuples."""
    return [tuple(pair) for pair in stored]


class SpanAttribute(NamedTuple):
    """An attribute on `span._`.

    name (str): of the field of a `Link` that is written, and of the attribute.
    default (Any): where nothing was written.
    getter (Callable[[Any], Any]): what is stored → what a user reads.
    """

    name: str
    default: Any
    getter: Callable[[Any], Any] = copy

    def name_in(self, settings: Any) -> str:
        """settings (LinkerSettings): of a linker. RETURNS (str): the attribute's name there."""
        return getattr(settings.outputs, self.name)


ATTRIBUTES = (
    SpanAttribute("kb_id", ""),
    SpanAttribute("kb_ents", [], getter=_pairs),
    SpanAttribute("candidates", []),
)
