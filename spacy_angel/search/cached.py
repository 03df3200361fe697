"""Mentions that were searched before: the same words in the same context, or both without any."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..model.mention import Mention
    from ..vocabulary.lookup.search_spaces import SearchSpace
    from .search import SearchResult, SearchSettings


class SearchCache:
    """What was found, until `clear`.

    Equal are mentions with equal text and context that may link to the same names, searched in
    the same way. The vocabulary must not change in between. What a result was asked for later may
    be added to it.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[Mention, int, SearchSettings], tuple[SearchResult, Any]] = {}
        self.n_asked = 0
        self.n_searched = 0

    def clear(self) -> None:
        """Forget what was found."""
        self._found.clear()

    def results(
        self,
        search: "Callable[[list[int]], list[SearchResult]]",
        mentions: "Sequence[Mention]",
        space: "SearchSpace",
        settings: "SearchSettings",
        subsets: Sequence[int],
    ) -> "list[SearchResult]":
        """Search what is not known yet.

        search (Callable): of some of the mentions, by their places.
        mentions, space, settings, subsets: as `Generator.search`; subsets one a mention.
        RETURNS (list[SearchResult]): one a mention.
        """
        # A subset is known by its mask, which is kept with the result so that no other gets its id.
        masks = [space.masks[n] for n in subsets]
        keys = [(m, id(mask), settings) for m, mask in zip(mentions, masks, strict=True)]
        # Another thread may clear or fill it meanwhile: what is known now is kept here.
        known = {key: found[0] for key in keys if (found := self._found.get(key)) is not None}
        new = {key: i for i, key in reversed(list(enumerate(keys))) if key not in known}
        places = sorted(new.values())
        for i, result in zip(places, search(places), strict=True):
            known[keys[i]] = result
            self._found[keys[i]] = (result, masks[i])
        self.n_asked += len(mentions)
        self.n_searched += len(places)
        return [known[key] for key in keys]
