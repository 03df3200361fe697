"""What a form of the grammar is."""

import re
from collections.abc import Callable
from enum import Enum
from typing import NamedTuple


class Needs(Enum):
    """What a text has to say beside a form that means other things too.

    NOTHING: it is a variant wherever it stands.
    A_WORD: a word like `mutation` or `allele` in the neighbourhood, or another variant: `G/A`.
    THE_NEXT_WORD: the same, beside it: `D2A`.
    A_PLACE: another variant at the same place: `111G` where the text has `C111G`.
    A_PLACE_AND_WORD: both: `arginine 714`.
    """

    NOTHING = 0
    A_WORD = 1
    THE_NEXT_WORD = 2
    A_PLACE = 3
    A_PLACE_AND_WORD = 4


class Reading(NamedTuple):
    """How a form is read.

    identifier (str): the rs number, or the normal form; empty where it has none.
    needs (Needs): see there.
    places (tuple[str, ...]): what stands where, before and after, e.g. `Arg714`, `Gln714`, or
        `-308G`, `-308A`.
    """

    identifier: str
    needs: Needs = Needs.NOTHING
    places: tuple[str, ...] = ()


def unnamed(found: re.Match[str]) -> Reading:
    """RETURNS (Reading): of a form that has no identifier."""
    return Reading("")


class Form(NamedTuple):
    """A form of the grammar.

    name (str): e.g. `substitution`.
    pattern (re.Pattern): where it may stand; every repeat in it is bounded, so that a search takes
        time in proportion to the text, whatever the text is.
    read (Callable): from a match to how it is read; None where it is none after all.
    """

    name: str
    pattern: re.Pattern[str]
    read: Callable[[re.Match[str]], Reading | None]
