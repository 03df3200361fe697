"""What another package can add to training by entry points."""

from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import TypeVar

_Entry = TypeVar("_Entry")


def with_entry_points(own: Mapping[str, _Entry], group: str) -> dict[str, _Entry]:
    """Own entries, and those of other packages.

    own (Mapping[str, _Entry]): by name; these names are taken.
    group (str): of the entry points.
    RETURNS (dict[str, _Entry]): all by name.
    """
    others = sorted(entry_points(group=group), key=lambda entry: entry.name)
    return {entry.name: entry.load() for entry in others} | dict(own)
