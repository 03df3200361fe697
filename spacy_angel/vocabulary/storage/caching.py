"""Values that are asked for again and again, kept up to a number."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class BoundedCache(dict[_Key, _Value], Generic[_Key, _Value]):
    """What was read of something that never changes, by key; all of it goes when it is too much. A
    copy in another process begins with nothing.

    most (int): values that are kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most

    def __reduce__(self) -> tuple[type["BoundedCache"], tuple[int]]:
        return BoundedCache, (self._most,)

    def take(self, key: _Key, read: Callable[[_Key], _Value]) -> _Value:
        """key (_Key): any. read (Callable[[_Key], _Value]): reads what is not there. RETURNS
        (_Value): of the key."""
        # Other threads may empty it meanwhile.
        try:
            return self[key]
        except KeyError:
            pass
        value = read(key)
        if len(self) >= self._most:
            self.clear()
        self[key] = value
        return value
