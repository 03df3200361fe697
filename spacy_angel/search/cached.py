"""Mentions that were searched before: the same words in the same context, or both without any."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..model.mention import Mention
    from ..vocabulary.search_spaces import SearchSpace
    from .generator import Generator
    from .search import SearchResult, SearchSettings


class CachedSearch:
    """A generator that searches no mention twice, until `clear`.

    Equal are mentions with equal text and context that may link to the same names. The
    vocabulary must not change in between.

    generator (Generator): does the searching; whatever else it offers is handed through.
    """

    def __init__(self, generator: "Generator") -> None:
        self._generator = generator
        self._found: dict[tuple[Mention, int], tuple[SearchResult, Any]] = {}
        self.n_asked = 0
        self.n_searched = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generator, name)

    def clear(self) -> None:
        """Forget what was found."""
        self._found.clear()

    def search(
        self,
        mentions: "Sequence[Mention]",
        space: "SearchSpace",
        settings: "SearchSettings | None" = None,
        *,
        subsets: Sequence[int] | None = None,
        batch_size: int = 32,
    ) -> "list[SearchResult]":
        """As `Generator.search`."""
        numbers = subsets or [0] * len(mentions)
        # A subset is known by its mask, which is kept with the result so that no other gets its id.
        keys = [(m, id(space.masks[n])) for m, n in zip(mentions, numbers, strict=True)]
        new = {key: i for i, key in reversed(list(enumerate(keys))) if key not in self._found}
        places = sorted(new.values())
        results = self._generator.search(
            [mentions[i] for i in places],
            space,
            settings,
            subsets=[numbers[i] for i in places],
            batch_size=batch_size,
        )
        for i, result in zip(places, results, strict=True):
            self._found[keys[i]] = (result, space.masks[numbers[i]])
        self.n_asked += len(mentions)
        self.n_searched += len(places)
        return [self._found[key][0] for key in keys]
