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
    setting (str | None): the setting by which a user names it otherwise.
    """

    name: str
    default: Any
    getter: Callable[[Any], Any] = copy
    setting: str | None = None

    def name_in(self, settings: Any) -> str:
        """settings (LinkerSettings): of a linker. RETURNS (str): the attribute's name there."""
        return self.name if self.setting is None else getattr(settings, self.setting)


ATTRIBUTES = (
    SpanAttribute("kb_id", "", setting="kb_id_attr"),
    SpanAttribute("kb_ents", [], getter=_pairs, setting="kb_ents_attr"),
    SpanAttribute("candidates", [], setting="candidates_attr"),
)
